"""Mask optimisation: the losses of AML over the mask of one text, with no attribution model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, check_ranges
from assay.core.types import Scores
from assay.explainers.learned.parts.forms import InverseLoss, SparsityLoss
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.refine import Descent, MaskPath, Selection, chosen, logit_path, oracle_steps
from assay.explainers.learned.parts.soft_mask import MaskingLoss, masked_batch
from assay.explainers.protocols import MethodFacts
from assay.faithfulness.criterion import criterion_of
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class MaskOptimisation:
    """score = argmin_a w_p L_p(F(a x + (1 - a) r), F(x)) + w_a L_a(a) + w_inv L_inv(F((1 - a) x + a r), y).

    Adam on the logits of a, from 0; r is the baseline. The losses are those of AML (see aml), which this method must be
    compared with. The last step counts, or with selection=loss the one with the lowest loss; selection=oracle takes the
    best by `metric`, which is hindsight: compare it only with searches.
    Weakness: blends of two embeddings belong to no word, and the weights of the losses decide how many words are kept.
    """

    steps: int = 10
    rate: float = 0.3
    preservation: float = 1.0
    sparsity: float = 1.0
    inverse: float = 1.0
    inverse_form: InverseLoss = "log"
    sparsity_form: SparsityLoss = "bce"
    baseline: str | None = None
    selection: Selection = "last"
    metric: str = "comprehensiveness"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability",
        signed=False,
        complete=False,
        class_dependent=True,
        passes="1 f + 2 steps (f + b)",
        memory="2 x L x T x D",
    )

    def __post_init__(self) -> None:
        check_ranges(self, steps=COUNT, rate=POSITIVE)
        check_ranges(self, preservation=NOT_NEGATIVE, sparsity=NOT_NEGATIVE, inverse=NOT_NEGATIVE)
        criterion_of(self.metric)  # raises if there is no such metric

    @property
    def rows(self) -> int:
        return 2

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        with torch.no_grad():
            logits = model.full_logits(batch)
        targets = targets.resolve(logits)
        inputs = masked_batch(model, batch, targets, "mask_token" if self.baseline == "mask" else self.baseline)
        weights = LossWeights(self.preservation, self.sparsity, self.inverse)
        loss = MaskingLoss(weights, self.inverse_form, self.sparsity_form)
        descent = Descent(loss, self.steps, self.rate, self.selection == "loss")
        path = logit_path(inputs, torch.zeros_like(inputs.reference[..., 0]), descent)

        def oracle(found: MaskPath) -> torch.Tensor:
            return oracle_steps(found, model, batch, targets, criterion_of(self.metric))

        mask, step = chosen(path, self.selection, oracle)
        return Scores(torch.where(batch.playing, mask.sigmoid(), 0.0), {"step": step}, logits)
