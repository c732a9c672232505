"""The curves of ROAR over seeds, joined from the records of its jobs: predictions, sparsity and run time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.roar.band import Band, band
from assay.evaluation.roar.curves import Predicted, Score
from assay.evaluation.roar.masks import Amount, By
from assay.evaluation.roar.verdict import Faithfulness, difference, judge
from assay.experiments.job import Job
from assay.experiments.references import TrainedModel, without_folders
from assay.experiments.store import Store
from assay.experiments.study import StudyCell
from assay.experiments.training_task import TrainingTask
from assay.explainers.methods import named_methods
from assay.statistics.bootstrap import Interval
from assay.studies.roar.study import RANDOM
from assay.studies.roar.tasks import RankTask, RoarData

MEASURABLE = "Measurable model"


@runtime_checkable
class CurveStudy(Protocol):
    """A study whose jobs give ROAR curves: `roar`, `measurable`, or another like them."""

    recursive: bool
    by: By
    target: Literal["gold", "predicted"]
    test: str
    test_limit: int | None

    @property
    def form(self) -> str:
        """Its name on pages."""

    @property
    def specs(self) -> dict[str, str]:
        """Method specs by name, random among them."""

    @property
    def steps(self) -> list[Amount]:
        """How much is masked at each step."""


@runtime_checkable
class PredictingTask(Protocol):
    """A task whose rows hold predictions on the test split."""

    def predictions(self, rows: Any, masked: int | str) -> dict[str, list[int]]:
        """Predictions by what is masked, as text; `masked` is the job's own."""


@dataclass(frozen=True)
class Curves:
    """The predictions of every method's models, seed by seed, for one base model, data set and study.

    A method has the seeds for which it and random are finished, so an unfinished run can be shown.
    """

    study: str
    grid: str  # the model's name in the plan
    data: str
    base: str  # a size, or the name of a pretrained folder
    form: str  # Recursive ROAR, ROAR or Measurable model
    recursive: bool
    ratios: list[float]
    gold: NDArray[np.int64]  # (N,)
    seeds: Mapping[str, list[int]]  # by method
    predicted: Mapping[str, Predicted]  # by method (S,I,N)
    # by method: shares of the mass in the top words for the unmasked models, one per seed
    masses: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by method, per step: explain, train
    outside: Mapping[str, list[float]] = field(default_factory=dict)  # (I,) by method: share of unknown inputs (MaSF)
    words: int | None = None  # the last count, if words are counted instead of shares
    blind: frozenset[str] = frozenset()  # methods whose masks cannot reveal the gold label
    notes: tuple[str, ...] = ()  # what may have been misread in the data

    @property
    def axis(self) -> list[float]:
        """What is masked at each point of the plot: per cent of the words, or number of words (without the floor)."""
        if self.words is None:
            return [round(100 * ratio, 6) for ratio in self.ratios]
        return [round(self.words * ratio, 6) for ratio in self.ratios[:-1]]

    @property
    def unit(self) -> str:
        return "% of words masked" if self.words is None else "words masked"

    @property
    def steps(self) -> int:
        """Number of retrainings: without those with nothing and everything masked."""
        return len(self.ratios) - 2

    @property
    def sparsity(self) -> dict[str, dict[str, float]]:
        """By method: mean share of the mass in the top words."""
        return {m: {name: float(np.mean(v)) for name, v in masses.items()} for m, masses in self.masses.items()}

    @property
    def methods(self) -> list[str]:
        """All methods except random."""
        return [method for method in self.predicted if method != RANDOM]

    def judged(self, score: Score = "macro_f1", *, clip: bool = False) -> dict[str, Faithfulness]:
        """Every method compared with random."""
        unit = "%" if self.words is None else "words"
        names = [f"{masked:g} {unit}" for masked in self.axis]
        shared: dict[str, Any] = {"recursive": self.recursive, "score": score, "clip": clip, "names": names}

        def judge_method(method: str) -> Faithfulness:
            own: dict[str, Any] = {"labelled": method not in self.blind, "trainings": self.seeds[method]}
            return judge(self.ratios, self.predicted[method], self._random(method), self.gold, **own, **shared)

        return {method: judge_method(method) for method in self.methods}

    def behind(self, judged: Mapping[str, Faithfulness]) -> dict[str, Interval]:
        """By how much the largest area exceeds every other, largest first; without bounds where seeds differ."""
        ranked = sorted((m for m in judged if np.isfinite(judged[m].value)), key=lambda m: -judged[m].value)
        return {m: difference(judged[ranked[0]], judged[m]) for m in ranked[1:]}

    def _random(self, method: str) -> Predicted:
        """The predictions of random for the seeds of a method."""
        places = [self.seeds[RANDOM].index(seed) for seed in self.seeds[method]]
        return self.predicted[RANDOM][places]

    def bands(self, score: Score = "macro_f1") -> dict[str, Band]:
        return {m: band(p, self.gold, score) for m, p in self.predicted.items()}


def curves(cells: Sequence[StudyCell], store: Store) -> list[Curves]:
    """The curves of all ROAR studies among some cells, as far as they are finished."""
    groups: dict[tuple[str, str, TrainingTask], list[StudyCell]] = defaultdict(list)
    for cell in cells:
        if isinstance(cell.study, CurveStudy) and isinstance(cell.model, TrainedModel):
            training = replace(cell.model.training, seed=0)  # equal for cells that differ only in the seed
            groups[cell.name, cell.model.grid, training].append(cell)
    joined = [_join_seeds(group, store) for group in groups.values()]
    return [group for group in joined if group is not None]


