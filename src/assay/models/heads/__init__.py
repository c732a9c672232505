"""Heads that transformers lacks; saved as head.safetensors beside the encoder, named in assay.json."""

from assay.core.catalog import Catalog

HEADS = Catalog("assay.models.heads", "head")
