"""Ctrl-C that waits until nothing is half changed, and work in other threads that can be cancelled.

Python may raise KeyboardInterrupt between any two instructions, also inside a `finally` that is putting something
back. Inside `deferred`, Ctrl-C is only noted; `check` raises it where that is safe, and so does the end of the context.
The same places ask a function whether to go on, inside `cancellable`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

IMPATIENT = 3  # this many presses raise at once: a pass that never ends must not trap the user

_ask: ContextVar[Callable[[], None] | None] = ContextVar("cancellable", default=None)


class Cancelled(BaseException):
    """Somebody does not want the result any more. Like KeyboardInterrupt, it is no error that code may catch."""


class _State:
    """The process has one handler of SIGINT, so there is one state; only the main thread touches it."""

    depth = 0
    presses = 0
    handler: Any = None  # the handler that was installed before


@contextmanager
def deferred() -> Iterator[None]:
    """Note Ctrl-C instead of raising it; nests. Other threads are never interrupted, and need no deferral."""
    if threading.current_thread() is not threading.main_thread() or not _install():
        yield
        return
    try:
        yield
    finally:
        _uninstall()


@contextmanager
def cancellable(ask: Callable[[], None]) -> Iterator[None]:
    """Call `ask` before every pass through a model; it may raise Cancelled."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


def check() -> None:
    """Raise a noted Ctrl-C, or Cancelled. Call where every context manager in between may run its exit."""
    if (ask := _ask.get()) is not None:
        ask()
    if _State.depth and _State.presses and threading.current_thread() is threading.main_thread():
        _State.presses = 0
        _State.handler(signal.SIGINT, None)


def _install() -> bool:
    if _State.depth == 0:
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # ignored, or handled outside Python: no exception can come
            return False
        _State.presses, _State.handler = 0, handler
        signal.signal(signal.SIGINT, _note)
    _State.depth += 1
    return True


def _uninstall() -> None:
    _State.depth -= 1
    if _State.depth == 0:
        signal.signal(signal.SIGINT, _State.handler)  # first: a press that comes later raises by itself
        if _State.presses:
            signal.raise_signal(signal.SIGINT)


def _note(signum: int, frame: FrameType | None) -> None:
    _State.presses += 1
    if _State.presses >= IMPATIENT:
        _State.handler(signum, frame)
