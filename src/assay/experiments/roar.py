"""What the jobs of ROAR found: curves over seeds, their areas and verdicts, sparsity and walltime."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.verdict import Faithfulness, Predicted, judge
from assay.experiments.job import Job
from assay.experiments.kinds._roar_jobs import Intact, Rank, Retrain
from assay.experiments.kinds.roar import RANDOM, Roar
from assay.experiments.plan import Cell, Plan
from assay.experiments.store import Store


@dataclass(frozen=True)
class Curves:
    """One base on one data set in one study: what every method's models answered, seed by seed."""

    study: str
    base: str
    data: str
    recursive: bool
    ratios: list[float]
    seeds: list[int]
    gold: NDArray[np.int64]  # (N,)
    predicted: Mapping[str, Predicted]  # by method (S,I,N)
    sparsity: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by method, of the unmasked models
    seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by method, per step: explain, train

    def judged(self, score: Score = "macro_f1", *, clip: bool = False) -> dict[str, Faithfulness]:
        """Every method but random against random."""
        base = self.predicted[RANDOM]
        more: dict[str, Any] = {"recursive": self.recursive, "score": score, "clip": clip}
        return {m: judge(self.ratios, p, base, self.gold, **more) for m, p in self.predicted.items() if m != RANDOM}


def curves(plan: Plan, store: Store) -> list[Curves]:
    """Those of a plan's ROAR studies; seeds that are not finished are left out."""
    groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in plan.cells:
        if isinstance(cell.kind, Roar):
            groups[cell.study, cell.model.grid, str(dict(cell.model.about)["trained_on"])].append(cell)
    found = [(place, [cell for cell in cells if _finished(cell, store)]) for place, cells in groups.items()]
    return [_joined(place, cells, store) for place, cells in found if cells]


def _finished(cell: Cell, store: Store) -> bool:
    return all(store.get(job.key) is not None for job in cell.jobs)


def _joined(place: tuple[str, str, str], cells: list[Cell], store: Store) -> Curves:
    kind = cells[0].kind
    if not isinstance(kind, Roar):
        raise RuntimeError(f"{cells[0].name} is no ROAR study")
    ratios = _ratios(kind)
    answers = [_answers(cell, ratios, store) for cell in cells]
    predicted = {m: np.array([[a[m][point] for point in ratios] for a in answers], np.int64) for m in kind.specs}
    rows = _rows(_answering(cells[0])[0], store)
    seeds = [int(dict(cell.model.about)["seed"]) for cell in cells]
    told = _sparsity(cells, store), _seconds(cells, store)
    gold = np.array(rows["gold"], np.int64)
    return Curves(*place, kind.recursive, list(ratios.values()), seeds, gold, predicted, *told)


def _ratios(kind: Roar) -> dict[Any, float]:
    """Where on the axis each run lies; of counts the last one is the end, because texts differ in length."""
    steps = [amount.k for amount in kind.steps]
    if kind.by == "count":
        return {k: k / steps[-1] for k in (0, *steps)}
    return {**{k: k / 100 for k in (0, *steps)}, "all": 1.0}


def _answers(cell: Cell, ratios: Mapping[Any, float], store: Store) -> dict[str, dict[Any, list[int]]]:
    out: dict[str, dict[Any, list[int]]] = defaultdict(dict)
    for job in _answering(cell):
        if job.at["masked"] in ratios:
            out[job.at["method"]][job.at["masked"]] = _rows(job, store)["predicted"]
    return out


def _answering(cell: Cell) -> list[Job]:
    return [job for job in cell.jobs if isinstance(job.kind, Intact | Retrain)]


def _rows(job: Job, store: Store) -> Any:
    record = store.get(job.key)
    return None if record is None else record.rows


def _sparsity(cells: list[Cell], store: Store) -> dict[str, dict[str, float]]:
    """The mean over seeds, of ranks by the unmasked model."""
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for job in (job for cell in cells for job in cell.jobs):
        if isinstance(job.kind, Rank) and job.kind.before is None:
            found[job.at["method"]].append(_rows(job, store)["sparsity"])
    return {m: {k: float(np.mean([r[k] for r in rows])) for k in rows[0]} for m, rows in found.items() if rows[0]}


def _seconds(cells: list[Cell], store: Store) -> dict[str, dict[str, float]]:
    """Mean seconds of an explanation of all splits and of a retraining, by method."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"explain": [], "train": []})
    for job in (job for cell in cells for job in cell.jobs):
        record = store.get(job.key)
        if record is not None and isinstance(job.kind, Rank | Retrain) and job.at["masked"] != "all":
            part = "explain" if isinstance(job.kind, Rank) else "train"
            found[job.at["method"]][part].append(float(record.provenance["seconds"]))
    return {m: {k: float(np.mean(v)) for k, v in parts.items() if v} for m, parts in found.items()}
