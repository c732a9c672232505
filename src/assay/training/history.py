"""The history of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Check:
    """One validation."""

    step: int
    epoch: float
    loss: float  # training loss, mean over the items since the last check
    scores: Mapping[str, float]  # validation scores
    learning_rate: float
    seconds: float = field(default=0.0, compare=False)  # total training time so far, across resumed runs


@dataclass(frozen=True)
class History:
    """All validations of a training run, and the best of them."""

    checks: tuple[Check, ...]
    best: int | None  # index into checks; None: never validated, the last weights are used
    steps: int
    stopped: bool  # early, by patience
    seconds: float = field(default=0.0, compare=False)

    @property
    def best_check(self) -> Check | None:
        """The validation whose weights the model has."""
        return None if self.best is None else self.checks[self.best]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "checks": [asdict(check) for check in self.checks]}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> History:
        return History(**{**data, "checks": tuple(Check(**check) for check in data["checks"])})
