"""What the jobs of ROAR found: curves over seeds, their areas and verdicts, sparsity and walltime."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.roar.band import Band, band
from assay.evaluation.roar.curves import Predicted, Score
from assay.evaluation.roar.verdict import Faithfulness, difference, judge
from assay.experiments.job import Job
from assay.experiments.references import TrainedModel, bare
from assay.experiments.store import Store
from assay.experiments.study import StudyCell
from assay.experiments.training_task import TrainingTask
from assay.explainers.methods import named_methods
from assay.statistics.bootstrap import Interval
from assay.studies.measurable.study import Measurable
from assay.studies.measurable.tasks import CurveTask, MaskedFinetuningTask
from assay.studies.roar.study import RANDOM, Roar
from assay.studies.roar.tasks import RankTask, RetrainTask, UnmaskedTask

MEASURABLE = "Measurable model"
TIMED = (RankTask, RetrainTask, CurveTask, MaskedFinetuningTask)


@dataclass(frozen=True)
class Curves:
    """One base on one data set in one study: what every method's models answered, seed by seed.

    A method has the seeds for which it and random are finished, so that a run may be looked at before its end.
    """

    study: str
    grid: str  # the model's name in the plan
    data: str
    base: str  # where its training starts: a size, or the name of a pretrained folder
    form: str  # Recursive ROAR, ROAR, or of a measurable model
    recursive: bool
    ratios: list[float]
    gold: NDArray[np.int64]  # (N,)
    seeds: Mapping[str, list[int]]  # by method
    predicted: Mapping[str, Predicted]  # by method (S,I,N)
    masses: Mapping[str, Mapping[str, list[float]]] = field(
        default_factory=dict
    )  # by method: the sparsity of the unmasked models, a number per seed
    seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by method, per step: explain, train
    outside: Mapping[str, list[float]] = field(
        default_factory=dict
    )  # (I,) by method: inputs that the model does not know
    words: int | None = None  # the last count, where words are counted instead of shares
    blind: frozenset[str] = frozenset()  # methods whose masks learn nothing of the gold label from step to step

    @property
    def axis(self) -> list[float]:
        """What the points that are drawn have masked: per cent of the words, or words (without the floor)."""
        if self.words is None:
            return [round(100 * ratio, 6) for ratio in self.ratios]
        return [round(self.words * ratio, 6) for ratio in self.ratios[:-1]]

    @property
    def unit(self) -> str:
        return "% of words masked" if self.words is None else "words masked"

    @property
    def steps(self) -> int:
        """How often is explained and trained again: not at nothing and at all masked."""
        return len(self.ratios) - 2

    @property
    def sparsity(self) -> dict[str, dict[str, float]]:
        """By method: mean share of the mass that the top words hold."""
        return {m: {name: float(np.mean(v)) for name, v in masses.items()} for m, masses in self.masses.items()}

    @property
    def methods(self) -> list[str]:
        """All but random."""
        return [method for method in self.predicted if method != RANDOM]

    def judged(self, score: Score = "macro_f1", *, clip: bool = False) -> dict[str, Faithfulness]:
        """Every method but random against random."""
        unit = "%" if self.words is None else "words"
        names = [f"{at:g} {unit}" for at in self.axis]
        more: dict[str, Any] = {"recursive": self.recursive, "score": score, "clip": clip, "names": names}

        def one(m: str) -> Faithfulness:
            own: dict[str, Any] = {"labelled": m not in self.blind, "trainings": self.seeds[m]}
            return judge(self.ratios, self.predicted[m], self._random(m), self.gold, **own, **more)

        return {m: one(m) for m in self.methods}

    def behind(self, judged: Mapping[str, Faithfulness]) -> dict[str, Interval]:
        """How much larger the largest area is than every other's, in their order; no bounds where seeds differ."""
        ranked = sorted((m for m in judged if np.isfinite(judged[m].value)), key=lambda m: -judged[m].value)
        return {m: difference(judged[ranked[0]], judged[m]) for m in ranked[1:]}

    def _random(self, method: str) -> Predicted:
        """The baseline of the method's seeds."""
        places = [self.seeds[RANDOM].index(seed) for seed in self.seeds[method]]
        return self.predicted[RANDOM][places]

    def bands(self, score: Score = "macro_f1") -> dict[str, Band]:
        return {m: band(p, self.gold, score) for m, p in self.predicted.items()}


def curves(cells: Sequence[StudyCell], store: Store) -> list[Curves]:
    """The curves of ROAR studies, as far as they are finished."""
    groups: dict[tuple[str, str, TrainingTask], list[StudyCell]] = defaultdict(list)
    for cell in cells:
        if isinstance(cell.study, Roar | Measurable) and isinstance(cell.model, TrainedModel):
            alike = replace(cell.model.training, seed=0)  # trainings that differ in nothing but their seed
            groups[cell.name, cell.model.grid, alike].append(cell)
    found = [_joined(cells, store) for cells in groups.values()]
    return [part for part in found if part is not None]


