"""Metrics that judge attributions by known truth, human rationales, sparsity and agreement; studies come here too."""

from assay.core.catalog import Catalog

GOLD = Catalog("assay.evaluation", "metric", deep=True)
