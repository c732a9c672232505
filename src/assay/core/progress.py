"""A progress bar with an ETA on standard error; hidden without a terminal and for short work."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

SHORT = 8  # up to this many steps need no bar


class Progress:
    """`with Progress("explaining", 100) as bar: bar.advance(3)`. `show` None: on a terminal, if the work is long."""

    def __init__(self, name: str, total: int | None, show: bool | None = None) -> None:
        visible = sys.stderr.isatty() and (total is None or total > SHORT)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
        )
        self._bar = RichProgress(
            *columns, console=Console(stderr=True), disable=not (visible if show is None else show)
        )
        self._task = self._bar.add_task(name, total=total)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)
