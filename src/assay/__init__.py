"""Assay explains the predictions of transformer models and measures which explanations can be trusted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.core.errors import (
    AssayError,
    DataWarning,
    InputError,
    ModelError,
    SpecError,
    StoreError,
    TargetError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from assay.api.archive import pack, unpack
    from assay.api.attack import attack
    from assay.api.catalogue import catalogue
    from assay.api.create_study import create_study
    from assay.api.evaluate import evaluate
    from assay.api.explain import explain
    from assay.api.explain_file import explain_file
    from assay.api.fit import fit, load_explainer
    from assay.api.list_datasets import list_datasets
    from assay.api.randomise import randomise
    from assay.api.register import load_plugin, register
    from assay.api.report import report
    from assay.api.results import results
    from assay.api.roar import roar, roar_plan
    from assay.api.run import run
    from assay.api.simulate import simulate, simulate_plan
    from assay.api.status import status
    from assay.api.train import train
    from assay.core.attributions import Attributions
    from assay.core.explanations import Explanations
    from assay.core.types import Attribution, Cost, Example, Target, Unit
    from assay.datasets.load import load_dataset
    from assay.models.load import load_model, save_model
    from assay.models.prompt import Prompt

__version__ = "0.1.0"

# Imported on first use: torch and transformers take seconds to import, and `assay list` needs neither.
_LAZY = {
    "Attribution": "assay.core.types",
    "Attributions": "assay.core.attributions",
    "Cost": "assay.core.types",
    "Example": "assay.core.types",
    "Explanations": "assay.core.explanations",
    "Prompt": "assay.models.prompt",
    "Target": "assay.core.types",
    "Unit": "assay.core.types",
    "attack": "assay.api.attack",
    "catalogue": "assay.api.catalogue",
    "create_study": "assay.api.create_study",
    "evaluate": "assay.api.evaluate",
    "explain": "assay.api.explain",
    "explain_file": "assay.api.explain_file",
    "fit": "assay.api.fit",
    "list_datasets": "assay.api.list_datasets",
    "load_explainer": "assay.api.fit",
    "load_dataset": "assay.datasets.load",
    "load_model": "assay.models.load",
    "pack": "assay.api.archive",
    "load_plugin": "assay.api.register",
    "randomise": "assay.api.randomise",
    "register": "assay.api.register",
    "report": "assay.api.report",
    "results": "assay.api.results",
    "roar": "assay.api.roar",
    "roar_plan": "assay.api.roar",
    "run": "assay.api.run",
    "save_model": "assay.models.load",
    "simulate": "assay.api.simulate",
    "simulate_plan": "assay.api.simulate",
    "status": "assay.api.status",
    "train": "assay.api.train",
    "unpack": "assay.api.archive",
}

__all__ = [
    "AssayError",
    "Attribution",
    "Attributions",
    "Cost",
    "DataWarning",
    "Example",
    "Explanations",
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
    "catalogue",
    "create_study",
    "evaluate",
    "explain",
    "explain_file",
    "fit",
    "list_datasets",
    "load_dataset",
    "load_explainer",
    "load_model",
    "load_plugin",
    "pack",
    "randomise",
    "register",
    "report",
    "results",
    "roar",
    "roar_plan",
    "run",
    "save_model",
    "simulate",
    "simulate_plan",
    "status",
    "train",
    "unpack",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
