"""GPT-2 (Radford et al. 2019): causal, read out at the last token; no mask, pad or separator token of its own."""

from assay.models.families import Family

Gpt2 = Family("gpt2", ("gpt2",), causal=True)
