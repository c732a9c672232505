"""Return freed memory to the operating system."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


def trim_heap() -> None:
    """Return free pages of the C heap; does nothing without glibc.

    Results that outlive a chunk lie between the large buffers that the chunk freed. glibc keeps those holes, so memory
    would grow with the number of inputs.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        malloc_trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return malloc_trim
