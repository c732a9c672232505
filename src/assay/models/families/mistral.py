"""Mistral (Jiang et al. 2023): Llama with a sliding attention window."""

from assay.models.families import Family

Mistral = Family("mistral", ("mistral",), causal=True)
