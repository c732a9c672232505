"""What happened during a training, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Check:
    """One validation."""

    step: int
    epoch: float
    loss: float  # of training, mean over the items since the check before
    scores: Mapping[str, float]  # of validation
    learning_rate: float
    seconds: float = field(default=0.0, compare=False)  # of training so far, over all its runs


@dataclass(frozen=True)
class History:
    """All checks of a training and which of them was kept."""

    checks: tuple[Check, ...]
    best: int | None  # place among the checks; None: nothing was validated, the last weights are kept
    steps: int
    stopped: bool  # by patience, ahead of the last epoch
    seconds: float = field(default=0.0, compare=False)

    @property
    def kept(self) -> Check | None:
        """The check whose weights the model has now."""
        return None if self.best is None else self.checks[self.best]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "checks": [asdict(check) for check in self.checks]}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> History:
        return History(**{**data, "checks": tuple(Check(**check) for check in data["checks"])})
