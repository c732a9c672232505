"""What every attention head looks at in one input: layers down, heads across (Figures 7 and 8 of Fernandes et al.)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.core.optional import optional
from assay.core.types import Example
from assay.models.encoding import SPECIAL, Batch, Encoding
from assay.models.model import Model

PANEL = 1.1  # inches


@dataclass
class _Rows:
    """A tap that keeps, per layer and head, the attention of the position that the head of the model reads."""

    batch: Batch
    mean: bool  # the model reads the mean over positions
    layers: list[Tensor] = field(default_factory=list)

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        single = probabilities.shape[-2] == 1
        row = 0 if single else int(self.batch.readout[0])
        self.layers.append(probabilities[0].mean(1) if self.mean and not single else probabilities[0, :, row])
        return probabilities

    def values(self, layer: int, values: Tensor) -> Tensor:
        return values


def head_rows(model: Model, example: Example) -> tuple[NDArray[np.float64], Encoding]:
    """(L,H,T) the attention of the read-out position to every position, and the input as the model reads it."""
    encoding = model.encode(example)
    batch = model.batch([encoding])
    tap = _Rows(batch, model.readout.reads_mean)
    with torch.no_grad():
        model.tapped(batch, tap)
    return torch.stack(tap.layers).double().numpy(force=True), encoding


def patch_grid(rows: NDArray[np.float64], encoding: Encoding) -> NDArray[np.float64]:
    """(L,H,rows,columns) of an image, without its class token; the grid is that of the patches, whatever their size."""
    shown = rows[..., [span != SPECIAL for span in encoding.spans]]
    columns = len({box[0] for box in encoding.boxes})
    return shown.reshape(*shown.shape[:2], -1, columns)


def plot_all_heads(model: Model, example: Example) -> Any:
    """A map for each layer and head: an image's patches, or a text's tokens as a strip (extra `plots`)."""
    pyplot = optional("matplotlib.pyplot", "plots")
    rows, encoding = head_rows(model, example)
    maps = patch_grid(rows, encoding) if encoding.pixels is not None else rows[:, :, None]
    layers, heads = maps.shape[:2]
    size = (PANEL * heads, (PANEL if encoding.pixels is not None else 0.5) * layers)
    _, axes = pyplot.subplots(layers, heads, figsize=size, squeeze=False, layout="constrained")
    for layer in range(layers):
        for head in range(heads):
            ax = axes[layer, head]
            ax.imshow(maps[layer, head], cmap="viridis", aspect="equal" if encoding.pixels is not None else "auto")
            ax.set(xticks=[], yticks=[])
            if head == 0:
                ax.set_ylabel(layer, rotation=0)
            if layer == 0:
                ax.set_title(head, fontsize="small")
    return axes
