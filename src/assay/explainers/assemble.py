"""From the scores of a method to Attributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.spec import Spec
from assay.core.types import Attribution, Cost, Scores, Target
from assay.models.encoding import Encoding
from assay.models.model import Model
from assay.models.target import Targets, scaled


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


class Known(NamedTuple):
    """What the model says about a whole input."""

    target: Target  # resolved
    value: float  # of the target
    probabilities: list[float]  # of all classes


def known_values(targets: Targets) -> list[Known]:
    """What the logits of the whole inputs say, which every method has computed."""
    if targets.full is None:
        raise RuntimeError("the logits of the whole inputs are not known")
    logits = targets.full.double()
    values = targets.values(logits).tolist()
    probabilities = scaled(logits, "probability", independent=targets.independent).tolist()
    return [Known(*row) for row in zip(targets.resolved, values, probabilities, strict=True)]


def attribution(
    model: Model,
    method: Any,
    encoding: Encoding,
    known: Known,
    scores: np.ndarray[Any, Any],
    cost: Cost,
    value_empty: float | None,
    extra: Mapping[str, Any],
) -> Attribution:
    """The Attribution of one input."""
    example = encoding.example
    named = None if model.task == "regression" else dict(zip(model.labels, known.probabilities, strict=True))
    return Attribution(
        units=encoding.units,
        scores=scores.astype(np.float32),
        target=known.target,
        label=model.labels[int(known.target.label or 0)],
        method=Spec.of(method),
        example_id=example.id,
        value_full=known.value,
        value_empty=value_empty,
        cost=cost,
        extra=dict(extra),
        probabilities=named,
        text=example.text,
        text_pair=example.text_pair,
        picture=encoding.picture,
        in_value=method.facts.signed,  # unsigned scores are norms, weights or ranks
    )
