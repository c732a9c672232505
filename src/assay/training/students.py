"""The student before it learns: a pretrained model with a new head, or the teacher's architecture without training."""

from __future__ import annotations

import copy

import torch

from assay.core.errors import SpecError, UnsupportedError
from assay.models.encode import TextEncoder
from assay.models.heads import head_name
from assay.models.model import Model
from assay.models.readout import LabelWords
from assay.training.pretrained import fixed_seed, model_with_head, pretrained_model

UNTRAINED = "untrained"


def student_of(
    teacher: Model, base: str, seed: int, *, max_length: int | None = None, device: str | torch.device | None = None
) -> Model:
    """A student for a teacher, with a head of the same kind.

    Only its head, or for an untrained one all its weights, depends on the seed. base: a pretrained folder or hub id, or
    "untrained". It reads as much of a text as the teacher, or `max_length`.
    """
    if base == UNTRAINED:
        model = untrained(teacher, seed, device)
    else:
        model = pretrained_model(
            base, teacher.labels, teacher.task, seed=seed, device=device, fresh=True, head=_head(teacher)
        )
        _check_other(model, teacher)
    if not isinstance(model.encoder, TextEncoder):
        return model
    limit = teacher.encoder.limit if isinstance(teacher.encoder, TextEncoder) else model.encoder.limit
    return model.limited(max_length or limit)


def untrained(teacher: Model, seed: int, device: str | torch.device | None = None) -> Model:
    """A model like the teacher, with new weights everywhere."""
    if teacher.family.opaque or isinstance(teacher.readout, LabelWords):
        raise UnsupportedError(
            f"{teacher.name} is no classifier whose architecture a student could have; name a pretrained student"
        )
    reader = teacher.tokenizer if isinstance(teacher.encoder, TextEncoder) else teacher.encoder.processor
    with fixed_seed(seed):
        hf = type(teacher.hf)(copy.deepcopy(teacher.hf.config))
        return model_with_head(hf, copy.deepcopy(reader), teacher.labels, teacher.task, device, _head(teacher))


def _head(teacher: Model) -> str | None:
    """Students have a head of the teacher's kind."""
    return None if teacher.head is None else head_name(teacher.head)


def _check_other(student: Model, teacher: Model) -> None:
    """Refuse the teacher as its own student: it would know what it is to learn."""
    own, theirs = (dict(model.hf.base_model.named_parameters()) for model in (student, teacher))
    if own.keys() == theirs.keys() and all(torch.equal(p.cpu(), theirs[n].cpu().to(p)) for n, p in own.items()):
        raise SpecError(
            f"the student starts from the teacher's own weights; give those that {teacher.title} was trained from, or "
            f"{UNTRAINED!r}"
        )


def check_student(base: str | None) -> str:
    """The base of a student; raises if nobody named one."""
    if base is None:
        raise SpecError(
            "which model is the student? Give the folder or hub id of its pretrained weights, for example those that "
            f"the teacher was trained from, or {UNTRAINED!r} for the teacher's architecture with new weights"
        )
    return base
