"""What readers must know about the texts and the methods of a run, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.datasets.dataset import Dataset
from assay.experiments.references import ExternalModel
from assay.experiments.study import StudyCell
from assay.studies.simulate.study import Simulate
from assay.training.four_splits import four_splits
from assay.training.run_folder import CARD

MOST = 0.5  # share of their texts that two students may have in common without a remark


def remarks(cell: StudyCell, study: Simulate, sizes: Sequence[int]) -> list[str]:
    """One sentence for each reason to read the verdicts with care."""
    data = cell.data.load()
    return [*_taught(cell.model, data), *_shared(study, data, sizes), *_hindsight(study)]


def _taught(model: Any, data: Dataset) -> Iterator[str]:
    """The teacher's training card names the same examples, or the same split of the same data."""
    try:
        card = json.loads((Path(model.source).expanduser() / CARD).read_text(encoding="utf-8"))
        known = card["data"]["train"]
        same = known["fingerprint"] == data.fingerprint or (known["name"], known["split"]) == (data.name, data.split)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    if isinstance(model, ExternalModel) and same:
        split = f"the {known['split']} split of" if known["split"] else "all of"
        yield (
            f"{model.name} was trained on {split} {known['name']}, the texts that students learn from and are tested "
            "on; how well its answers to new texts can be predicted is another question. Name another split."
        )


def _shared(study: Simulate, data: Dataset, sizes: Sequence[int]) -> Iterator[str]:
    """Students of the same texts differ by less than students of other texts would."""
    if study.seeds < 2 or not sizes:
        return
    if study.subsets == "nested":
        yield "All students of a size learn from the same texts (nested), so the verdicts hold for these texts."
        return
    pool, most = len(four_splits(data, study.data_seed).students), max(sizes)
    if most > MOST * pool:
        yield (
            f"Students draw their {most:,} texts from {pool:,}, so two of them have {100 * most / pool:.0f} % in "
            "common: verdicts hold for these texts more than for others. Give more data, or smaller sizes."
        )


def _hindsight(study: Simulate) -> Iterator[str]:
    for name, method in study.named.items():
        if metric := getattr(method, "hindsight", ""):
            yield f"{name} keeps for each text the explanation that is best by {metric}: a choice in hindsight."
