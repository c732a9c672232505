"""Turn the methods that a caller names into method objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from assay.core.errors import SpecError
from assay.core.spec import Spec
from assay.explainers import METHODS
from assay.explainers.protocols import why_not_a_method


def named_methods(methods: Iterable[Any]) -> dict[str, Any]:
    """Method objects by the spec under which the caller asked for them."""
    by_name: dict[str, Any] = {}
    for given in methods:
        method = METHODS.make(given) if isinstance(given, str | Spec) else given
        if isinstance(given, type):
            raise SpecError(f"{given.__name__} is a class; give an object, {given.__name__}()")
        if (reason := why_not_a_method(method)) is not None:
            raise SpecError(f"{given!r} is not a method. {reason}")
        by_name[str(given) if isinstance(given, str | Spec) else str(Spec.of(given, full=False))] = method
    return by_name


def with_baseline(method: Any, removal: str | None) -> Any:
    """The method with its baseline set to the caller's removal, where the method leaves the baseline open."""
    if removal in (None, "delete") or getattr(method, "baseline", "") is not None:
        return method
    return replace(method, baseline=removal)
