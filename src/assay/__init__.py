"""Assay explains the predictions of transformer models and proves which explanations can be trusted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError, InputError, ModelError, SpecError, StoreError, TargetError, UnsupportedError
from assay.core.types import Attribution, Cost, Example, Target, Unit

if TYPE_CHECKING:
    from assay.api.explain import explain
    from assay.core.attributions import Attributions
    from assay.datasets.load import load_dataset
    from assay.experiments.runner import run
    from assay.models.load import load_model, save_model
    from assay.models.prompt import Prompt
    from assay.reports.attack import attack
    from assay.reports.plan_report import report
    from assay.reports.randomise import randomise
    from assay.reports.result import evaluate

__version__ = "0.1.0"

# Imported on first use: torch and transformers take seconds, and `assay list` needs neither.
_LAZY = {
    "Attributions": "assay.core.attributions",
    "Prompt": "assay.models.prompt",
    "attack": "assay.reports.attack",
    "evaluate": "assay.reports.result",
    "explain": "assay.api.explain",
    "load_dataset": "assay.datasets.load",
    "load_model": "assay.models.load",
    "randomise": "assay.reports.randomise",
    "report": "assay.reports.plan_report",
    "run": "assay.experiments.runner",
    "save_model": "assay.models.load",
}

__all__ = [
    "AssayError",
    "Attribution",
    "Attributions",
    "Cost",
    "Example",
    "InputError",
    "ModelError",
    "Prompt",
    "SpecError",
    "StoreError",
    "Target",
    "TargetError",
    "Unit",
    "UnsupportedError",
    "attack",
    "evaluate",
    "explain",
    "load_dataset",
    "load_model",
    "randomise",
    "report",
    "run",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
