"""The result of an attack: can explanations be changed while the prediction stays the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.core.render import write_page
from assay.evaluation.adversarial.top_k_attack import summary
from assay.reports.method_style import short_names
from assay.reports.notebook import Block, Line
from assay.reports.study_result import StudyResult
from assay.studies.attack.study import Attack

MEASURED = ("gradient", "gradient_x_input", "integrated_gradients(tolerance=0.05)")  # for the default methods
TOO_FAR = (
    "Epsilon lets embeddings move by up to {reach} times their own size: the attacked inputs are no longer the given "
    "ones, so the rates below do not show how stable the explanations are."
)
MEASURE_NAMES = {
    "succeeded": "success rate",
    "rank_change": "rank change",
    "top_k_sum_change": "top-k sum change",
    "probability_change": "probability lost",
    "absolute_probability_change": "absolute probability change",
    "moved": "size of the move",
}


@dataclass(frozen=True, repr=False)
class Attacked(StudyResult):
    """Changes of explanations under an attack that preserves the prediction."""

    study: Attack

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """Per method and objective: the mean of every measure as [value, low, high]."""
        return summary(self.rows)

    @property
    def verdict(self) -> list[str]:
        """One sentence per objective, after one that says so if the inputs were no longer themselves."""
        reach = sum(row["epsilon_in_scale"] for row in self.rows) / len(self.rows)
        return [
            *([TOO_FAR.format(reach=f"{reach:.2g}")] if reach > 1 else []),
            *(_sentence(o, [r for r in self.summary if r["objective"] == o]) for o in self.study.objectives),
        ]

    @property
    def blocks(self) -> list[Block]:
        """The success rates, for each objective."""
        lines: dict[str, list[Line]] = {objective: [] for objective in self.study.objectives}
        names = short_names(self.methods)
        for row in self.summary:
            (rate, low, high), move = row["succeeded"], f"moving embeddings by {row['moved'][0]:.2g} times their size"
            lines[row["objective"]].append(Line(names[row["method"]], rate, low, high, move))
        return [Block(name, "success rate, lower is more stable", of_name) for name, of_name in lines.items()]

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write a self-contained page with heat maps before and after the attack."""
        from assay.studies.attack.page import page

        write_page(page(self, command), path)


def _sentence(objective: str, rows: Sequence[dict[str, Any]]) -> str:
    """On how many inputs the attack changed the top units of each method."""
    constraint = "the predicted class preserved" if objective == "prediction_kept" else "the probability matched"
    names = short_names([row["method"] for row in rows])
    shares = "; ".join(f"{names[row['method']]} {_rate(row)}" for row in rows)
    return f"With {constraint}, the attack changes the top of the explanation on this many inputs: {shares}."


def _rate(row: dict[str, Any]) -> str:
    """A rate never stands without the size of the move: any explanation changes if the input becomes another."""
    rate, low, high = row["succeeded"]
    return (
        f"{round(rate * row['n'])} of {row['n']} ({rate:.0%}, 95 % interval {low:.0%} to {high:.0%}), "
        f"moving embeddings by {row['moved'][0]:.2g} times their own size"
    )
