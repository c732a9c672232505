"""The student before it learns: a pretrained model with a new head, or the teacher's architecture without training."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from assay.core.errors import SpecError, UnsupportedError
from assay.experiments.job import JobContext
from assay.experiments.references import base_identity
from assay.models.encode import TextEncoder
from assay.models.head_weights import Normaliser
from assay.models.model import Model
from assay.models.readout import LabelWords
from assay.training.pretrained import fixed_seed, model_with_head, pretrained_model

UNTRAINED = "untrained"


@dataclass(frozen=True)
class StudentModel:
    """`base` is a pretrained folder or hub id, or "untrained": the teacher's architecture with new weights."""

    base: str
    normaliser: Normaliser = "sparsemax"
    max_length: int | None = None
    device: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        base = self.base if self.base == UNTRAINED else base_identity(self.base)
        return {"base": base, "normaliser": self.normaliser, "max_length": self.max_length}

    def open(self, context: JobContext, asked: Any, seed: int) -> Model:
        """The model before training; only its head, or for an untrained one all its weights, depends on the seed."""
        labels, task, teacher = asked["labels"], asked["task"], context.model()
        if self.base == UNTRAINED:
            model = untrained(teacher, labels, task, seed, self.device)
        else:
            model = pretrained_model(self.base, labels, task, seed=seed, device=self.device)
        if not isinstance(model.encoder, TextEncoder):
            return model
        limit = teacher.encoder.limit if isinstance(teacher.encoder, TextEncoder) else model.encoder.limit
        return model.limited(self.max_length or limit)


def untrained(teacher: Model, labels: Any, task: str, seed: int, device: str | None = None) -> Model:
    """A model like the teacher, with new weights everywhere."""
    if teacher.family.opaque or isinstance(teacher.readout, LabelWords):
        raise UnsupportedError(
            f"{teacher.name} is no classifier whose architecture a student could have; name a student"
        )
    reader = teacher.tokenizer if isinstance(teacher.encoder, TextEncoder) else teacher.encoder.processor
    with fixed_seed(seed):
        hf = type(teacher.hf)(copy.deepcopy(teacher.hf.config))
        return model_with_head(hf, copy.deepcopy(reader), labels, task, device)


def check_student(base: str | None) -> str:
    if base is None:
        raise SpecError(
            "which model is the student? Give the folder or hub id of its pretrained weights, for example those that "
            f"the teacher was trained from, or {UNTRAINED!r} for the teacher's architecture with new weights"
        )
    return base
