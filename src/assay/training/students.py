"""The student before it learns: a pretrained model with a new head, or the teacher's architecture without training."""

from __future__ import annotations

import copy
import filecmp
import json
import os
import re
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import SpecError, UnsupportedError
from assay.models.encode import TextEncoder
from assay.models.families import family_of
from assay.models.from_folder import HEAD_WEIGHTS
from assay.models.heads import head_name
from assay.models.identity import tokenizer_hash
from assay.models.model import Model
from assay.models.readout import LabelWords
from assay.models.source import Source
from assay.training.pretrained import auto_class, fixed_seed, model_with_head, pretrained_model
from assay.training.run_folder import CARD
from assay.training.scratch import is_scratch

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
        raise UnsupportedError(f"a student cannot take its architecture from {teacher.name}; name a pretrained student")
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
        raise own_student(teacher.title)


def student_base(base: str | None, teacher: str) -> str:
    """What the student starts from: as given, or what the training card in the teacher's folder names."""
    if base is not None:
        return base
    known = _trained_from(Path(teacher).expanduser())
    if known is None:
        raise SpecError(
            f"which model is the student? {Path(teacher).name} does not say what it was trained from, or that is no "
            "longer there. Give the folder or hub id of pretrained weights, for example those that the teacher was "
            f"trained from, or {UNTRAINED!r} for the teacher's architecture with new weights"
        )
    return known


def _trained_from(folder: Path) -> str | None:
    """The base in a training card; a folder must still be where it was, seen from the trained model."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        base, place = str(card["base"]), card.get("base_folder")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if is_scratch(base):
        return UNTRAINED
    if place is None:
        return base if re.fullmatch(r"[\w.-]+/[\w.-]+", base) else None  # a hub id, or a folder of an older card
    found = Path(os.path.normpath(folder.resolve() / str(place)))
    return str(found) if found.name == base and (found / "config.json").is_file() else None


def check_pair(teacher: str, base: str, *, same_tokens: bool = False) -> None:
    """Refuse what can be known of a teacher and its student without running them.

    same_tokens: whether both must read a text as the same tokens.
    """
    source = Source(teacher)
    with source.readable_errors():
        theirs = source.config()
    if theirs.problem_type == "multi_label_classification":
        raise UnsupportedError(
            f"{Path(teacher).name} gives several labels to a text; simulability needs one, or a score"
        )
    if base == UNTRAINED:
        return
    if _same_weights(Path(teacher).expanduser(), Path(base).expanduser()) or base == teacher:
        raise own_student(Path(teacher).name)
    student = Source(base)
    with student.readable_errors():
        config = student.config()
        auto_class(base, config, None)
        kinds = ["images" if family_of(c.model_type).images else "texts" for c in (theirs, config)]
        if kinds[0] != kinds[1]:
            raise SpecError(f"the teacher reads {kinds[0]}, but the student {Path(base).name} reads {kinds[1]}")
        if same_tokens and kinds[0] == "texts":
            check_same_tokens(source.tokenizer(), student.tokenizer())


def check_same_tokens(teacher: Any, student: Any) -> None:
    if tokenizer_hash(teacher) != tokenizer_hash(student):
        raise SpecError(
            "teacher and student read a text as different tokens, so heads cannot be compared while fitting; choose a "
            "student with the teacher's tokenizer"
        )


def _same_weights(teacher: Path, student: Path) -> bool:
    files = [sorted(folder.glob("*.safetensors")) if folder.is_dir() else [] for folder in (teacher, student)]
    named = [{file.name: file for file in found if file.name != HEAD_WEIGHTS} for found in files]
    shared = named[0].keys() & named[1].keys()
    return bool(shared) and all(filecmp.cmp(named[0][name], named[1][name], shallow=False) for name in shared)


def own_student(teacher: str) -> SpecError:
    return SpecError(
        f"the student starts from the teacher's own weights; give those that {teacher} was trained from, or "
        f"{UNTRAINED!r}"
    )
