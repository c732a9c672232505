"""Scores made elsewhere as a method: looked up by the text, and carried over to the units of the session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError, SpecError, TargetError
from assay.core.foreign import checked_name, shortened
from assay.core.foreign_file import read_scores, stem_of
from assay.core.placing import is_visible
from assay.core.types import Attribution, Example, Unit
from assay.explainers import METHODS
from assay.explainers.protocols import MethodFacts
from assay.models.target import check_number, label_index

Key = tuple[str | None, str | None]  # the visible characters of text and text_pair; None: not scored
Table = Mapping[Key, tuple[Attribution, ...]]


@dataclass(frozen=True)
class Given:
    """Scores that the caller brings. A unit gets its share, by characters, of every score that covers it.

    So the scores of smaller units are summed, that of a larger one is divided, and the total stays the same.
    """

    name: str
    digest: str  # of all scores, so that records of other scores are never reused
    table: Table = field(default_factory=dict, compare=False, repr=False, metadata={"spec": False})

    @cached_property
    def facts(self) -> MethodFacts:
        rows = [row for rows in self.table.values() for row in rows]
        return MethodFacts(
            scale="probability",
            signed=any((row.scores < 0).any() for row in rows),
            complete=False,
            class_dependent=any(row.label for row in rows),
            passes="made elsewhere, cost unknown",
            memory="n",
        )

    def read(self, example: Example, units: Sequence[Unit], label: str, labels: Sequence[str]) -> NDArray[np.float64]:
        row = self._one([row for row in self.of(example) if self._explains(row, label, labels)], example, label)
        return shared_out(row.units, row.scores, units)

    def check(self, examples: Iterable[Example]) -> None:
        """Raise unless every example has scores."""
        for number, example in enumerate(examples):
            try:
                self.of(example)
            except InputError as error:
                raise InputError(error.message, number) from error

    def of(self, example: Example) -> tuple[Attribution, ...]:
        """The scores of an example's text, for all classes; an error if there are none or the text differs."""
        text, pair = example.text, example.text_pair
        if text is None:
            raise InputError(f"the scores {self.name!r} are for texts; an image has none")
        whole = (visible(text), None if pair is None else visible(pair))
        keys: list[Key] = [whole, (whole[0], None), (None, whole[1])]
        rows = next((self.table[key] for key in keys if key in self.table), ())
        if not rows:
            cut = any(known and whole[0].startswith(known) for known, _ in self.table)
            raise InputError(
                f"the scores {self.name!r} have no entry for the text {shortened(text)}; the text must be the same, "
                "character by character" + "; one has only its beginning: give the whole texts (texts=...)" * cut
            )
        texts = (text, pair or "")
        if any(texts[u.segment][u.start : u.end] != u.text for row in rows for u in row.units if not u.is_special):
            raise InputError(f"the text {shortened(text)} has other white space than that of the scores {self.name!r}")
        return rows

    def has(self, example: Example, label: str, labels: Sequence[str]) -> bool:
        """Whether there are scores of this class."""
        return any(self._explains(row, label, labels) for row in self.of(example))

    def _explains(self, row: Attribution, label: str, labels: Sequence[str]) -> bool:
        """Whether a row is about this class; a regression has only one output."""
        if not row.label or len(labels) == 1:
            return True
        try:
            if isinstance(row.target.label, int) and row.label == str(row.target.label):  # given as a number
                check_number(row.target.label, labels)
            return label_index(row.label, list(labels)) == labels.index(label)
        except TargetError as error:
            raise InputError(f"the scores {self.name!r} explain an {error}") from error

    def _one(self, rows: Sequence[Attribution], example: Example, label: str) -> Attribution:
        """The only row, or the one of the example's id."""
        if not rows:
            others = sorted({row.label for row in self.of(example)})
            raise InputError(
                f"the scores {self.name!r} of {shortened(example.text)} explain {', '.join(map(repr, others))}, but "
                f"{label!r} is evaluated; add scores of that class, or choose the class with target (--target)"
            )
        same = [row for row in rows if row.example_id == example.id] if len(rows) > 1 else rows
        same = same or list(rows)
        if any(_scored(row) != _scored(same[0]) for row in same):
            raise InputError(
                f"the scores {self.name!r} have {len(rows)} different entries for {shortened(example.text)} and "
                f"{label!r}; keep one, or give each the id of its example ({example.id!r} here)"
            )
        return same[0]