def _joined(cells: list[StudyCell], store: Store) -> Curves | None:
    kind, model = cells[0].study, cells[0].model
    if not isinstance(kind, Roar | Measurable):
        raise RuntimeError(f"{cells[0].title} is not a ROAR study")
    ratios = _ratios(kind)
    answers = {int(dict(cell.model.tags)["seed"]): _answers(cell, ratios, store) for cell in cells}
    seeds = {m: [s for s, found in answers.items() if _whole(found, m, ratios)] for m in kind.specs}
    seeds = {m: mine for m, mine in seeds.items() if mine}
    if not seeds:
        return None
    predicted = {m: np.array([[answers[s][m][k] for k in ratios] for s in mine]) for m, mine in seeds.items()}
    gold = next(record["gold"] for job in _answering(cells) if (record := _rows(job, store)) is not None)
    told = _masses(cells, store), _seconds(cells, store), _outside(cells, seeds, store)
    points, truth = list(ratios.values()), np.array(gold, np.int64)
    words = kind.steps[-1].k if kind.by == "count" else None
    base, data = bare(str(dict(model.tags)["base"])), str(dict(model.tags)["trained_on"])
    about = (cells[0].name, model.grid, data, base, _form(kind), kind.recursive)
    return Curves(*about, points, truth, seeds, predicted, *told, words, _blind(kind))


def _blind(kind: Roar | Measurable) -> frozenset[str]:
    """Methods that explain no class, or all if the class that is explained is what the model before saw itself: what
    masks tell may then stay, but not grow, and no curve rises by it.

    Only with recursion: else the first model chooses all masks by its answer to the whole text, mostly the gold label.
    """
    made, own = named_methods(kind.specs.values()), kind.target == "predicted" and kind.recursive
    return frozenset(m for m, s in kind.specs.items() if own or not made[s].facts.class_dependent)


def _whole(answers: Mapping[str, Mapping[Any, Any]], method: str, ratios: Mapping[Any, float]) -> bool:
    """Whether a method and random have answers at every ratio."""
    return all(set(ratios) <= set(answers.get(m, ())) for m in (method, RANDOM))


def _form(kind: Roar | Measurable) -> str:
    return MEASURABLE if isinstance(kind, Measurable) else "Recursive ROAR" if kind.recursive else "ROAR"


def _ratios(kind: Roar | Measurable) -> dict[Any, float]:
    """Where on the axis each run lies; of counts the last one is the end, and all masked the floor below it."""
    steps = [amount.k for amount in kind.steps]
    end = steps[-1] if kind.by == "count" else 100
    return {**{k: k / end for k in (0, *steps)}, "all": 1.0}


def _answers(cell: StudyCell, ratios: Mapping[Any, float], store: Store) -> dict[str, dict[Any, list[int]]]:
    out: dict[str, dict[Any, list[int]]] = defaultdict(dict)
    for job in _answering([cell]):
        rows, method, point = _rows(job, store), job.tags["method"], job.tags["masked"]
        if rows is not None and isinstance(job.task, CurveTask):  # all points in one job
            out[method] = {k: rows["predicted"][str(k)] for k in ratios}
        elif rows is not None and point in ratios:
            out[method][point] = rows["predicted"]
    return out


def _answering(cells: list[StudyCell]) -> list[Job]:
    return [job for cell in cells for job in cell.jobs if isinstance(job.task, UnmaskedTask | RetrainTask | CurveTask)]


def _rows(job: Job, store: Store) -> Any:
    record = store.get(job.key)
    return None if record is None else record.rows


def _masses(cells: list[StudyCell], store: Store) -> dict[str, dict[str, list[float]]]:
    """By method, of ranks by the unmasked models: a number per seed."""
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for job in (job for cell in cells for job in cell.jobs):
        if isinstance(job.task, RankTask) and job.task.before is None:
            found[job.tags["method"]] += [rows["sparsity"] for rows in [_rows(job, store)] if rows]
    known = {method: rows for method, rows in found.items() if rows and rows[0]}
    return {m: {k: [r[k] for r in rows] for k in rows[0]} for m, rows in known.items()}


def _seconds(cells: list[StudyCell], store: Store) -> dict[str, dict[str, float]]:
    """Mean seconds of an explanation of all splits and of a retraining, by method."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"explain": [], "train": []})
    for job in (job for cell in cells for job in cell.jobs):
        record = store.get(job.key)
        if record is not None and isinstance(job.task, TIMED) and job.tags["masked"] != "all":
            part = "explain" if isinstance(job.task, RankTask | CurveTask) else "train"
            found[job.tags["method"]][part].append(float(record.provenance["seconds"]))
    return {m: {k: float(np.mean(v)) for k, v in parts.items() if v} for m, parts in found.items()}


def _outside(cells: list[StudyCell], seeds: Mapping[str, list[int]], store: Store) -> dict[str, list[float]]:
    """The mean over seeds of what MaSF says at every ratio."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for job in _answering(cells):
        rows = _rows(job, store) if isinstance(job.task, CurveTask) else None
        if rows is not None and job.tags["seed"] in seeds.get(job.tags["method"], ()):
            found[job.tags["method"]].append(list(rows["outside"].values()))
    return {method: np.mean(shares, 0).tolist() for method, shares in found.items()}
