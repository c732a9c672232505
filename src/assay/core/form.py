"""Checks of the form of classes that users write."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any


def why_not_frozen(candidate: Any) -> str | None:
    """Parameters are fields of a frozen dataclass: they become part of names and of the keys of records."""
    cls = candidate if isinstance(candidate, type) else type(candidate)
    if not dataclasses.is_dataclass(cls) or not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return f"Write @dataclass(frozen=True) above `class {cls.__name__}`; its fields are its parameters."
    for f in dataclasses.fields(cls):
        if f.init and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            return f"Its parameter {f.name} has no default; give each one, so that a name alone is enough."
    return None


def why_not_callable(candidate: Any, verbs: Mapping[str, tuple[str, ...]]) -> str | None:
    """None if the candidate has each of the functions, with these parameters."""
    cls = candidate if isinstance(candidate, type) else type(candidate)
    for verb, parameters in verbs.items():
        function = getattr(cls, verb, None)
        form = f"def {verb}({', '.join(('self', *parameters))})"
        if not callable(function):
            return f"It needs `{form}`."
        try:
            inspect.signature(function).bind(None, *parameters)
        except TypeError:
            return f"Its {verb}{inspect.signature(function)} cannot be called; write `{form}`."
    return None


def declares(candidate: Any, kind: type) -> bool:
    """Whether its `facts` are of a kind; those of a class may be a property."""
    facts = getattr(candidate, "facts", None)
    return isinstance(facts, kind) or (isinstance(candidate, type) and hasattr(type(facts), "__get__"))
