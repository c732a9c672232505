"""BiLSTM with additive attention (Jain & Wallace 2019; ROAR): no positions, one attention with one query.

`average_attention` is its attention alpha, since it has one layer, one head and one query.
"""

from assay.models import bilstm  # noqa: F401  registers the architecture with transformers
from assay.models.families import Family

BilstmAttention = Family(
    "bilstm_attention",
    ("bilstm_attention",),
    positions="none",
    recurrent=True,
    probabilities="probabilities",
    value="value",
)
