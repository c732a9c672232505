"""One thread at a time in a wrapped model.

Hooks, flags and weights that are replaced for a moment belong to the transformers model, and some switches to the
whole process. Two threads that change them at once would get each other's scores without an error.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from torch import nn

from assay.core import interrupts

PROCESS = threading.RLock()
"""For switches of the whole process: the random state, kernels, loading. Taken after a model's lock, never before, so
that two threads cannot wait for each other."""
WAIT = 0.2  # seconds between looks for Ctrl-C while another thread has the model
_locks: WeakKeyDictionary[nn.Module, threading.RLock] = WeakKeyDictionary()
_table = threading.Lock()


@contextmanager
def exclusive(model: nn.Module) -> Iterator[None]:
    """Keep other threads out of a model, and Ctrl-C out of half-made changes to it."""
    lock = _lock_of(model)
    with interrupts.deferred():
        while not lock.acquire(timeout=WAIT):
            interrupts.check()
        try:
            yield
        finally:
            lock.release()


def _lock_of(model: nn.Module) -> threading.RLock:
    lock = _locks.get(model)
    if lock is None:
        with _table:  # a model in several wrappers has one lock
            lock = _locks.setdefault(model, threading.RLock())
    return lock
