"""What readers must know about the texts and the methods of a run, in sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.datasets.dataset import Dataset
from assay.experiments.references import ExternalModel, TrainedModel
from assay.experiments.study import StudyCell
from assay.studies.simulate.study import SHUFFLED, UNIFORM, Simulate
from assay.studies.simulate.tasks import StudentTask
from assay.training.four_splits import four_splits
from assay.training.run_folder import CARD
from assay.training.students import UNTRAINED

MOST = 0.5  # share of their texts that two students may have in common without a remark
SCALE = (0.2, 5.0)  # standard deviations of scores for which squared errors and beta KL are of one order
FLAT, SHARP = 0.01, 0.1  # nats: a divergence from equal shares below which, and an entropy below which, little is told


def remarks(cell: StudyCell, study: Simulate, sizes: Sequence[int]) -> list[str]:
    """One sentence for each reason to read the verdicts with care."""
    data = cell.data.load()
    student = next((job.task.student.base for job in cell.jobs if isinstance(job.task, StudentTask)), UNTRAINED)
    return [*_taught(cell.model, data), *_taught_before(student), *_shared(study, data, sizes), *_hindsight(study)]


def remarks_on_answers(answers: Sequence[float]) -> Iterator[str]:
    """Squared errors grow with the scale of the teacher's scores, and what students are told does not."""
    low, high = SCALE
    if not low <= (deviation := float(np.std(answers))) <= high:
        count = "little" if deviation > high else "more than the answers"
        yield (
            f"The teacher's scores have standard deviation {deviation:.3g}, and the students' loss is squared error "
            f"plus beta KL, so explanations count for {count}: train the teacher on scores with standard deviation 1, "
            "or choose beta."
        )


def remarks_on_shares(entropies: Mapping[str, float]) -> Iterator[str]:
    """Shares that are nearly equal, or nearly all on one token, are not what the method found."""
    most = entropies.get(UNIFORM, math.inf)
    for name, found in entropies.items():
        if name == UNIFORM or name.startswith(SHUFFLED):
            continue
        if found > most - FLAT:
            yield f"What {name} told students is nearly uniform, so its verdict means little: give a lower temperature."
        elif found < SHARP:
            yield f"What {name} told students is one token of each input and no other: give a higher temperature."


def _taught(model: Any, data: Dataset) -> Iterator[str]:
    """The teacher was trained on the same examples, or on the same split of the same data."""
    known = _training_data(model)
    if known is None:
        return
    if known["fingerprint"] == data.fingerprint or (known["name"], known["split"]) == (data.name, data.split):
        split = f"the {known['split']} split of" if known["split"] else "all of"
        yield (
            f"{model.name} was trained on {split} {known['name']}, the {data.inputs} that students learn from and are "
            f"tested on; how well its answers to new {data.inputs} can be predicted is another question. Name another "
            "split."
        )


def _training_data(model: Any) -> dict[str, Any] | None:
    """Name, split and fingerprint of what a model was trained on, in the plan or according to its folder."""
    if not isinstance(model, TrainedModel):
        return _card(model.source) if isinstance(model, ExternalModel) else None
    if model.training is None:
        return None
    train = model.training.splits()[0]
    return {"name": train.name, "split": train.split, "fingerprint": train.fingerprint}


def _card(folder: str) -> dict[str, Any] | None:
    try:
        known = json.loads((Path(folder).expanduser() / CARD).read_text(encoding="utf-8"))["data"]["train"]
        return {name: known[name] for name in ("name", "split", "fingerprint")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _taught_before(student: str) -> Iterator[str]:
    """The student has a training card, so it starts from more than pretrained weights."""
    if student != UNTRAINED and (known := _card(student)) is not None:
        split = f"the {known['split']} split of " if known["split"] else ""
        yield (
            f"The student {Path(student).name} was itself trained on {split}{known['name']}, so it may know what the "
            "teacher says before it is taught. Give the pretrained weights that it was made from."
        )


def _shared(study: Simulate, data: Dataset, sizes: Sequence[int]) -> Iterator[str]:
    """Students of the same texts differ by less than students of other texts would."""
    if study.seeds < 2 or not sizes:
        return
    if study.subsets == "nested":
        same = f"the same {data.inputs} (nested), so the verdicts hold for these {data.inputs}"
        yield f"All students of a size learn from {same}."
        return
    pool, most = len(four_splits(data, study.data_seed).students), max(sizes)
    if most > MOST * pool:
        yield (
            f"Students draw their {most:,} {data.inputs} from {pool:,}, so two of them have {100 * most / pool:.0f} % "
            f"in common: verdicts hold for these {data.inputs} more than for others. Give more data, or smaller sizes."
        )


def _hindsight(study: Simulate) -> Iterator[str]:
    for name, method in study.named.items():
        if metric := getattr(method, "hindsight", ""):
            yield f"{name} keeps for each input the explanation that is best by {metric}: a choice in hindsight."
