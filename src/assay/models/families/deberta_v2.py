"""DeBERTa v2 and v3 (He et al. 2021): disentangled attention in the model's own code, tapped by hooks."""

from assay.models.families import Family

DebertaV2 = Family(
    "deberta_v2", ("deberta-v2",), probabilities="attention.self.dropout", value="attention.self.value_proj"
)
