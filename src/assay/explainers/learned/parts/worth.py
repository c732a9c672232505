"""Whether a fitted explainer is worth using: its score on held-out texts against that of a random order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

CLEAR = 2.0  # standard errors
MASKING = ", and check that the model reacts to masking at all (`assay evaluate`)"


def control_name(card: Mapping[str, Any]) -> str:
    """What an explainer must beat; a random order unless its card names another control."""
    return str(card.get("control", "a random order"))


def advice(card: Mapping[str, Any]) -> str:
    """What to do about a doubt; explainers with a control of their own are not learnt from masks."""
    return f"Fit on more texts or for more epochs{'' if 'control' in card else MASKING}."


def _error(card: Mapping[str, Any]) -> float | None:
    """The standard error of the gain over the control; where the card has none, that of a score on its texts."""
    found = card["validation"]
    texts = card.get("data", {}).get("validation", {}).get("examples", 0)
    if found.get("error") is not None or texts < 2:
        return found.get("error")  # type: ignore[no-any-return]
    best = found["best"]
    if card["metric"] == "accuracy":
        return math.sqrt(best * (1 - best) / texts)
    return (1 - best**2) / math.sqrt(texts - 1) if card["metric"] == "pearson" else None


def doubt(card: Mapping[str, Any]) -> str:
    """Why an explainer should not be used, in a sentence that follows its name; empty if it beats a random order."""
    found = card["validation"]
    best, random = found["best"], found["random"]
    if best is None:
        return "was fitted without a validation, so nothing is known about it: do not use it."
    gain = (best - random) * (1 if card["better"] == "higher" else -1)
    control = control_name(card)
    numbers = f"{card['metric']} {best:.4f}, of {control} {random:.4f}"
    if not gain > 0:
        return f"is no better than {control} on the texts that chose its checkpoint ({numbers}): do not use it."
    if (error := _error(card)) is not None and gain < CLEAR * error:
        return (
            f"is not clearly better than {control} on the texts that chose its checkpoint ({numbers}, standard "
            f"error of the difference {error:.4f}): judge it on other texts before you use it."
        )
    return ""
