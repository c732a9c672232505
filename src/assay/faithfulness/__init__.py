"""Faithfulness metrics over a Game: they say which masks they need and what the answers mean, and never see a model."""

from assay.core.catalog import Catalog

FAITHFULNESS = Catalog("assay.faithfulness", "metric", skip=("protocol",))
