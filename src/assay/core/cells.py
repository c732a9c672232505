"""Cells of tables as plain Python values."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

import numpy as np


def plain_cell(value: Any) -> Any:
    """A cell as a Python value; None where it is missing (NaN, NaT, NA)."""
    if isinstance(value, np.generic):
        value = value.item()
    missing = (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    return None if missing else value


def parse_cell(value: Any) -> Any:
    """Lists and objects that are written as text (JSON, or as Python prints them), and arrays, as lists and dicts."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        for read in (json.loads, _literal):
            try:
                return read(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):  # what either raises, nested ones too
                continue
    return value


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in texts that happen to start with a bracket
        return ast.literal_eval(text)
