"""Rules: "accuracy >= chance + 0.1", what a trained model must reach before anything is made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.errors import SpecError

FORM = re.compile(r"\s*(\w+)\s*(>=|<=)\s*(?:(chance|majority)\s*(?:\+\s*|$))?([\d.]+(?:e-?\d+)?)?\s*")
HOW = "write e.g. 'accuracy >= chance + 0.1', 'macro_f1 >= 0.7' or 'loss <= 0.5'"


@dataclass(frozen=True)
class Requirement:
    """A bound on a validation score; `chance` is one over the number of labels, `majority` the largest label's share.

    Known weakness: chance is the right floor for accuracy on balanced labels only; use majority where they are not.
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
        found = FORM.fullmatch(text)
        if found is None or not (found[3] or found[4]):
            raise SpecError(f"cannot read the rule {text!r}; {HOW}")
        return Requirement(found[1], found[2], found[3], float(found[4] or 0))

    def broken(self, rows: Mapping[str, Any]) -> str | None:
        """None, or why a model with the rows of this training is not good enough."""
        scores = rows["validation"]
        if self.score not in scores:
            raise SpecError(f"the rule {self}: the training has no score {self.score!r}; it has {', '.join(scores)}")
        bound = self.bound + (float(rows[self.floor]) if self.floor else 0.0)
        value = float(scores[self.score])
        if value >= bound if self.better == ">=" else value <= bound:
            return None
        return f"validation {self.score} is {value:.4f}, but {self} ({bound:.4f}) is required"
