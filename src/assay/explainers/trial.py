"""Whether a method works with a model, known before any example is explained."""

from __future__ import annotations

from typing import Any

from assay.core.errors import UnsupportedError
from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Example
from assay.explainers.methods import looks_inside, named_methods, parts_of
from assay.explainers.protocols import Composite
from assay.explainers.session import Session
from assay.explainers.supported import supported
from assay.models.families import FAMILIES
from assay.models.model import Model

TEXT = "a short text"


def why_unsupported(spec: str, model: Model) -> str | None:
    """The reason why a method does not work with a model; None if it does.

    Families of the catalogue are tested with every method; a model of any other family explains one short text.
    """
    (method,) = named_methods([spec]).values()
    if model.family.opaque:
        return "it needs more of a model than its answers" if looks_inside(method) else None
    if hasattr(method, "refusal"):
        refusal: str | None = method.refusal(model)
        return refusal
    if model.family.name in FAMILIES.names:
        return next((why for name in _names(spec, method) if (why := supported(name).get(model.family.name))), None)
    if not looks_inside(method):
        return None
    try:
        Session.create(model, {spec: method}).explain_chunk(
            [(0, Example(text=TEXT))], [None], Progress("", None, show=False)
        )
    except UnsupportedError as error:
        return str(error)
    return None


def _names(spec: str, method: Any) -> list[str]:
    """The name of a method and those of the methods that it combines."""
    parts = parts_of(method) if isinstance(method, Composite) else []
    return [spec.partition("(")[0], *(name for part in parts for name in _names(Spec.of(part).name, part))]
