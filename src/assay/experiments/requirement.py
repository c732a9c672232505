"""Requirements such as "accuracy >= chance + 0.1" that a trained model must meet before it is studied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.errors import SpecError

PATTERN = re.compile(
    r"\s*(\w+)\s*(>=|<=)\s*(?:(chance|majority)\s*(?:\+\s*|$))?(\d+\.?\d*(?:e-?\d+)?|\.\d+(?:e-?\d+)?)?\s*"
)
EXAMPLES = "write e.g. 'accuracy >= chance + 0.1', 'macro_f1 >= 0.7' or 'loss <= 0.5'"


@dataclass(frozen=True)
class Requirement:
    """A bound on a validation score. `chance` is 1 / number of labels, `majority` the share of the largest label.

    Use `majority` where labels are not balanced.
    """

    score: str
    better: str  # ">=" or "<="
    floor: str | None  # chance, majority or none
    bound: float

    def __str__(self) -> str:
        floor = "" if self.floor is None else f"{self.floor} + "
        return f"{self.score} {self.better} {floor}{self.bound:g}"

    @staticmethod
    def parse(text: str) -> Requirement:
        match = PATTERN.fullmatch(text)
        if match is None or not (match[3] or match[4]):
            raise SpecError(f"cannot read the requirement {text!r}; {EXAMPLES}")
        return Requirement(match[1], match[2], match[3], float(match[4] or 0))

    def unmet(self, rows: Mapping[str, Any]) -> str | None:
        """Why the training with these rows does not meet it; None if it does."""
        scores = rows["validation"]
        if self.score not in scores:
            raise SpecError(
                f"the requirement {self}: the training has no score {self.score!r}; it has {', '.join(scores)}"
            )
        bound = self.bound + (float(rows[self.floor]) if self.floor else 0.0)
        value = float(scores[self.score])
        if value >= bound if self.better == ">=" else value <= bound:
            return None
        return f"validation {self.score} is {value:.4f}, but {self} ({bound:.4f}) is required"
