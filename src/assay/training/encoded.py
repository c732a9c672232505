"""A data set as the model reads it when it is explained: rows of positions, with gold labels as numbers."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.core.errors import InputError, SpecError, TargetError
from assay.core.progress import Progress
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.models.encoding import Batch, Encoding, Rows
from assay.models.model import Model
from assay.training.loop import TrainingData

Encode = Callable[[Model, Example], Encoding]
FAR = 10.0  # a mean or deviation of scores beyond this is out of reach of a fresh head at fine-tuning rates


@dataclass(frozen=True)
class Labelled:
    """A batch and its gold: class indices (B,), or scores (B,)."""

    batch: Batch
    gold: Tensor


@dataclass(frozen=True, eq=False)
class Encoded:
    """Labelled examples. Texts are encoded once and images whenever they are needed, because pixels are large."""

    model: Model
    examples: tuple[Example, ...]
    gold: NDArray[Any]  # (N,) int64 or float32
    rows: tuple[Rows, ...] | None  # None: images
    encode: Encode

    @property
    def data(self) -> TrainingData:
        lengths = None if self.rows is None else [int(row.lengths[0]) for row in self.rows]
        return TrainingData(len(self.gold), self.batch, lengths)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the model reads: also tells apart other length limits and masks."""
        digest = hashlib.sha256(self.gold.tobytes())
        for i in range(len(self.gold)):
            row = self.rows[i].ids.tobytes() if self.rows is not None else self.examples[i].content.encode()
            digest.update(row + b"\x1e")
        return digest.hexdigest()

    def batch(self, index: Sequence[int]) -> Labelled:
        rows = [self._row(i) for i in index]
        gold = torch.from_numpy(self.gold[list(index)]).to(self.model.device)
        return Labelled(self.model.batch(rows), gold)

    def _row(self, i: int) -> Rows:
        return self.encode(self.model, self.examples[i]).rows() if self.rows is None else self.rows[i]


def encoded(model: Model, data: Dataset, encode: Encode = Model.encode, *, progress: bool | None = None) -> Encoded:
    """Encode all examples; those without a label, or with nothing to read, are left out, and a warning counts them."""
    gold = [gold_of(example, data, model.labels, model.task) for example in data]
    pairs = [(e, g) for e, g in zip(data, gold, strict=True) if g is not None]
    _tell(len(data) - len(pairs), data, "have no label and were left out")
    rows: list[Rows] | None = None
    if not model.family.images:
        pairs, rows = _read(model, data, pairs, encode, progress)
    if not pairs:
        raise SpecError(f"{data.name or 'the data'} has no example with a label; name its column with columns=")
    values = np.array([g for _, g in pairs], np.float32 if model.task == "regression" else np.int64)
    _check_scale(values, model.task)
    return Encoded(model, tuple(e for e, _ in pairs), values, None if rows is None else tuple(rows), encode)


def gold_of(example: Example, data: Dataset, labels: Sequence[str], task: str) -> float | None:
    """The label as a number: its place among the model's labels, or a score."""
    if example.label is None:
        return None
    if task == "regression":
        try:
            return float(example.label)
        except ValueError as error:
            raise SpecError(f"the label {example.label!r} is no number; train a classifier, or name a score") from error
    name = (data.labels or ())[data.index_of(example.label)]
    if name not in labels:
        known = ", ".join(map(str, labels))
        raise TargetError(f"{data.name or 'the data'} has the label {name!r}, but the model was trained on {known}")
    return labels.index(name)


def _read(
    model: Model, data: Dataset, pairs: list[Any], encode: Encode, progress: bool | None
) -> tuple[list[Any], list[Rows]]:
    kept, rows, cut = [], [], 0
    with warnings.catch_warnings(), Progress("reading", len(pairs), progress) as bar:
        warnings.filterwarnings("ignore", message="an input is longer than")  # counted below instead
        for example, gold in pairs:
            bar.advance()
            try:
                encoding = encode(model, example)
            except InputError:
                continue
            kept.append((example, gold))
            rows.append(encoding.rows())
            cut += bool(encoding.unseen)
    _tell(len(pairs) - len(kept), data, "have nothing to read and were left out")
    _tell(cut, data, "are longer than the length limit and were cut")
    return kept, rows


def _tell(count: int, data: Dataset, what: str) -> None:
    if count:
        where = "/".join(part for part in (data.name, data.split) if part)
        warnings.warn(f"{count:,} of {len(data):,} examples of {where or 'the data'} {what}", stacklevel=3)


def _check_scale(gold: NDArray[Any], task: str) -> None:
    if task == "regression" and max(abs(gold.mean()), gold.std()) > FAR:
        warnings.warn(
            f"the scores have mean {gold.mean():.3g} and deviation {gold.std():.3g}; a model learns scores near 0 with "
            "deviation 1 far sooner: rescale them",
            stacklevel=3,
        )
