"""Progress on standard error: a bar with an ETA on a terminal, a line now and then where none watches."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from assay.core.console import Console

SHORT = 8  # up to this many steps need no bar
INTERVAL = 30.0  # seconds between two lines


class Progress:
    """`with Progress("explaining", 100) as bar: bar.advance(3)`.

    `show` None: a bar if there are many steps. Without a terminal there are lines instead, none for quick work.
    """

    def __init__(self, name: str, total: int | None, show: bool | None = None) -> None:
        watched = sys.stderr.isatty()
        long = total is None or total > SHORT
        self._lines = None if watched or show is False else Lines(name, total)
        self._bar = _bar(visible=watched and (long if show is None else show))
        self._task = self._bar.add_task(name, total=total)

    def __enter__(self) -> Progress:
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._bar.disable:  # old versions of rich print an empty line even then
            self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)
        if self._lines is not None:
            self._lines.advance(steps)


class Lines:
    """Lines of progress for logs, notebooks and pipes."""

    def __init__(self, name: str, total: int | None) -> None:
        self.name, self.total, self.done = name, total, 0
        self.started = self.printed = time.monotonic()

    def advance(self, steps: int) -> None:
        self.done += steps
        now = time.monotonic()
        if now - self.printed >= INTERVAL:
            self.printed = now
            Console(stderr=True, soft_wrap=True).print(self.line(now - self.started))

    def line(self, seconds: float) -> str:
        if self.total is None or not self.done:
            return f"{self.name}: {self.done:,} done in {clock(seconds)}"
        left = seconds / self.done * max(0, self.total - self.done)
        return f"{self.name}: {self.done:,} of {self.total:,} done in {clock(seconds)}, about {clock(left)} to go"


def clock(seconds: float) -> str:
    """1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _bar(*, visible: bool) -> RichProgress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    return RichProgress(*columns, console=Console(stderr=True), disable=not visible)
