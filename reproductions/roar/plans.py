"""The plans of the reproduction. Each is read once, because reading its data takes seconds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Store

HERE = Path(__file__).parent
PLANS = sorted(HERE.glob("*.yaml"))


@lru_cache
def load_plan(path: Path, store: Store) -> Plan:
    return read_plan(path, store)
