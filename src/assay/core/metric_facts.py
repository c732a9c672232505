"""MetricFacts: what a metric declares about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.core.types import Scale


@dataclass(frozen=True, kw_only=True)
class MetricFacts:
    """The properties of a metric that listings, reports and record keys use."""

    better: Literal["higher", "lower"]
    range: str  # of the values, for people
    removal: str | None = None  # faithfulness only: overrides the protocol's removal
    scale: Scale | None = None  # faithfulness only: overrides the protocol's scale
    rationales: bool = False  # compares with rationales, which justify the gold label and not another prediction
    margin: float = 0.01  # smaller differences do not matter to anyone; see docs/statistics.md
    task: Literal["classification", "regression"] | None = None  # performance only
    revision: int = 1  # increased whenever the numbers change
