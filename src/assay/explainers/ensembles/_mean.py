"""What all ensembles do with the scores of their members."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.types import Attribution, Floats


def mean_of_normalised(attributions: Sequence[Attribution]) -> Floats:
    """(U,): mean over members of scores / sum |scores|; signs stay, and all zeros stay zeros."""
    normalised = [a.scores / max(float(np.abs(a.scores).sum()), 1e-30) for a in attributions]
    mean: Floats = np.mean(normalised, axis=0)
    return mean


def called(name: str, **parameters: object) -> str:
    """The spec of a member; parameters that are None keep the method's own."""
    inside = ", ".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    return f"{name}({inside})" if inside else name
