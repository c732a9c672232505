"""The protocol of a faithfulness metric in words: which shares of units are kept or removed, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.faithfulness.measuring import metric_removal
from assay.faithfulness.protocol import get_protocol
from assay.models.model import Model

MANY = 1000  # units of an imaginary text, enough that every share is a whole number of units


@dataclass(frozen=True)
class Steps:
    """The shares of units at which a metric evaluates the model."""

    verb: str  # what happens to the most important units: kept or removed
    shares: NDArray[np.float64]  # (K,)

    @property
    def one_by_one(self) -> bool:
        return len(self.shares) > MANY

    def at(self, points: int) -> NDArray[np.float64]:
        """The shares of a curve with this number of points; long curves are sampled evenly."""
        return self.shares if len(self.shares) == points else np.linspace(0, 1, points)


def steps(metric: Any) -> Steps:
    """The steps of a metric, read from its masks of an imaginary text."""
    keep = metric.keeps(np.arange(MANY))  # (K,U)
    keeps_top = bool(keep[~keep.all(1)][:, 0].any())  # the top unit stays in a partial mask
    share = keep.mean(1)
    return Steps("kept", share) if keeps_top else Steps("removed", 1 - share)


def protocol_words(metric: Any, model: Model) -> dict[str, str]:
    """Name and value of each line of the protocol."""
    rule, step = get_protocol(metric.protocol), steps(metric)
    used, wanted = metric_removal(model, metric).name, metric.facts.removal or rule.removal
    shares = "one by one" if step.one_by_one else ", ".join(f"{100 * s:g}" for s in step.shares) + " %"
    direction = "up" if rule.rounding == "ceil" else "down"
    at_least = f", at least {rule.minimum}" if rule.minimum else ""
    return {
        "protocol": metric.protocol,
        f"units {step.verb}": shares if step.one_by_one else f"{shares} (rounded {direction}{at_least})",
        "removal": used if used == wanted else f"{used}, because this model does not support {wanted}",
        "scale": "raw output" if model.task == "regression" else metric.facts.scale or rule.scale,
    }
