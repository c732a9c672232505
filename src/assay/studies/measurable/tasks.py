"""The jobs of a measurable model: one training with masks, and a curve per method."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.datasets.dataset import Dataset
from assay.evaluation.roar.masf import Masf
from assay.evaluation.roar.masks import Amount
from assay.experiments.job import JobContext, JobResult, Row
from assay.experiments.training_task import training_result
from assay.models.load import load_model
from assay.models.model import Model
from assay.studies.roar.tasks import RankTask, RoarData, apply, everything, tested
from assay.training.encoded import encode_dataset
from assay.training.masked_finetuning import half_masked_loss, with_masked_copy

BATCH = 64


@dataclass(frozen=True)
class MaskedFinetuningTask:
    """Fine-tune with masks; the best epoch is chosen on the validation split and a masked copy of it."""

    source: RoarData
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "train"

    def run(self, context: JobContext) -> JobResult:
        train, validation = self.source.training.splits()
        self.source.training.fit(context.folder, train, with_masked_copy(validation), half_masked_loss)
        return training_result(context.folder, train, validation)

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield from ({"metric": name, "value": value} for name, value in rows["validation"].items())


@dataclass(frozen=True)
class CurveTask:
    """Predictions of one model as more and more of the words that a method ranks first are masked."""

    rank: RankTask
    steps: tuple[Amount, ...]
    rerank: bool  # after each step
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "explain"

    def run(self, context: JobContext) -> JobResult:
        began = time.perf_counter()
        model = load_model(context.artifact(self.rank.model))
        validation = self.rank.source.training.splits()[1]
        masf = Masf(features(model, with_masked_copy(validation)))  # half masked, as in training
        predicted, outside, gold = {}, {}, []
        for point, data in self.masked(model):
            answers = tested(model, data)
            predicted[str(point)], gold = answers["predicted"], answers["gold"]
            outside[str(point)] = masf.outside(features(model, data))
        rows = {"predicted": predicted, "gold": gold, "outside": outside}
        return JobResult(rows, {"seconds": time.perf_counter() - began})

    def masked(self, model: Model) -> Iterator[tuple[int | str, Dataset]]:
        """The test split with nothing masked, each step, and everything masked."""
        data = self.rank.source.test_split()
        masked, ranks = data, None
        yield 0, data
        for amount in self.steps:
            if ranks is None or self.rerank:
                ranks, _ = self.rank.ranked(model, masked, ranks)
            masked = apply(data, ranks, amount)
            yield amount.k, masked
        yield "all", everything(data)

    def predictions(self, rows: Any, masked: int | str) -> dict[str, list[int]]:
        """All points of the curve: one job has them all."""
        return dict(rows["predicted"])

    def tidy(self, rows: Any) -> Iterator[Row]:
        for point, share in rows["outside"].items():
            yield {"metric": f"outside_{point}", "value": share}


def features(model: Model, data: Dataset) -> NDArray[np.float64]:
    """(N,L,D) the highest activations, in batches of similar length."""
    encoded = encode_dataset(model, data, progress=False)
    order = np.argsort(encoded.data.lengths or [], kind="stable")
    batches = np.split(order, range(BATCH, len(order), BATCH))
    states = [model.highest_states(encoded.batch(batch.tolist()).batch).numpy(force=True) for batch in batches]
    out: NDArray[np.float64] = np.concatenate(states)[np.argsort(order)].astype(np.float64)
    return out
