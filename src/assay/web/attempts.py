"""Log-in attempts that failed, counted in memory: a flood of them writes nothing.

An attempt counts from its start, so guesses that are sent at once are limited like those that wait for each other.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from assay.core.errors import AssayError

WINDOW = 900.0  # seconds
LIMITS = {"name": 8, "address": 40}  # failures in a window
REMEMBERED = 20_000  # keys; the oldest are forgotten


class TooManyAttemptsError(AssayError):
    """Somebody is guessing a password."""


@dataclass
class Attempts:
    """Failures by key, such as "name ada" or "address 10.0.0.1"."""

    clock: Callable[[], float] = time.monotonic
    failures: dict[str, deque[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *keys: str) -> None:
        """Count an attempt, or raise if there were too many."""
        with self.lock:
            for key in keys:
                recent = self._recent(key)
                if len(recent) >= LIMITS[key.partition(" ")[0]]:
                    minutes = max(1, round((recent[0] + WINDOW - self.clock()) / 60))
                    raise TooManyAttemptsError(
                        f"Too many failed attempts. Try again in {minutes} minute{'s' * (minutes != 1)}."
                    )
            for key in keys:
                recent = self.failures[key] = self._recent(key)
                recent.append(self.clock())
            while len(self.failures) > REMEMBERED:
                self.failures.pop(next(iter(self.failures)))

    def succeeded(self, *keys: str) -> None:
        """Forget the failures of a name; of an address only this attempt: its failures were guesses at other names."""
        with self.lock:
            for key in keys:
                if key.startswith("name "):
                    self.failures.pop(key, None)
                elif recent := self._recent(key):
                    recent.pop()

    def _recent(self, key: str) -> deque[float]:
        times = self.failures.get(key, deque())
        while times and times[0] < self.clock() - WINDOW:
            times.popleft()
        return times
