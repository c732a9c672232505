"""How a faithfulness metric meets a model: the removal and the scale it uses, and its values for orders of units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.types import Scale, Target
from assay.faithfulness.protocol import Ints, get_protocol
from assay.masking.game import Game
from assay.masking.removal import REMOVALS, Removal, removal_for
from assay.models.model import Model
from assay.models.target import values_of


def metric_removal(model: Model, metric: Any) -> Removal:
    """The removal of the metric or its protocol, or the model's default if the model does not support it."""
    removal: Removal = REMOVALS.make(metric.facts.removal or get_protocol(metric.protocol).removal)
    return removal if removal.available(model) is None else removal_for(model, None)


def target_values(model: Model, outputs: Any, target: Target, metric: Any) -> list[float]:
    """Class outputs (M,C) as values of the explained class on the metric's scale; regression is always raw."""
    scale: Scale = "raw" if model.task == "regression" else metric.facts.scale or get_protocol(metric.protocol).scale
    return [float(v) for v in values_of(outputs, target, scale, independent=model.task == "multi_label")]


def measured_orders(
    game: Game, full: NDArray[Any], orders: Sequence[Sequence[Ints]], targets: Sequence[Target], metric: Any
) -> list[list[float]]:
    """The metric of each order of each example. The game removes units as the metric does; `full` (B,C) are the outputs
    of the whole inputs. All masks run in one stream, equal ones once."""
    requests = [(i, metric.keeps(order)) for i, of_example in enumerate(orders) for order in of_example]
    out: list[list[float]] = [[] for _ in orders]
    for (i, _), outputs in zip(requests, game.outputs(requests), strict=True):
        whole, *masked = target_values(game.model, np.vstack([full[i], outputs]), targets[i], metric)
        out[i].append(metric.measure(np.array(masked), whole))
    return out
