"""Classification heads that transformers lacks; saved as head.safetensors next to the encoder, with assay.json."""

from assay.core.catalog import Catalog

HEADS = Catalog("assay.models.heads", "head")
