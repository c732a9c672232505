"""Faithfulness without retraining: one model that has been trained with masks, and ROAR's curves from it alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import SpecError
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.evaluation.roar.masf import Masf
from assay.evaluation.roar.masks import Amount, By, amounts
from assay.experiments.job import Job, JobContext, JobResult, Row, StudyContext
from assay.experiments.kinds._roar_jobs import Rank, Source, apply, everything, tested
from assay.experiments.kinds.roar import METHODS, RANDOM, check_family, check_steps, specs_of, trained_here
from assay.experiments.kinds.train import KEPT_FILES, training_rows
from assay.explainers.methods import named_methods
from assay.models.load import load_model
from assay.models.model import Model
from assay.training.encoded import encoded
from assay.training.masked_finetuning import doubled, half_masked_loss

BATCH = 64


@dataclass(frozen=True)
class Measurable:
    """Masked fine-tuning (Madsen et al. 2024): half of each batch is masked by a share from U(0,1).

    The fields are those of `roar`; words are ranked anew after each step, by the same model. Beside each curve stands
    how many inputs the model does not know (MaSF), which should be about 5 %.
    """

    methods: tuple[str, ...] = METHODS
    step: int = 10
    signed: bool = False
    target: Literal["gold", "predicted"] = "gold"
    test: str = "test"
    test_limit: int | None = None
    batch_tokens: int | None = None

    revision: ClassVar[int] = 1
    by: ClassVar[By] = "share"
    recursive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.methods:
            raise SpecError("methods=[]: name at least one; random is there without being named")
        if self.target not in ("predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'predicted' or 'gold'")
        check_steps(self.specs, self.steps, self.step)

    @cached_property
    def specs(self) -> dict[str, str]:
        return specs_of(self.methods)

    @cached_property
    def steps(self) -> list[Amount]:
        return [amount for amount in amounts("share", self.step, None) if amount.k != 100]

    def jobs(self, place: StudyContext) -> list[Job]:
        """One training, then a job per method."""
        model, source = trained_here(place, self.test, self.test_limit)
        check_family(self.specs, source.training.train)
        spec = {"kind": "measurable_train", "revision": Tune.revision, "training": source.training.job({}).spec}
        at = {**place.at, "method": RANDOM, "masked": "training"}
        tune = Job(Tune(source), spec, at, model, place.data, artifact=True, kept_files=KEPT_FILES, temporary=True)
        return [tune, *(self._curve(place, source, name, tune) for name in self.specs)]

    def _curve(self, place: StudyContext, source: Source, name: str, tune: Job) -> Job:
        method, seed = self.specs[name], source.training.seed
        rank = Rank(source, method, tune.key, None, self.signed, self.target, seed, self.batch_tokens)
        (full,) = named_methods([method]).values()
        spec = {
            "kind": "measurable_curve",
            "revision": Curve.revision,
            "method": [str(Spec.of(full)), full.revision],
            "steps": [amount.k for amount in self.steps],
            "signed": self.signed,
            "target": self.target,
            "seed": seed,
            "test": source.held().fingerprint,
        }
        at = {**place.at, "method": name, "masked": "curve"}
        made = Curve(rank, tuple(self.steps), anew=name != RANDOM)
        return Job(made, spec, at, place.model, place.data, None, (tune.key,))

    def run(self, work: JobContext) -> Any:
        raise RuntimeError("the jobs of a measurable model are those of its parts")

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        raise RuntimeError("the jobs of a measurable model are those of its parts")


@dataclass(frozen=True)
class Tune:
    """A training with masks, selected on the validation split and a masked copy of it."""

    source: Source
    revision: ClassVar[int] = 1

    def jobs(self, place: StudyContext) -> list[Job]:
        raise NotImplementedError("a part of the kind measurable")

    def run(self, work: JobContext) -> JobResult:
        train, validation = self.source.training.parts()
        if work.folder is None:
            raise RuntimeError("a training needs a folder")
        self.source.training.fit(work.folder, train, doubled(validation), half_masked_loss)
        return training_rows(work.folder, train, validation)

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        yield from ({"metric": name, "value": value} for name, value in rows["validation"].items())


@dataclass(frozen=True)
class Curve:
    """What one model answers with ever more of the words masked that a method ranks first."""

    rank: Rank
    steps: tuple[Amount, ...]
    anew: bool
    revision: ClassVar[int] = 1

    def jobs(self, place: StudyContext) -> list[Job]:
        raise NotImplementedError("a part of the kind measurable")

    def run(self, work: JobContext) -> JobResult:
        began = time.perf_counter()
        model = load_model(work.artifact(self.rank.model))
        known = Masf(features(model, doubled(self.rank.source.training.parts()[1])))  # half masked, as in training
        predicted, outside, gold = {}, {}, []
        for point, data in self.masked(model):
            found = tested(model, data)
            predicted[str(point)], gold = found["predicted"], found["gold"]
            outside[str(point)] = known.outside(features(model, data))
        rows = {"predicted": predicted, "gold": gold, "outside": outside}
        return JobResult(rows, {"seconds": time.perf_counter() - began})

    def masked(self, model: Model) -> Iterator[tuple[int | str, Dataset]]:
        """The test split with nothing, ever more, and everything masked."""
        data = self.rank.source.held()
        now, ranks = data, None
        yield 0, data
        for amount in self.steps:
            if ranks is None or self.anew:
                ranks, _ = self.rank.ranked(model, now, ranks)
            now = apply(data, ranks, amount)
            yield amount.k, now
        yield "all", everything(data)

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        for point, share in rows["outside"].items():
            yield {"metric": f"outside_{point}", "value": share}


def features(model: Model, data: Dataset) -> NDArray[np.float64]:
    """(N,L,D) the highest activations, in batches of about one length."""
    held = encoded(model, data, progress=False)
    order = np.argsort(held.data.lengths or [], kind="stable")
    parts = np.split(order, range(BATCH, len(order), BATCH))
    found = [model.highest_states(held.batch(part.tolist()).batch).numpy(force=True) for part in parts]
    out: NDArray[np.float64] = np.concatenate(found)[np.argsort(order)].astype(np.float64)
    return out
