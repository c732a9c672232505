"""What a faithfulness metric did to the inputs, found out by asking it: which shares, kept or removed, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.faithfulness.protocol import get_protocol
from assay.models.model import Model
from assay.studies.evaluate.task import metric_removal

MANY = 1000  # units of an imaginary text, so many that every share is a whole number of them


@dataclass(frozen=True)
class Steps:
    """Where the points of a metric's curve lie."""

    verb: str  # what happens to the most important units: kept or removed
    shares: NDArray[np.float64]  # (K,)

    @property
    def one_by_one(self) -> bool:
        return len(self.shares) > MANY

    def at(self, points: int) -> NDArray[np.float64]:
        """The shares of a curve of so many points; a long curve was drawn at even places."""
        return self.shares if len(self.shares) == points else np.linspace(0, 1, points)


def steps(metric: Any) -> Steps:
    """Every metric's masks are prefixes of an order, so one imaginary order tells all."""
    keep = metric.keeps(np.arange(MANY))  # (K,U)
    kept = bool(keep[~keep.all(1)][:, 0].any())  # the first unit stays in a mask that is not whole
    share = keep.mean(1)
    return Steps("kept", share) if kept else Steps("removed", 1 - share)


def protocol_words(metric: Any, model: Model) -> dict[str, str]:
    """The protocol in words, line by line."""
    rule, step = get_protocol(metric.protocol), steps(metric)
    used, wanted = metric_removal(model, metric).name, metric.facts.removal or rule.removal
    shares = "one by one" if step.one_by_one else ", ".join(f"{100 * s:g}" for s in step.shares) + " %"
    at_least = f", at least {rule.minimum}" if rule.minimum else ""
    return {
        "protocol": metric.protocol,
        f"units {step.verb}": shares if step.one_by_one else f"{shares} (rounded {_way(rule.rounding)}{at_least})",
        "removal": used if used == wanted else f"{used}, because this model cannot have {wanted}",
        "scale": "raw output" if model.task == "regression" else metric.facts.scale or rule.scale,
    }


def _way(rounding: str) -> str:
    return "up" if rounding == "ceil" else "down"
