"""Giving freed memory back to the system."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


def trim_heap() -> None:
    """Return free pages of the C heap. Results that outlive a chunk lie between the large buffers it has freed, and
    glibc would keep those holes, so that memory grew with the number of inputs. Does nothing on other systems."""
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return found
