"""What the model never read: units past its length limit have no score, and a reader must know how many."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from assay.core.types import Unit
from assay.evaluation.attribution_metric import rationale_units
from assay.experiments.evaluate import Evaluation
from assay.masking.units import divide


@dataclass(frozen=True)
class PastLimit:
    """Counts over all examples; `rationale` of units that a rationale marks."""

    examples: int
    of_examples: int
    units: int
    of_units: int
    rationale: int
    of_rationale: int

    @property
    def sentence(self) -> str:
        share = f"{self.units / self.of_units:.1%}"
        text = (
            f"{self.examples} of {self.of_examples} examples are longer than the model reads: "
            f"{share} of all units lie past the limit, have no score and are left out of every metric."
        )
        if self.of_rationale:
            text += f" They hold {self.rationale / self.of_rationale:.1%} of the units that rationales mark."
        return text


def past_limit(evaluation: Evaluation) -> PastLimit | None:
    """None where everything was read. Reads the inputs again, which costs no pass through the model."""
    if not evaluation.unseen.any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each long input, which this sums up
        units = [_units(evaluation, i) for i in range(len(evaluation.dataset))]
    marks = [rationale_units(part, example) for part, example in zip(units, evaluation.dataset, strict=True)]
    hidden = [[not unit.seen for unit in part] for part in units]
    return PastLimit(
        examples=int((evaluation.unseen > 0).sum()),
        of_examples=len(units),
        units=int(evaluation.unseen.sum()),
        of_units=sum(map(len, units)),
        rationale=sum(int(mark[h].sum()) for mark, h in zip(marks, hidden, strict=True)),
        of_rationale=sum(int(mark.sum()) for mark in marks),
    )


def _units(evaluation: Evaluation, i: int) -> tuple[Unit, ...]:
    settings = evaluation.settings
    return divide(evaluation.model.encode(evaluation.dataset[i]), settings["units"], settings["scope"]).units
