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
    all_examples: int
    units: int
    all_units: int
    rationale_units: int
    all_rationale_units: int

    @property
    def sentence(self) -> str:
        share = f"{self.units / self.all_units:.1%}"
        text = (
            f"{self.examples} of {self.all_examples} examples are longer than the model's limit: "
            f"{share} of all units lie past it, have no score and are left out of every metric."
        )
        if self.all_rationale_units:
            text += f" They include {self.rationale_units / self.all_rationale_units:.1%} of the rationale units."
        return text


def past_limit(evaluation: Evaluation) -> PastLimit | None:
    """None where the model reads everything."""
    units, hidden, marked, hidden_marked = evaluation.unit_counts.T
    if not hidden.any():
        return None
    sums = (int(counts.sum()) for counts in (hidden, units, hidden_marked, marked))
    return PastLimit(int((hidden > 0).sum()), len(units), *sums)
