"""Notices: remarks on single inputs that are counted while a verb runs and said once when it ends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class _Tally:
    """The inputs that a notice is about, and the largest number it was given."""

    kind: str
    inputs: set[object] = field(default_factory=set)
    most: int = 0


@dataclass
class _Counted:
    tallies: dict[str, _Tally] = field(default_factory=dict)  # by message
    total: int | None = None

    def add(self, message: str, tally: _Tally) -> None:
        known = self.tallies.setdefault(message, _Tally(tally.kind))
        known.inputs |= tally.inputs
        known.most = max(known.most, tally.most)

    def sentences(self) -> list[str]:
        return [filled(message, len(t.inputs), self.total, t.most) for message, t in self.tallies.items()]


_open: ContextVar[_Counted | None] = ContextVar("notices", default=None)


def notice(kind: str, message: str, about: object = None, most: int = 0) -> None:
    """Remark on an input. In the message, "{inputs} {are}" becomes "12 inputs are" and {most} the largest `most`.

    about: what identifies the input, so that it counts once however often it is read. Outside a verb, the remark is
    said at once.
    """
    counted = _open.get()
    if counted is None:
        warnings.warn(filled(message, 1, None, most), stacklevel=3)
    else:
        counted.add(message, _Tally(kind, {about}, most))


def out_of(total: int | None) -> None:
    """Say counts out of this total while the verb runs: "12 of 40 inputs"."""
    if (counted := _open.get()) is not None:
        counted.total = total


def filled(message: str, count: int, total: int | None, most: int) -> str:
    """A message with its numbers."""
    number = f"{count:,}" if total is None or total == count else f"{count:,} of {total:,}"
    words = {
        "{inputs}": f"{number} input{'s' * ((total or count) != 1)}",
        "{are}": "is" if count == 1 else "are",
        "{most}": f"{most:,}" if count == 1 else f"up to {most:,}",
    }
    for slot, value in words.items():
        message = message.replace(slot, value)
    return message


def said_once(verb: Callable[P, R]) -> Callable[P, R]:
    """A verb whose notices become one warning each when it ends; those of a verb within it join them."""

    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if _open.get() is not None:
            return verb(*args, **kwargs)
        counted = _Counted()
        token = _open.set(counted)
        try:
            result = verb(*args, **kwargs)
        finally:
            _open.reset(token)
        for sentence in counted.sentences():
            warnings.warn(sentence, stacklevel=2)
        return result

    return run


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect notices in a list, filled at the end, instead of warning: for pages."""
    sentences: list[str] = []
    counted = _Counted()
    token = _open.set(counted)
    try:
        yield sentences
    finally:
        _open.reset(token)
        sentences += counted.sentences()


@contextmanager
def unsaid(*kinds: str) -> Iterator[None]:
    """Leave out notices of these kinds: the caller says them in its own way."""
    outer, inner = _open.get(), _Counted()
    token = _open.set(inner)
    try:
        yield
    finally:
        _open.reset(token)
    for message, tally in inner.tallies.items():
        if tally.kind in kinds:
            continue
        if outer is not None:
            outer.add(message, tally)
        else:
            warnings.warn(filled(message, len(tally.inputs), None, tally.most), stacklevel=3)
