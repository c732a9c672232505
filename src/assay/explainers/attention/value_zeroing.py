"""Value zeroing (Mohebbi et al. 2023)."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from assay.core.types import Scores
from assay.explainers.attention_matrices import read_rows, rollout
from assay.explainers.protocols import MethodFacts
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model, NotFiniteError
from assay.models.target import Targets


@dataclass(frozen=True)
class ValueZeroing:
    """C[i,j] = cosine distance by which the block's output at i moves when the value vector of j is zeroed in it.

    Rows are normalised to sum to 1 and the layers multiplied as in rollout; the score is the row that the head reads.
    Every block sees its real input: one pass over T + 1 copies of the text, copy j with value j zeroed, and after each
    block all copies continue from the unchanged one. Weakness: the same for every class.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=False,
        complete=False,
        class_dependent=False,
        passes="(T + 1) f",
        memory="L x T x T + H x T x T per copy run at once",
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        hooks.need_blocks(model.hf, model.family)
        rows = []
        for i in range(len(batch)):
            try:
                rows.append(self._attribute_one(model, batch.take([i])))
            except NotFiniteError as error:
                error.row = i  # the input, not the copy
                raise
        scores, logits = (torch.cat(parts) for parts in zip(*rows, strict=True))
        return Scores(scores, logits=logits)

    def _attribute_one(self, model: Model, batch: Batch) -> tuple[Tensor, Tensor]:
        """Scores (1,T) and logits (1,C) of one input."""
        used = int(batch.mask.sum())
        zeroed = torch.arange(used, device=batch.ids.device)
        size = max(1, batch.budget // batch.ids.shape[1] - 1)
        taps = [_Zeroed(part) for part in zeroed.split(size)]
        with torch.no_grad():
            logits = torch.cat([_run(model, batch, tap)[:1] for tap in taps])
        moved = [torch.cat([tap.moved[layer] for tap in taps]) for layer in range(len(taps[0].moved))]  # L x (T,T)
        matrices = [(m / m.sum(0).clamp(min=1e-12)).T for m in moved]  # [i,j], rows sum to 1
        wide = batch.ids.shape[1] - used
        product = nn.functional.pad(rollout([m[None, :used] for m in matrices]), (0, wide, 0, wide))
        return read_rows(product, model, batch), logits[:1]


@dataclass
class _Zeroed:
    """Copy 0 of the text is unchanged; copy 1 + k has the value of position zeroed[k] set to 0 in every block."""

    zeroed: Tensor  # (K,)
    moved: list[Tensor] = field(
        default_factory=list
    )  # per layer (K,T): distance of copy k from copy 0 at each position

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        return probabilities

    def values(self, layer: int, values: Tensor) -> Tensor:  # (1+K,...,T,d)
        values = values.clone()
        copies = torch.arange(1, len(self.zeroed) + 1, device=values.device)
        values[copies, ..., self.zeroed, :] = 0.0
        return values

    def after_block(self, module: nn.Module, args: Any, output: Any) -> Any:
        """Measure, then let every copy continue from the unchanged one."""
        hidden = output[0] if isinstance(output, tuple) else output  # (1+K,T,D)
        direction = normalize(hidden.float(), dim=-1)
        # 1 - cos as half the squared chord: 1 minus a float32 cosine near 1 would be mostly rounding error
        self.moved.append((direction[1:] - direction[:1]).square().sum(-1) / 2)
        restored = hidden[:1].expand_as(hidden).contiguous()
        return (restored, *output[1:]) if isinstance(output, tuple) else restored


def _run(model: Model, batch: Batch, tap: _Zeroed) -> Tensor:
    with ExitStack() as stack:
        for block in hooks.blocks(model.hf):
            stack.enter_context(hooks.hooked(block, tap.after_block))
        return model.tapped(batch.repeat(1 + len(tap.zeroed)), tap)
