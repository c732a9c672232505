"""The jobs of ROAR: rank the words of every example, retrain on masked data, test.

All three splits are masked. A ranking is a folder with the spans of every example in masking order; a retraining is a
model with its predictions on the masked test split.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.progress import Progress
from assay.core.rng import generator
from assay.core.types import Example, Span, Target
from assay.datasets.dataset import Dataset
from assay.evaluation.roar.masks import Amount, order, whole
from assay.experiments.file_cache import read_once
from assay.experiments.job import JobContext, JobResult, Row
from assay.experiments.training_task import TrainingTask, performance_metrics, training_seconds
from assay.explainers.methods import named_methods
from assay.explainers.session import Session
from assay.models.load import load_model
from assay.models.model import Model
from assay.training.classifier import Trainable, predict
from assay.training.encoded import encode_dataset
from assay.training.gold_labels import gold_label
from assay.training.splits import without_training

SPLITS = ("train", "validation", "test")
RANKS = "ranks.npz"
CHUNK = 512  # texts explained together: enough to fill batches of one length, which makes LSTMs faster
PRIMARY = 0  # the segment that is masked; the second text never is
TOPS, SHARES = range(1, 11), range(10, 100, 10)  # of the sparsity
Explained = tuple[list[Span], NDArray[Any]]  # the words of a text and their scores


WORDS_ONLY = "ROAR masks the words of texts, and these data are images; give data of texts"


@dataclass(frozen=True)
class RoarData:
    """The unmasked splits of a training, and the test split."""

    training: TrainingTask
    test: str
    test_limit: int | None = None

    def load(self) -> dict[str, Dataset]:
        return dict(zip(SPLITS, (*self.training.splits(), self.test_split()), strict=True))

    def test_split(self) -> Dataset:
        return _test_split(self)


@read_once(maxsize=4)
def _test_split(source: RoarData) -> Dataset:
    on = source.training.on
    test = on.load_with(split=source.test, limit=source.test_limit, seed=on.seed)
    return without_training(test, source.training.splits()[0])


# --- ranking -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankTask:
    """Rank words by a method on the model of the previous step."""

    source: RoarData
    method: str
    model: str  # key of the training
    before: tuple[str, Amount] | None = None  # key of the ranking that model was trained with, and how much of it
    signed: bool = False
    target: Literal["gold", "predicted"] = "gold"
    seed: int = 0
    batch_tokens: int | None = None
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "explain"  # what its seconds are spent on

    def run(self, context: JobContext) -> JobResult:
        began = time.perf_counter()
        model = load_model(context.artifact(self.model))
        previous = None if self.before is None else read_ranks(context.artifact(self.before[0]))
        ranks, scores = {}, {}
        for split, data in self.source.load().items():
            masked = data if previous is None or self.before is None else apply(data, previous[split], self.before[1])
            ranks[split], scores[split] = self.ranked(model, masked, None if previous is None else previous[split])
        write_ranks(context.folder, ranks)
        rows = {"sparsity": sparsity(scores["validation"]), "examples": {s: len(r) for s, r in ranks.items()}}
        return JobResult(rows, {"seconds": time.perf_counter() - began})

    def ranked(self, model: Model, data: Dataset, previous: Ranks | None) -> tuple[Ranks, list[NDArray[Any]]]:
        """The spans of every example in masking order, and the scores of its words that are not masked yet."""
        session = Session.create(
            model, named_methods([self.method]), scope=PRIMARY, seed=self.seed, batch_tokens=self.batch_tokens
        )
        ranks, scores = [], []
        explained = self._explained(session, data)
        for i, example in enumerate(data):
            spans, values = explained.get(i, ([], np.zeros(0)))
            index = {span: u for u, span in enumerate(spans)}
            masked = [index[span] for span in ([] if previous is None else previous[i][: len(example.removed)])]
            rng = generator("roar ties", self.seed, example.content)
            ranks.append([spans[u] for u in order(values, masked, rng)])
            scores.append(np.delete(values, masked))
        return ranks, scores

    def _explained(self, session: Session, data: Dataset) -> dict[int, Explained]:
        """Scores by position in the data; texts without words are left out."""
        out: dict[int, Explained] = {}
        examples = list(enumerate(data))
        for start in range(0, len(examples), CHUNK):
            chunk = examples[start : start + CHUNK]
            try:
                explained = list(self._chunk(session, data, chunk))
            except InputError:  # rare, so checking first would cost more
                chunk = [(i, e) for i, e in chunk if _readable(session, e)]
                explained = list(self._chunk(session, data, chunk)) if chunk else []
            out |= zip((i for i, _ in chunk), explained, strict=True)
        return out

    def _chunk(self, session: Session, data: Dataset, chunk: Sequence[tuple[int, Example]]) -> Iterator[Explained]:
        gold = [gold_label(e, data, session.model) if self.target == "gold" else None for _, e in chunk]
        targets = [Target(label) if isinstance(label, int) else label for label in gold]
        (explained,) = session.explain_chunk(chunk, targets, Progress("", None, show=False)).values()
        for a in explained:
            seen = [u for u, unit in enumerate(a.units) if unit.seen]
            values = a.scores[seen].astype(np.float64)
            spans = [Span(PRIMARY, a.units[u].start, a.units[u].end) for u in seen]
            yield spans, values if self.signed else np.abs(values)

    def tidy(self, rows: Any) -> Iterator[Row]:
        for name, value in rows["sparsity"].items():
            yield {"metric": f"mass_{name}", "value": value}


def _readable(session: Session, example: Example) -> bool:
    try:
        session.encode(example, 0)
    except InputError:
        return False
    return True


def sparsity(scores: Sequence[NDArray[Any]]) -> dict[str, float]:
    """Mean share of the mass in the top 1 to 10 words and in the top 10 to 90 % (int(n q) + 1 words)."""
    sizes = [np.sort(np.abs(s))[::-1] for s in scores if len(s) and np.abs(s).sum() > 0]
    if not sizes:
        return {}
    mass = [s.cumsum() / s.sum() for s in sizes]
    tops = {f"top_{k}": float(np.mean([m[min(k, len(m)) - 1] for m in mass])) for k in TOPS}
    shares = {f"share_{q}": float(np.mean([m[int(len(m) * q / 100)] for m in mass])) for q in SHARES}
    return {**tops, **shares}


# --- masks -------------------------------------------------------------------------------------------------------

Ranks = Sequence[Sequence[Span]]  # per example the spans of its words in the order in which they are masked


def apply(data: Dataset, ranks: Ranks, amount: Amount) -> Dataset:
    """The data with the first words of every ranking masked; sorted, so that equal sets give equal data."""
    if any(example.image is not None for example in data):
        raise InputError(WORDS_ONLY)
    pairs = zip(data, ranks, strict=True)
    examples = tuple(replace(e, removed=tuple(sorted(rank[: amount.of(len(rank))]))) for e, rank in pairs)
    return replace(data, examples=examples)


def everything(data: Dataset) -> Dataset:
    """The data with the whole first text masked."""
    return replace(data, examples=tuple(replace(e, removed=whole(e.text)) for e in data))


def write_ranks(folder: Path, ranks: Mapping[str, Ranks]) -> None:
    arrays: dict[str, Any] = {}
    for split, rows in ranks.items():
        arrays[f"{split}_lengths"] = np.array([len(row) for row in rows], np.int32)
        arrays[f"{split}_spans"] = np.array([(s.start, s.end) for row in rows for s in row], np.int32).reshape(-1, 2)
    np.savez_compressed(folder / RANKS, **arrays)


def read_ranks(folder: Path) -> dict[str, Ranks]:
    with np.load(folder / RANKS, allow_pickle=False) as file:
        arrays = dict(file)
    out: dict[str, Ranks] = {}
    for split in SPLITS:
        spans = [Span(PRIMARY, int(a), int(b)) for a, b in arrays[f"{split}_spans"]]
        ends = arrays[f"{split}_lengths"].cumsum().tolist()
        out[split] = [spans[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    return out


# --- training and testing ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RetrainTask:
    """Train, select and test a model on masked data; with `rank` None, everything is masked."""

    source: RoarData
    amount: Amount | None
    rank: str | None
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "train"

    def run(self, context: JobContext) -> JobResult:
        data, training, folder = self._masked(context), self.source.training, context.folder
        training.fit(folder, data["train"], data["validation"])
        began = time.perf_counter()
        rows = tested(load_model(folder, device=training.device), data["test"])
        return JobResult(rows, {"seconds": training_seconds(folder) + time.perf_counter() - began})

    def _masked(self, context: JobContext) -> dict[str, Dataset]:
        data = self.source.load()
        if self.rank is None or self.amount is None:
            return {split: everything(dataset) for split, dataset in data.items()}
        ranks = read_ranks(context.artifact(self.rank))
        return {split: apply(dataset, ranks[split], self.amount) for split, dataset in data.items()}

    def predictions(self, rows: Any, masked: int | str) -> dict[str, list[int]]:
        return {str(masked): rows["predicted"]}

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield from ({"metric": name, "value": value} for name, value in rows["scores"].items())


@dataclass(frozen=True)
class UnmaskedTask:
    """Test the unmasked model on the unmasked test split."""

    source: RoarData
    model: str
    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> JobResult:
        return JobResult(tested(load_model(context.artifact(self.model)), self.source.test_split()))

    def predictions(self, rows: Any, masked: int | str) -> dict[str, list[int]]:
        return {str(masked): rows["predicted"]}

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield from ({"metric": name, "value": value} for name, value in rows["scores"].items())


def tested(model: Model, data: Dataset) -> dict[str, Any]:
    """Predictions, gold labels and scores on the labelled examples of a test split."""
    encoded = encode_dataset(model, data, progress=False)
    outputs = predict(Trainable(model).eval(), encoded)
    scores = {name: m.score(outputs, encoded.gold) for name, m in performance_metrics(model.task).items()}
    return {"predicted": outputs.argmax(-1).tolist(), "gold": encoded.gold.tolist(), "scores": scores}
