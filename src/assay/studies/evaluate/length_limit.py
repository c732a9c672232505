"""Units past the model's length limit: the model did not read them, so they have no score."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from assay.core.types import Unit
from assay.evaluation.gold import true_units
from assay.masking.units import divide
from assay.studies.evaluate.evaluation import Evaluation


@dataclass(frozen=True)
class PastLimit:
    """Examples, units and rationale units past the length limit, each with the total."""

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
    """Count what lies past the length limit; None if the model read everything. Tokenises the data again."""
    if not evaluation.unseen.any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each long input, which this sums up
        units = [_units(evaluation, i) for i in range(len(evaluation.dataset))]
    marks = [true_units(of_example, example) for of_example, example in zip(units, evaluation.dataset, strict=True)]
    unseen = [[not unit.seen for unit in of_example] for of_example in units]
    return PastLimit(
        examples=int((evaluation.unseen > 0).sum()),
        total_examples=len(units),
        units=int(evaluation.unseen.sum()),
        total_units=sum(map(len, units)),
        rationale_units=sum(int(marked[hidden].sum()) for marked, hidden in zip(marks, unseen, strict=True)),
        total_rationale_units=sum(int(marked.sum()) for marked in marks),
    )


def _units(evaluation: Evaluation, i: int) -> tuple[Unit, ...]:
    settings = evaluation.settings
    return divide(evaluation.model.encode(evaluation.dataset[i]), settings["units"], settings["scope"]).units