def given_scores(name: str, attributions: Any) -> Given:
    """Attributions from anywhere as a method with a name of its own."""
    if checked_name(name) in METHODS.names:
        raise SpecError(f"{name!r} is a method of Assay; give the scores another name, such as 'my {name}'")
    rows = list(attributions) if isinstance(attributions, Iterable) else [attributions]
    if not all(isinstance(row, Attribution) for row in rows):
        kind = type(attributions).__name__
        raise InputError(f"the scores {name!r} are {kind}; give Attributions, such as Attributions.from_shap(...)")
    if not rows:
        raise InputError(f"the scores {name!r} are empty; give at least one text")
    if any(unit.box is not None for row in rows for unit in row.units):
        raise InputError(f"the scores {name!r} are of images; scores made elsewhere can only be of texts")
    table: dict[Key, tuple[Attribution, ...]] = {}
    for row in rows:
        key = _key(row)
        table[key] = (*table.get(key, ()), row)
    digest = hashlib.sha256("\n".join(sorted(map(_content, rows))).encode()).hexdigest()
    return Given(name, digest[:16], table)


def named_scores(given: Iterable[str | Given]) -> dict[str, Given]:
    """Scores by name, from files ("path" or "name=path") or as they are."""
    if not all(isinstance(item, str | Given) for item in given):
        raise SpecError('give scores as {"name": attributions}, or as files: ["shap.jsonl", "mine=other.jsonl"]')
    found = [scores for item in given for scores in ([item] if isinstance(item, Given) else _from_file(str(item)))]
    by_name: dict[str, Given] = {}
    for scores in found:
        if scores.name in by_name:
            raise SpecError(f"two files of scores are called {scores.name!r}; write name=path to tell them apart")
        by_name[scores.name] = scores
    return by_name


def _from_file(item: str) -> list[Given]:
    """The scores in a file; if its lines are of several methods, each is named after the file and the method."""
    name, equals, path = item.partition("=")
    name, path = (name.strip(), path) if equals else (stem_of(item), item)
    rows: dict[str, list[Attribution]] = {}
    for row in read_scores(Path(path).expanduser(), name):
        rows.setdefault(str(row.method.name), []).append(row)
    names = {method: name if len(rows) == 1 else f"{name}.{method}" for method in rows}
    return [given_scores(names[method], of_method) for method, of_method in rows.items()]


def shared_out(theirs: Sequence[Unit], scores: Any, ours: Sequence[Unit]) -> NDArray[np.float64]:
    """Scores of `theirs` on `ours`: each is divided among our units in proportion to the characters they share."""
    shared = _overlaps(theirs, ours)
    total = shared.sum(1, keepdims=True)
    values = np.asarray(scores, np.float64)
    return values @ np.divide(shared, total, out=np.zeros_like(shared), where=total > 0)  # type: ignore[no-any-return]


def _overlaps(theirs: Sequence[Unit], ours: Sequence[Unit]) -> NDArray[np.float64]:
    """(V,U) the number of characters that each two units share; 1 for the same special token."""
    one, other = (np.array([(u.segment, u.start, u.end) for u in units]).T for units in (theirs, ours))
    common = np.minimum.outer(one[2], other[2]) - np.maximum.outer(one[1], other[1])
    shared = np.where(np.equal.outer(one[0], other[0]), np.maximum(common, 0), 0).astype(np.float64)
    place = {(u.segment, u.start, u.text): i for i, u in enumerate(ours) if u.is_special}
    for v, unit in enumerate(theirs):
        if unit.is_special and (unit.segment, unit.start, unit.text) in place:
            shared[v, place[unit.segment, unit.start, unit.text]] = 1.0
    return shared


def visible(text: str) -> str:
    return "".join(filter(is_visible, text))


def _key(row: Attribution) -> Key:
    """The visible characters of each text; read from the units where an attribution does not hold its text."""
    if row.text is not None:
        return visible(row.text), None if row.text_pair is None else visible(row.text_pair)
    parts = []
    for segment in (0, 1):
        letters = {
            u.start + i: c for u in row.units if u.segment == segment and not u.is_special for i, c in enumerate(u.text)
        }
        parts.append(visible("".join(letters[i] for i in sorted(letters))) if letters else None)
    return parts[0], parts[1]


def _scored(row: Attribution) -> list[Any]:
    return [[u.segment, u.start, u.end, u.text, float(s)] for u, s in zip(row.units, row.scores, strict=True)]


def _content(row: Attribution) -> str:
    """Everything that a row says, as text."""
    return json.dumps([row.label, row.example_id, _scored(row)])
