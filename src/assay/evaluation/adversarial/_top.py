"""The top units of a ranking, as used by the attack and its measures."""

from __future__ import annotations

import math
from typing import Literal

from assay.core.ranges import SHARE as SHARES
from assay.core.ranges import check_range
from assay.core.types import Attribution
from assay.evaluation.attribution_metric import descending_order

AttackObjective = Literal["prediction_kept", "probability_matched"]
StepRule = Literal["sign", "gradient", "adam"]
SHARE = 0.15  # of the units, as in the thesis


def top_k(n: int, share: float) -> int:
    """floor(share n), at least 1; the small number is for 0.15 x 20 = 2.9999..."""
    return max(1, math.floor(share * n + 1e-9))


def ranking(attribution: Attribution) -> list[int]:
    """Units that the model reads, from the highest signed score to the lowest."""
    return [int(i) for i in descending_order(attribution.scores) if attribution.units[i].seen]


def check_share(share: float) -> None:
    check_range("share", share, SHARES)
