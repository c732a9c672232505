"""Fitting learned explainers to a model."""

from assay.core.catalog import Catalog

FITS = Catalog("assay.fitting.methods", "method that can be fitted", suffix="Fit")
