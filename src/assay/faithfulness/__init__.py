"""Faithfulness metrics: each says which masks it needs and what the model's answers mean, without seeing a model."""

from assay.core.catalog import Catalog

FAITHFULNESS = Catalog("assay.faithfulness", "faithfulness metric", skip=("criterion", "measuring", "protocol"))
