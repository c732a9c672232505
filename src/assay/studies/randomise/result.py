"""The result of a layer randomisation: do explanations change when the model's blocks are re-initialised?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.render import write_page
from assay.evaluation.sanity.layer_randomisation import summary
from assay.explainers.methods import learned_parts
from assay.reports.method_style import short_names
from assay.reports.notebook import Block, Line
from assay.reports.study_result import StudyResult
from assay.statistics.sentences import listed
from assay.studies.randomise.study import Randomise

# For one method, and for several. Re-initialising all blocks is the sanity check, which a method passes or fails;
# re-initialising one shows how much depends on that block.
CHECK = {
    "lost": (
        "{names} passes the check: its correlation with the original scores falls below {half}",
        "{names} pass the check: their correlation with the original scores falls below {half}",
    ),
    "preserved": (
        "{names} fails the check: its correlation stays above {half}, so it does not explain what the model learnt",
        "{names} fail the check: their correlation stays above {half}, so they do not explain what the model learnt",
    ),
    "undecided": ("the check is inconclusive for {names}",) * 2,
}
EFFECT = {
    "lost": ("the correlation of {names} with the original scores falls below {half}",) * 2,
    "preserved": ("the correlation of {names} with the original scores stays above {half}",) * 2,
    "undecided": ("the result for {names} is inconclusive",) * 2,
}
HALF = 0.5  # a correlation whose interval lies above it is preserved, one whose interval lies below it is lost


@dataclass(frozen=True, repr=False)
class Randomised(StudyResult):
    """Correlations of explanations before and after re-initialising blocks."""

    study: Randomise

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """Per method, mode and block: mean Spearman correlation with its interval."""
        return summary(self.rows)

    def deepest(self, mode: str) -> dict[str, dict[str, Any]]:
        """Per method: the summary with all blocks re-initialised (cascading), or that of the lowest correlation."""
        rows = [row for row in self.summary if row["mode"] == mode]
        if mode == "cascading":
            return {row["method"]: row for row in rows if row["block"] == 0}
        by_method = {m: [r for r in rows if r["method"] == m] for m in self.methods}
        return {m: min(known, key=lambda r: r["spearman"]) for m, known in by_method.items() if known}

    @property
    def verdict(self) -> list[str]:
        """One sentence per mode, and how to read it for explainers that were fitted."""
        if not self.summary:
            return ["No input has two units or more, so there is no order of scores to compare."]
        return [*(_sentence(mode, self.deepest(mode)) for mode in self.study.modes), *_fitted(self.study.methods)]

    @property
    def blocks(self) -> list[Block]:
        """The correlations after re-initialising, for each mode."""
        names = short_names(self.methods)
        return [
            Block(
                mode,
                "Spearman's correlation with the original scores",
                [Line(names[m], row["spearman"], row["low"], row["high"]) for m, row in self.deepest(mode).items()],
            )
            for mode in self.study.modes
        ]

    def output(self, mode: str, block: int | None) -> float | None:
        """The model's mean output for the explained class with a block re-initialised; None: that of the intact model.

        Records of earlier versions do not hold that of the intact model.
        """
        name = "value_intact" if block is None else "value"
        rows = [r for r in self.rows if r["method"] == self.methods[0] and r["mode"] == mode]
        values = [r.get(name) for r in rows if block is None or r["block"] == block]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write a self-contained page with a curve over the blocks per method."""
        from assay.studies.randomise.page import page

        write_page(page(self, command), path)


def _fitted(methods: Sequence[Any]) -> list[str]:
    names = list(dict.fromkeys(part.title for method in methods for part in learned_parts(method)))
    if not names:
        return []
    were = "was" if len(names) == 1 else "were"
    return [
        f"{listed(names)} {were} fitted to the intact model and not again to the randomised ones: scores that stay "
        "the same follow the text rather than the model; scores that change depend on the model, which does not make "
        "them right."
    ]


def _sentence(mode: str, deepest: dict[str, dict[str, Any]]) -> str:
    """Which methods lose their correlation, which keep it, and which are undecided."""
    names = short_names(list(deepest))
    rows = {names[method]: row for method, row in deepest.items()}
    lost = [m for m, row in rows.items() if row["high"] < HALF]
    preserved = [m for m, row in rows.items() if row["low"] > HALF]
    undecided = [m for m in rows if m not in lost + preserved]
    words = CHECK if mode == "cascading" else EFFECT
    clauses = [
        words[outcome][len(named) > 1].format(names=listed(named), half=HALF)
        for outcome, named in (("lost", lost), ("preserved", preserved), ("undecided", undecided))
        if named
    ]
    condition = (
        "With all blocks re-initialised"
        if mode == "cascading"
        else "With only the most influential block re-initialised"
    )
    return f"{condition}, {'; '.join(clauses)}."
