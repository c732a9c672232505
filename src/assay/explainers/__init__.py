"""Attribution methods: one file each, found by its name."""

from assay.core.catalog import Catalog

METHODS = Catalog("assay.explainers", "method", deep=True)
