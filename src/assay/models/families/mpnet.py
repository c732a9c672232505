"""MPNet (Song et al. 2020): computes attention itself with a relative bias, so it is tapped by hooks."""

from assay.models.families import Family

Mpnet = Family(
    "mpnet", ("mpnet",), positions="after_pad", probabilities="attention.attn.dropout", value="attention.attn.v"
)
