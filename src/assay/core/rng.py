"""Random generators seeded by what they are for, never by batch, slice or engine: comparisons stay paired."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_of(*key: object) -> int:
    """A 64-bit seed from any key of strings and numbers, the same on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:8], "little")


def generator(*key: object) -> np.random.Generator:
    """The generator of a key, e.g. (seed, method spec, example's content)."""
    return np.random.default_rng(seed_of(*key))
