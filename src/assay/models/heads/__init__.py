"""Classification heads that transformers lacks; saved as head.safetensors next to the encoder, with assay.json.

A head is built from the width of the encoder, the number of classes and the number of blocks. It reads the last hidden
states (B,T,D) or, if `all_layers`, those before the first block and after each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.core.catalog import Catalog

if TYPE_CHECKING:  # recipes, which help texts are made of, read the names
    from torch import nn
    from transformers import PreTrainedConfig

HEADS = Catalog("assay.models.heads", "head")


def new_head(name: str, config: PreTrainedConfig, classes: int) -> nn.Module:
    """A head with new weights for the encoder that a configuration describes."""
    shape: Any = config.get_text_config()
    head: nn.Module = HEADS.get(name)(shape.hidden_size, classes, shape.num_hidden_layers)
    return head


def head_name(head: nn.Module) -> str:
    """The name by which the catalogue knows a head."""
    return next(name for name in HEADS.names if type(head) is HEADS.get(name))
