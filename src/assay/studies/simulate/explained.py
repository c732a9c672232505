"""A method's explanations of the students' texts: computed once, kept in a folder, turned into shares of positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError, UnsupportedError
from assay.core.rng import generator
from assay.core.types import Span
from assay.evaluation.simulability.shares import entropy, shares, shuffled, spread
from assay.explainers.learned.parts.alignment import alignment
from assay.models.encoding import Encoding
from assay.training.teaching import Shares

FILE = "explanations.npz"


@dataclass(frozen=True)
class Explained:
    """The scores of one text's units, and where the teacher read them."""

    scores: NDArray[np.float32]  # (U,)
    unit_of: NDArray[np.int64]  # (T,) the unit of each position; -1: none
    spans: tuple[Span, ...]  # (T,)
    ids: NDArray[np.int64]  # (T,) what the teacher read, to recognise a student with the same tokenizer

    def is_read_by(self, encoding: Encoding) -> bool:
        """Whether the student reads the text as the teacher does."""
        return np.array_equal(self.ids, encoding.ids) and self.spans == encoding.spans

    def on_positions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of units, dealt evenly to their positions."""
        counts = np.bincount(self.unit_of[self.unit_of >= 0], minlength=len(values)).clip(1)
        return np.where(self.unit_of >= 0, (values / counts)[self.unit_of], 0.0)


def explained(encoding: Encoding, scores: NDArray[Any]) -> Explained:
    return Explained(scores[: encoding.players].astype(np.float32), encoding.unit_of, encoding.spans, encoding.ids)


def write(folder: Path, rows: Sequence[Explained]) -> None:
    arrays: dict[str, Any] = {
        "units": np.array([len(row.scores) for row in rows], np.int32),
        "positions": np.array([len(row.ids) for row in rows], np.int32),
        "scores": np.concatenate([row.scores for row in rows]),
        "unit_of": np.concatenate([row.unit_of for row in rows]).astype(np.int32),
        "ids": np.concatenate([row.ids for row in rows]).astype(np.int64),
        "spans": np.array([tuple(span) for row in rows for span in row.spans], np.int32).reshape(-1, 3),
    }
    np.savez_compressed(folder / FILE, **arrays)


def read(folder: Path) -> list[Explained]:
    with np.load(folder / FILE, allow_pickle=False) as file:
        arrays = dict(file)
    units, positions = (np.cumsum(arrays[name])[:-1] for name in ("units", "positions"))
    scores = np.split(arrays["scores"], units)
    rest = (np.split(arrays[name], positions) for name in ("unit_of", "ids", "spans"))
    return [
        Explained(s, u.astype(np.int64), tuple(Span(*map(int, span)) for span in spans), ids)
        for s, u, ids, spans in zip(scores, *rest, strict=True)
    ]


@dataclass(frozen=True)
class Lesson:
    """How a method's scores become what the student is taught."""

    temperature: float | None  # of the softmax; None: scores are shares already
    relative: bool = False  # the temperature is in units of the scores' own spread
    control: str | None = None  # "uniform" (needs no explanations) or "shuffled"
    seed: int = 0  # of the shuffle

    def taught(self, rows: Sequence[Explained], encodings: Sequence[Encoding]) -> dict[str, Shares]:
        """What a student is taught about each text, by the text's content: shares of the student's own positions."""
        temperature = self.temperature
        if temperature is not None and self.relative:
            temperature = temperature * spread([row.scores for row in rows])
        return {
            encoding.example.content: self._taught(row, shares(row.scores, temperature), encoding)
            for row, encoding in zip(rows, encodings, strict=True)
        }

    def _taught(self, row: Explained, values: NDArray[np.float64], encoding: Encoding) -> Shares:
        """The control is shuffled last, so that the student is told shares of the same entropy."""
        rng = generator("shuffled explanation", self.seed, encoding.example.content)
        mixed, same = self.control == "shuffled", row.is_read_by(encoding)
        if same:
            ours = row.on_positions(shuffled(values, rng) if mixed else values)
        else:
            ours = _carried(row.on_positions(values), row.spans, encoding)
        total = ours.sum()
        if total <= 0:
            raise InputError(f"no explained part of {str(encoding.example)[:80]} is among what the student reads")
        if mixed and not same:
            words = [i for i, span in enumerate(encoding.spans) if span.segment >= 0]  # special tokens have no share
            ours[words] = shuffled(ours[words], rng)
        out: Shares = (ours / total).astype(np.float32)
        return out


def uniform(encodings: Sequence[Encoding]) -> tuple[dict[str, Shares], float]:
    """The same share for every position, special tokens included, and the mean entropy of that."""
    rows = {e.example.content: np.full(len(e), 1 / len(e), np.float32) for e in encodings}
    return rows, mean_entropy(rows.values())


def mean_entropy(values: Iterable[NDArray[np.floating]]) -> float:
    return float(np.mean([entropy(row) for row in values]))


def _carried(theirs: NDArray[np.float64], spans: Sequence[Span], encoding: Encoding) -> NDArray[np.float64]:
    """Shares of the teacher's tokens, dealt evenly to the student's tokens with the same characters.

    Special tokens have no characters, and what the student does not read has no tokens: their shares are left out.
    """
    if encoding.pixels is not None:
        raise UnsupportedError(
            "teacher and student cut images into different patches, so explanations cannot be handed over; choose a "
            "student with the same patch size and image size"
        )
    out = np.zeros(len(encoding))
    lists = alignment(spans, encoding.spans, whole=not encoding.unseen)
    for share, found in zip(theirs, lists, strict=True):
        if found:
            out[found] += share / len(found)
    return out


def check_alike(rows: Mapping[str, Any]) -> None:
    """Refuse a teacher that gives one answer to every text: a student would have nothing to learn."""
    answers = [answer for part in rows["answers"].values() for answer in part]
    if len(set(answers)) == 1:
        answer = answers[0] if rows["task"] == "regression" else rows["labels"][answers[0]]
        raise InputError(
            f"the teacher answers {answer!r} to all {len(answers):,} texts, so a student has nothing to learn; "
            "give other data or another teacher"
        )
