"""How composite methods run: they combine the attributions of other methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from assay.core.spec import Spec
from assay.core.types import Attribution, Cost
from assay.explainers.assemble import as_scores, check_finite


def combine(method: Any, parts: Sequence[Sequence[Attribution]]) -> list[Attribution]:
    """Attributions of a composite method from those of its parts, one per input."""
    combined = []
    for i, attributions in enumerate(zip(*parts, strict=True)):
        result = as_scores(method.combine(attributions))
        scores = np.asarray(result.scores, np.float32)
        check_finite(scores, method, i)
        cost = Cost(**{f.name: sum(getattr(a.cost, f.name) for a in attributions) for f in fields(Cost)})
        combined.append(
            replace(
                attributions[0],
                scores=scores,
                method=Spec.of(method),
                cost=cost,
                extra=dict(result.extra),
                in_value=False,
            )
        )
    return combined
