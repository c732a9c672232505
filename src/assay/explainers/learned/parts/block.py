"""A small transformer block, through which the positions of a text learn of each other."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

HEADS = 4
# known defect: it makes signed scores a few per cent too large, which the slow test of their size shows
DROPOUT = 0.1


class Block(nn.Module):
    """x + attention(norm(x)), then + feed-forward(norm(x)). Padding is not read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.reading, self.writing = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor, used: Tensor) -> Tensor:
        """x (B,T,W); used (B,T) is True where a position is no padding."""
        x = x + self.dropout(self._attention(self.first(x), used))
        out: Tensor = x + self.dropout(self.down(self.dropout(gelu(self.up(self.second(x))))))
        return out

    def _attention(self, x: Tensor, used: Tensor) -> Tensor:
        query, key, value = self.reading(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # (B,H,T,W/H) each
        share = DROPOUT if self.training else 0.0
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=used[:, None, None, :], dropout_p=share)
        out: Tensor = self.writing(mixed.transpose(1, 2).flatten(2))
        return out
