"""Check for products of gradient and input: the length of a word embedding must affect the output."""

from __future__ import annotations

from assay.core.errors import UnsupportedError
from assay.models import hooks
from assay.models.model import Model


def need_length(model: Model) -> None:
    """Raise where v(a x) = v(x): then <dv/dx, x> = 0 (Euler), and any computed value is rounding error."""
    if not hooks.length_counts(model.hf):
        raise UnsupportedError(
            f"{model.name} normalises each word embedding by itself, so its length has no effect and the product of "
            "gradient and input is 0 up to rounding; use integrated_gradients, deep_lift or gradient"
        )
