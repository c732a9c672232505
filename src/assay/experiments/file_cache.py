"""What plans read from files, read once per plan: data sets, splits, and hashes of base models.

A plan is read again, in a notebook or a server, because something may have changed: then the files are read again too.
Otherwise an edited data file would keep its old records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_forget: list[Callable[[], None]] = []


def read_once(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the latest results of a function of hashable arguments that reads files."""

    def decorate(read: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(maxsize)(read)
        _forget.append(cached.cache_clear)
        return cached  # type: ignore[return-value]  # it takes what `read` takes

    return decorate


def read_again() -> None:
    """Forget what was read."""
    for forget in _forget:
        forget()
