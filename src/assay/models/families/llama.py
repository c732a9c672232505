"""Llama (Touvron et al. 2023): causal, rotary positions, fewer key/value heads; SmolLM2 is one."""

from assay.models.families import Family

Llama = Family("llama", ("llama",), causal=True)
