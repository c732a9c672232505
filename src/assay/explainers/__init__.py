"""Attribution methods: one file each, found by its name."""

from assay.core.additions import Additions
from assay.core.catalog import Catalog

METHODS = Catalog(
    "assay.explainers",
    "method",
    deep=True,
    added=Additions("method", "assay.methods", "assay.explainers.protocols:why_not_a_method"),
)
