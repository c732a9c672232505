"""A data set: examples in a fixed order with the names of their labels. Frozen; slices are data sets again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from assay.core.errors import SpecError, TargetError, nearest
from assay.core.rng import generator
from assay.core.types import Example

Task = Literal["classification", "regression"]


@dataclass(frozen=True, eq=False)
class Dataset(Sequence[Example]):
    """Examples with a name. A label is one of `labels` or an index into them; a score is a float."""

    examples: tuple[Example, ...]
    name: str = ""
    labels: tuple[str, ...] | None = None  # None: regression, or no labels at all
    task: Task = "classification"
    split: str | None = None

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: int | slice) -> Example | Dataset:
        if isinstance(index, slice):
            return replace(self, examples=self.examples[index])
        return self.examples[index]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that could change a result: inputs, labels, rationales, ids and label names; not the name."""
        digest = hashlib.sha256(json.dumps([self.task, self.labels]).encode())
        for example in self.examples:
            digest.update(_bytes(example))
        return digest.hexdigest()

    def take(self, n: int, seed: int = 0) -> Dataset:
        """A random subset in the original order; with one seed, a smaller subset lies within a larger one."""
        if n < 1:
            raise SpecError(f"{n} examples were asked for; give at least 1, or no limit for all {len(self)}")
        if n >= len(self):
            return self
        chosen = generator("take", seed, len(self)).permutation(len(self))[:n]
        return replace(self, examples=tuple(self.examples[i] for i in np.sort(chosen)))

    def index_of(self, label: object) -> int:
        """The place of a label, given by name or by index, among `labels`."""
        names = self.labels or ()
        if isinstance(label, str) and label in names:
            return names.index(label)
        if isinstance(label, int | np.integer) and 0 <= label < len(names):
            return int(label)
        raise TargetError(f"{self.name or 'the data'} has no label {label!r}; {nearest(str(label), names)}")


def _bytes(example: Example) -> bytes:
    """One example as bytes, the same on every machine."""
    pixels = b"" if example.image is None else _pixels(example.image)
    label = example.label.item() if isinstance(example.label, np.generic) else example.label
    rest: list[Any] = [example.id, example.text, example.text_pair, label, example.rationales]
    rest += [example.removed] if example.removed else []
    return json.dumps(rest).encode() + b"\x1e" + pixels + b"\x1d"


def _pixels(image: object) -> bytes:
    array = np.asarray(image)
    return str(array.shape).encode() + array.tobytes()
