"""How much of the data lies past the model's length limit, where units have no score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.studies.evaluate.evaluation import Evaluation


@dataclass(frozen=True)
class PastLimit:
    """Counts over all examples; `rationale_units` are those that a rationale marks."""

    examples: int
    total_examples: int
    units: int
    total_units: int
    rationale_units: int
    total_rationale_units: int

    @property
    def sentence(self) -> str:
        text = (
            f"{self.examples} of {self.total_examples} examples exceed the model's length limit: "
            f"{self.units / self.total_units:.1%} of all units were not read, have no score and are left out of every "
            "metric."
        )
        if self.total_rationale_units:
            share = self.rationale_units / self.total_rationale_units
            text += f" They include {share:.1%} of the units marked by rationales."
        return text


def past_limit(evaluation: Evaluation) -> PastLimit | None:
    """None where the model reads everything."""
    units, hidden, marked, hidden_marked = evaluation.unit_counts.T
    if not hidden.any():
        return None
    sums = (int(counts.sum()) for counts in (hidden, units, hidden_marked, marked))
    return PastLimit(int((hidden > 0).sum()), len(units), *sums)
