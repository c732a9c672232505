"""From the scores of a method to Attributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.spec import Spec
from assay.core.types import Attribution, Cost, Scores, Target
from assay.models.encoding import Encoding
from assay.models.model import Model
from assay.models.target import Targets


def as_scores(result: Any) -> Scores:
    """What a method returned, as Scores."""
    return result if isinstance(result, Scores) else Scores(result)


def check_finite(scores: np.ndarray[Any, Any], method: Any, index: int) -> None:
    if not np.isfinite(scores).all():
        raise InputError(f"{Spec.of(method)} gave NaN or infinite scores; try dtype='float32' or another method", index)


def checked_scores(scores: Any, units: int, method: Any, index: int) -> NDArray[np.float64]:
    """Scores (U,) of the units of an input."""
    values = np.asarray(scores, np.float64)
    if values.shape != (units,):
        raise InputError(f"{Spec.of(method)} gave scores of the shape {values.shape} for {units} units", index)
    check_finite(values, method, index)
    return values


def targets_and_values(targets: Targets) -> list[tuple[Target, float]]:
    """The resolved target of each input and its value on the whole input."""
    if targets.full is None:
        raise RuntimeError("the logits of the whole inputs are not known")
    values = targets.values(targets.full.double()).tolist()
    return list(zip(targets.resolved, values, strict=True))


def attribution(
    model: Model,
    method: Any,
    encoding: Encoding,
    target_and_value: tuple[Target, float],
    scores: np.ndarray[Any, Any],
    cost: Cost,
    value_empty: float | None,
    extra: Mapping[str, Any],
) -> Attribution:
    """The Attribution of one input."""
    target, value_full = target_and_value
    return Attribution(
        units=encoding.units,
        scores=scores.astype(np.float32),
        target=target,
        label=model.labels[int(target.label or 0)],
        method=Spec.of(method),
        example_id=encoding.example.id,
        value_full=value_full,
        value_empty=value_empty,
        cost=cost,
        extra=dict(extra),
    )
