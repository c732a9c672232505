"""Packages that not everybody needs: imported on use."""

from __future__ import annotations

import importlib
from typing import Any

from assay.core.errors import AssayError


def optional(module: str, extra: str) -> Any:
    """Import a module of an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise AssayError(f"this needs {package}; install it with: pip install 'assay[{extra}]'") from error