def _join_seeds(cells: list[StudyCell], store: Store) -> Curves | None:
    study, model = cells[0].study, cells[0].model
    if not isinstance(study, CurveStudy):
        raise RuntimeError(f"{cells[0].title} is not a ROAR study")
    ratios = _ratios(study)
    predictions = {int(dict(cell.model.tags)["seed"]): _predictions(cell, store) for cell in cells}
    seeds = {m: [s for s, by_method in predictions.items() if _complete(by_method, m, ratios)] for m in study.specs}
    seeds = {method: finished for method, finished in seeds.items() if finished}
    if not seeds:
        return None
    predicted = {
        m: np.array([[predictions[s][m][k] for k in ratios] for s in finished]) for m, finished in seeds.items()
    }
    gold = next(rows["gold"] for job in _predicting_jobs(cells) if (rows := _rows(job, store)) is not None)
    return Curves(
        study=cells[0].name,
        grid=model.grid,
        data=str(dict(model.tags)["trained_on"]),
        base=without_folders(str(dict(model.tags)["base"])),
        form=study.form,
        recursive=study.recursive,
        ratios=list(ratios.values()),
        gold=np.array(gold, np.int64),
        seeds=seeds,
        predicted=predicted,
        masses=_masses(cells, store),
        seconds=_seconds(cells, store),
        outside=_outside(cells, seeds, store),
        words=study.steps[-1].k if study.by == "count" else None,
        blind=blind_methods(study),
        notes=_notes(model, study),
    )


def _notes(model: Any, study: Any) -> tuple[str, ...]:
    """The notes on the three splits, each once."""
    splits = RoarData(model.training, study.test, study.test_limit).load().values()
    return tuple(dict.fromkeys(note for data in splits for note in data.notes))


def blind_methods(study: CurveStudy) -> frozenset[str]:
    """Methods whose masks cannot reveal more of the gold label from step to step, so that no curve rises by leakage.

    These are methods that explain no class, and all methods if each retrained model explains its own prediction.
    Without recursion the first model chooses all masks by its prediction on the whole text, mostly the gold label.
    """
    methods, own = named_methods(study.specs.values()), study.target == "predicted" and study.recursive
    return frozenset(name for name, spec in study.specs.items() if own or not methods[spec].facts.class_dependent)


def _complete(predictions: Mapping[str, Mapping[str, Any]], method: str, ratios: Mapping[str, float]) -> bool:
    """Whether a method and random have predictions at every ratio."""
    return all(set(ratios) <= set(predictions.get(m, ())) for m in (method, RANDOM))


def _ratios(study: CurveStudy) -> dict[str, float]:
    """The place of each run on the axis. Of counts, the last is the end; everything masked is the floor below it."""
    steps = [amount.k for amount in study.steps]
    end = steps[-1] if study.by == "count" else 100
    return {**{str(k): k / end for k in (0, *steps)}, "all": 1.0}


def _predictions(cell: StudyCell, store: Store) -> dict[str, dict[str, list[int]]]:
    """By method, then by what is masked."""
    predictions: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for job in _predicting_jobs([cell]):
        rows = _rows(job, store)
        if rows is not None and isinstance(job.task, PredictingTask):
            predictions[job.tags["method"]] |= job.task.predictions(rows, job.tags["masked"])
    return predictions


def _predicting_jobs(cells: list[StudyCell]) -> list[Job]:
    return [job for cell in cells for job in cell.jobs if isinstance(job.task, PredictingTask)]


def _rows(job: Job, store: Store) -> Any:
    record = store.get(job.key)
    return None if record is None else record.rows


def _masses(cells: list[StudyCell], store: Store) -> dict[str, dict[str, list[float]]]:
    """The sparsity of the rankings by unmasked models, by method: one number per seed."""
    by_method: dict[str, list[dict[str, float]]] = defaultdict(list)
    for job in (job for cell in cells for job in cell.jobs):
        if isinstance(job.task, RankTask) and job.task.before is None and (rows := _rows(job, store)):
            by_method[job.tags["method"]].append(rows["sparsity"])
    known = {method: masses for method, masses in by_method.items() if masses[0]}
    return {method: {k: [m[k] for m in masses] for k in masses[0]} for method, masses in known.items()}


def _seconds(cells: list[StudyCell], store: Store) -> dict[str, dict[str, float]]:
    """Mean seconds of explaining all splits and of one training, by method."""
    by_method: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"explain": [], "train": []})
    for job in (job for cell in cells for job in cell.jobs):
        record, activity = store.get(job.key), getattr(job.task, "activity", None)
        if record is not None and activity is not None and job.tags["masked"] != "all":
            by_method[job.tags["method"]][activity].append(float(record.provenance["seconds"]))
    return {m: {k: float(np.mean(v)) for k, v in parts.items() if v} for m, parts in by_method.items()}


def _outside(cells: list[StudyCell], seeds: Mapping[str, list[int]], store: Store) -> dict[str, list[float]]:
    """The share of unknown inputs (MaSF) at every ratio, mean over seeds."""
    by_method: dict[str, list[list[float]]] = defaultdict(list)
    for job in _predicting_jobs(cells):
        rows = _rows(job, store)
        if rows is not None and "outside" in rows and job.tags["seed"] in seeds.get(job.tags["method"], ()):
            by_method[job.tags["method"]].append(list(rows["outside"].values()))
    return {method: np.mean(shares, 0).tolist() for method, shares in by_method.items()}
