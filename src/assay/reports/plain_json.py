"""Values for strict JSON, which has no NaN and no infinity."""

from __future__ import annotations

import math
from typing import Any


def plain(value: Any) -> Any:
    """Replace numbers that are not finite by None, in dicts and lists too."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
