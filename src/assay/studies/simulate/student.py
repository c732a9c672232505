"""The students of a study: what they start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.experiments.job import JobContext
from assay.experiments.references import base_identity
from assay.models.head_weights import Normaliser
from assay.models.model import Model
from assay.training.students import UNTRAINED, student_of


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

    def open(self, context: JobContext, seed: int) -> Model:
        return student_of(context.model(), self.base, seed, max_length=self.max_length, device=self.device)
