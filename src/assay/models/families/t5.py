"""T5 encoder (Raffel et al. 2020): relative positions inside attention; uses a masked-mean head of Assay's.

The first block owns the position bias that all blocks add. `get_input_embeddings()` returns `shared`, which the
encoder does not call, so the hook goes on `encoder.embed_tokens`.
"""

from assay.models.families import Family

T5 = Family(
    "t5",
    ("t5",),
    positions="none",
    word="encoder.embed_tokens",
    shared_parameters=("layer.0.SelfAttention.relative_attention_bias.weight",),
)
