"""A small transformer block, through which the positions of a text learn of each other."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

HEADS = 4


class Block(nn.Module):
    """x + attention(norm(x)), then + feed-forward(norm(x)). Padding is not read.

    Without dropout, which made signed scores some per cent too large and fits no better.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.reading, self.writing = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor, used: Tensor) -> Tensor:
        """x (B,T,W); used (B,T) is True where a position is no padding."""
        x = x + self._attention(self.first(x), used)
        out: Tensor = x + self.down(gelu(self.up(self.second(x))))
        return out

    def _attention(self, x: Tensor, used: Tensor) -> Tensor:
        query, key, value = self.reading(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # (B,H,T,W/H) each
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=used[:, None, None, :])
        out: Tensor = self.writing(mixed.transpose(1, 2).flatten(2))
        return out
