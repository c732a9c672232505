"""Assay explains the predictions of transformer models and measures which explanations can be trusted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError, InputError, ModelError, SpecError, StoreError, TargetError, UnsupportedError
from assay.core.types import Attribution, Cost, Example, Target, Unit

if TYPE_CHECKING:
    from assay.api.archive import pack, unpack
    from assay.api.attack import attack
    from assay.api.evaluate import evaluate
    from assay.api.randomise import randomise
    from assay.api.report import report
    from assay.api.results import results
    from assay.api.roar import roar, roar_plan
    from assay.api.run import run
    from assay.api.status import status
    from assay.api.train import train
    from assay.core.attributions import Attributions
    from assay.datasets.load import load_dataset
    from assay.explainers.explain import explain
    from assay.models.load import load_model, save_model
    from assay.models.prompt import Prompt

__version__ = "0.1.0"

# Imported on first use: torch and transformers take seconds, and `assay list` needs neither.
_LAZY = {
    "Attributions": "assay.core.attributions",
    "Prompt": "assay.models.prompt",
    "attack": "assay.api.attack",
    "evaluate": "assay.api.evaluate",
    "explain": "assay.explainers.explain",
    "load_dataset": "assay.datasets.load",
    "load_model": "assay.models.load",
    "pack": "assay.api.archive",
    "randomise": "assay.api.randomise",
    "report": "assay.api.report",
    "results": "assay.api.results",
    "roar": "assay.api.roar",
    "roar_plan": "assay.api.roar",
    "run": "assay.api.run",
    "save_model": "assay.models.load",
    "status": "assay.api.status",
    "train": "assay.api.train",
    "unpack": "assay.api.archive",
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
    "pack",
    "randomise",
    "report",
    "results",
    "roar",
    "roar_plan",
    "run",
    "save_model",
    "status",
    "train",
    "unpack",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
