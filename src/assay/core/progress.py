"""Progress on standard error: a bar with an ETA on a terminal, a line now and then where none watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from assay.core.console import Console

SHORT = 8  # up to this many steps need no bar
INTERVAL = 30.0  # seconds between two lines


class Progress:
    """`with Progress("explaining", 100) as bar: bar.advance(3)`.

    `show` None: a bar if there are many steps. Without a terminal there are lines instead, none for quick work.
    `now`: what is being done, for steps that take long.
    """

    def __init__(
        self, name: str, total: int | None, show: bool | None = None, now: Callable[[], str] | None = None
    ) -> None:
        watched = sys.stderr.isatty()
        long = total is None or total > SHORT
        self._lines = None if watched or show is False else Lines(name, total, now)
        self._bar = _bar(now, visible=watched and (long if show is None else show))
        self._task = self._bar.add_task(name, total=total)

    def __enter__(self) -> Progress:
        if not self._bar.disable:
            self._bar.start()
        if self._lines is not None:
            self._lines.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._bar.disable:  # old versions of rich print an empty line even then
            self._bar.stop()
        if self._lines is not None:
            self._lines.stop()

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)
        if self._lines is not None:
            self._lines.advance(steps)


class Lines:
    """Lines of progress for logs, notebooks and pipes. A thread prints them, so that one long step is not silent."""

    def __init__(self, name: str, total: int | None, now: Callable[[], str] | None = None) -> None:
        self.name, self.total, self.now, self.done = name, total, now, 0
        self.started = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._print, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def advance(self, steps: int) -> None:
        self.done += steps

    def _print(self) -> None:
        while not self._ended.wait(INTERVAL):
            Console(stderr=True, soft_wrap=True).print(self.line(time.monotonic() - self.started))

    def line(self, seconds: float) -> str:
        doing = f"; now {self.now()}" if self.now is not None else ""
        if self.total is None:
            return f"{self.name}: {self.done:,} done in {clock(seconds)}{doing}"
        done = f"{self.name}: {self.done:,} of {self.total:,} done in {clock(seconds)}"
        if not self.done:
            return done + doing
        left = seconds / self.done * max(0, self.total - self.done)
        return f"{done}, about {clock(left)} to go{doing}"


class Now(ProgressColumn):
    """What is being done, asked whenever the bar is drawn."""

    def __init__(self, now: Callable[[], str]) -> None:
        super().__init__()
        self.now = now

    def render(self, task: Task) -> Text:
        return Text(self.now(), overflow="ellipsis", no_wrap=True)


def clock(seconds: float) -> str:
    """1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _bar(now: Callable[[], str] | None, *, visible: bool) -> RichProgress:
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    ]
    if now is not None:
        columns.append(Now(now))
    return RichProgress(*columns, console=Console(stderr=True), disable=not visible)
