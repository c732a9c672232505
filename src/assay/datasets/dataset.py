"""Dataset: an immutable sequence of examples with label names and a task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from assay.core.errors import SpecError, TargetError, nearest
from assay.core.printable import shortened
from assay.core.rng import generator
from assay.core.types import Example

Task = Literal["classification", "regression"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Sequence[Example]):
    """Examples in a fixed order; slices are Datasets too. A label is one of `labels` or an index into them."""

    examples: tuple[Example, ...]
    name: str = ""
    labels: tuple[str, ...] | None = None  # None: regression, or no labels
    task: Task = "classification"
    split: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)  # {role: column} that were read, where there were columns
    notes: tuple[str, ...] = ()  # what may have been misread, for terminal and reports

    def __repr__(self) -> str:
        split = "" if self.split is None else f", split {self.split}"
        labels = ", no labels" if self.labels is None else f", labels {shortened(', '.join(self.labels), 60)}"
        first = f"\n  0: {self.examples[0]!r}" if self.examples else ""
        return f"<Dataset {self.name!r}: {len(self):,} examples, {self.task}{labels}{split}{first}>"

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
        """SHA-256 of all that can change a result: inputs, labels, label names, rationales and ids, not the name."""
        digest = hashlib.sha256(json.dumps([self.task, self.labels]).encode())
        for example in self.examples:
            digest.update(_bytes(example))
        return digest.hexdigest()

    @property
    def inputs(self) -> str:
        """What the examples are, in a word for sentences: texts or images."""
        return "images" if self.examples and self.examples[0].image is not None else "texts"

    def take(self, n: int, seed: int = 0) -> Dataset:
        """A random subset in the original order. With the same seed, a smaller subset is part of a larger one."""
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise SpecError(
                f"{n!r} examples requested; give a whole number of at least 1, or no limit for all {len(self)}"
            )
        if n >= len(self):
            return self
        chosen = generator("take", seed, len(self)).permutation(len(self))[:n]
        return replace(self, examples=tuple(self.examples[i] for i in np.sort(chosen)))

    def index_of(self, label: object) -> int:
        """The index of a label given by name or index."""
        names = self.labels or ()
        if isinstance(label, str) and label in names:
            return names.index(label)
        if isinstance(label, int | np.integer) and 0 <= label < len(names):
            return int(label)
        raise TargetError(f"{self.name or 'the data'} has no label {label!r}; {nearest(str(label), names)}")


def content_hash(example: Example) -> str:
    """A short hash of all that can change the explanation of one example."""
    return hashlib.sha256(_bytes(example)).hexdigest()[:16]


def _bytes(example: Example) -> bytes:
    """One example as bytes, identical on every machine."""
    pixels = b"" if example.image is None else _pixels(example.image)
    label = example.label.item() if isinstance(example.label, np.generic) else example.label
    fields: list[Any] = [example.id, example.text, example.text_pair, label, example.rationales]
    fields += [example.removed] if example.removed else []
    return json.dumps(fields).encode() + b"\x1e" + pixels + b"\x1d"


def _pixels(image: object) -> bytes:
    array = np.asarray(image)
    return str(array.shape).encode() + array.tobytes()
