"""Random generators seeded by what they are used for, never by batch, slice or engine, so comparisons stay paired."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_of(*key: object) -> int:
    """A 64-bit seed from a key of strings and numbers; the same on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:8], "little")


def generator(*key: object) -> np.random.Generator:
    """The random generator of a key, e.g. (seed, method spec, content of the example)."""
    return np.random.default_rng(seed_of(*key))
