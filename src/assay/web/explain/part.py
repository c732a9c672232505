"""The explain page as a part of the application."""

from __future__ import annotations

from collections.abc import Sequence

from assay.datasets.dataset import Dataset
from assay.models.model import Model
from assay.web.explain import saved
from assay.web.explain.models import Explaining, serve_models
from assay.web.explain.routes import router
from assay.web.site import Part
from assay.web.visitor import is_member


def explain_part(models: Sequence[Model], data: Dataset | None = None, explainers: Sequence[str] = ()) -> Part:
    """explainers: folders that `assay fit` wrote; each is offered with the model it was fitted to."""
    state = Explaining(serve_models(models, explainers), data)
    return Part("explain", "Explain", "/explain", router, is_member, state, saved.SCHEMA, state.close)
