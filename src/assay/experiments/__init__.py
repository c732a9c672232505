"""Runs: records keyed by everything that changes their numbers, kept so that an interrupted run goes on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.experiments.plan import read_plan
    from assay.experiments.runner import run
    from assay.experiments.tidy import results

__all__ = ["read_plan", "results", "run"]
_LAZY = {"read_plan": "plan", "results": "tidy", "run": "runner"}  # torch takes seconds, so not before it is used


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'assay.experiments' has no attribute {name!r}")
    return getattr(importlib.import_module(f"assay.experiments.{_LAZY[name]}"), name)
