"""The results page as a part of the application."""

from __future__ import annotations

from pathlib import Path

from assay.experiments.store import open_store
from assay.web.results.files import Reports
from assay.web.results.routes import router
from assay.web.site import Part
from assay.web.visitor import is_member


def results_part(store: str | Path | None = None) -> Part:
    """store: a folder of finished work; None is the default one in the user's cache folder."""
    reports = Reports(open_store(store))
    return Part("results", "Results", "/results", router, is_member, reports, close=reports.close)
