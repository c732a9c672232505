"""A data set encoded for training, in the same way as for explanations, with gold labels as numbers."""

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
from assay.core.notices import unsaid
from assay.core.progress import Progress
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.models.encoding import Batch, Encoding, Rows
from assay.models.model import Model
from assay.training.gold_labels import gold_label
from assay.training.loop import TrainingData

Encode = Callable[[Model, Example], Encoding]
MAX_SCALE = 10.0  # a new head cannot reach scores of larger mean or deviation at fine-tuning rates


@dataclass(frozen=True)
class LabelledBatch:
    """A batch with its class indices or scores, (B,), and the examples it was made from."""

    batch: Batch
    gold: Tensor
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, eq=False)
class EncodedDataset:
    """Encoded examples with labels. Texts are encoded once, images (which are large) on each use."""

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
        """SHA-256 of what the model reads; depends on length limits and masks too."""
        digest = hashlib.sha256(self.gold.tobytes())
        for i in range(len(self.gold)):
            row = self.rows[i].ids.tobytes() if self.rows is not None else self.examples[i].content.encode()
            digest.update(row + b"\x1e")
        return digest.hexdigest()

    def batch(self, index: Sequence[int]) -> LabelledBatch:
        rows = [self._row(i) for i in index]
        gold = torch.from_numpy(self.gold[list(index)]).to(self.model.device)
        return LabelledBatch(self.model.batch(rows), gold, tuple(self.examples[i] for i in index))

    def _row(self, i: int) -> Rows:
        return self.encode(self.model, self.examples[i]).rows() if self.rows is None else self.rows[i]


def encode_dataset(
    model: Model, data: Dataset, encode: Encode = Model.encode, *, progress: bool | None = None
) -> EncodedDataset:
    """Encode all examples; examples without a label or without words are left out with a warning."""
    gold = [_known_label(example, data, model) for example in data]
    pairs = [(e, g) for e, g in zip(data, gold, strict=True) if g is not None]
    _warn_count(len(data) - len(pairs), data, "have no label and were left out")
    rows: list[Rows] | None = None
    if not model.family.images:
        pairs, rows = _encode_texts(model, data, pairs, encode, progress)
    if not pairs:
        raise SpecError(f"{data.name or 'the data'} has no labelled examples; set the label column with columns=")
    values = np.array([g for _, g in pairs], np.float32 if model.task == "regression" else np.int64)
    _check_scale(values, model.task)
    return EncodedDataset(model, tuple(e for e, _ in pairs), values, None if rows is None else tuple(rows), encode)


def _known_label(example: Example, data: Dataset, model: Model) -> int | float | None:
    label = gold_label(example, data, model)
    if label is None and example.label is not None:
        named = data.labels[example.label] if data.labels and isinstance(example.label, int) else example.label
        raise TargetError(
            f"{data.name or 'the data'} has the label {named!r}, which the model lacks; "
            f"its labels are {', '.join(map(str, model.labels))}"
        )
    return label


def _encode_texts(
    model: Model, data: Dataset, pairs: list[Any], encode: Encode, progress: bool | None
) -> tuple[list[Any], list[Rows]]:
    readable, rows, truncated = [], [], 0
    with unsaid("length"), Progress("reading", len(pairs), progress) as bar:  # counted below instead
        for example, gold in pairs:
            bar.advance()
            try:
                encoding = encode(model, example)
            except InputError:
                continue
            readable.append((example, gold))
            rows.append(encoding.rows())
            truncated += bool(encoding.unseen)
    _warn_count(len(pairs) - len(readable), data, "contain no text and were left out")
    _warn_count(truncated, data, "are longer than the length limit and were truncated")
    return readable, rows


def _warn_count(count: int, data: Dataset, what: str) -> None:
    if count:
        where = "/".join(part for part in (data.name, data.split) if part)
        warnings.warn(f"{count:,} of {len(data):,} examples of {where or 'the data'} {what}", stacklevel=3)


def _check_scale(gold: NDArray[Any], task: str) -> None:
    if task == "regression" and max(abs(gold.mean()), gold.std()) > MAX_SCALE:
        warnings.warn(
            f"the scores have mean {gold.mean():.3g} and standard deviation {gold.std():.3g}; "
            "rescale them to mean 0 and standard deviation 1 for faster training",
            stacklevel=3,
        )
