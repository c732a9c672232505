"""Mask optimisation: the losses of AML over the mask of one text, with no attribution model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch

from assay.core.errors import SpecError
from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, check_ranges
from assay.core.types import Scores
from assay.explainers.learned.parts.forms import InverseLoss, Masking, SparsityLoss
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.refine import (
    Descent,
    MaskPath,
    Selection,
    chosen,
    logit_path,
    noise_path,
    oracle_steps,
)
from assay.explainers.learned.parts.soft_mask import MaskingLoss, masked_batch
from assay.explainers.protocols import MethodFacts
from assay.faithfulness.criterion import criterion_of
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

RATE = 0.3  # of Adam; logits of -1 after ten steps are masks of a quarter


@dataclass(frozen=True)
class MaskOptimisation:
    """score = argmin_a w_p L_p(F(a x + (1 - a) r), F(x)) + w_a L_a(a) + w_inv L_inv(F((1 - a) x + a r), y).

    Adam on the logits of a, from 0; r is the baseline. The losses are those of AML (see aml), which this method must be
    compared with; a weight of 0 leaves one out. target=one_hot asks for the explained class instead of F(x), and
    masking=hard rounds a to 0 and 1, where the baseline may also be delete. The last step counts, or with
    selection=loss the one with the lowest loss; selection=oracle takes the best by `metric`, which is hindsight:
    compare it only with searches and with its control tune=noise, the best of as many random maps.
    Weakness: blends of two embeddings belong to no word, and the weights of the losses decide how many words are kept.
    """

    steps: int = 10
    rate: float | None = None
    preservation: float = 1.0
    sparsity: float = 1.0
    inverse: float = 1.0
    inverse_form: InverseLoss = "log"
    sparsity_form: SparsityLoss = "bce"
    masking: Masking = "blend"
    target: Literal["soft", "one_hot"] = "soft"
    baseline: str | None = None
    tune: Literal["logits", "noise"] = "logits"
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
        if not (self.preservation or self.inverse):
            raise SpecError("preservation and inverse are both 0, so a mask would learn nothing; give one a weight")
        if self.baseline == "delete" and self.masking != "hard":
            raise SpecError("baseline=delete has no embedding that a mask could blend with; give masking=hard too")
        if self.tune == "noise" and self.selection != "oracle":
            raise SpecError("tune=noise is the control of selection=oracle; give selection=oracle too")

    @property
    def rows(self) -> int:
        return 2

    @property
    def hindsight(self) -> str:
        """The metric that chooses among the steps of each text, where the metric itself does."""
        return self.metric if self.selection == "oracle" else ""

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        with torch.no_grad():
            logits = model.full_logits(batch)
        targets = targets.resolve(logits)

        def oracle(found: MaskPath) -> torch.Tensor:
            return oracle_steps(found, model, batch, targets, criterion_of(self.metric))

        mask, step = chosen(self._path(model, batch, targets), self.selection, oracle)
        extra: dict[str, Any] = {"step": step}
        if self.hindsight:
            extra["chosen_by"] = [f"{self.hindsight}, in hindsight"] * len(step)
        return Scores(torch.where(batch.playing, mask.sigmoid(), 0.0), extra, logits)

    def _path(self, model: Model, batch: Batch, targets: Targets) -> MaskPath:
        baseline = "mask_token" if self.baseline == "mask" else self.baseline
        inputs = masked_batch(model, batch, targets, baseline, soft=self.target == "soft")
        start = torch.zeros_like(inputs.reference[..., 0])
        if self.tune == "noise":
            return noise_path(start, self.steps, 1.0 if self.rate is None else self.rate, batch.seeds)
        weights = LossWeights(self.preservation, self.sparsity, self.inverse)
        loss = MaskingLoss(weights, self.inverse_form, self.sparsity_form, self.masking)
        rate = RATE if self.rate is None else self.rate
        return logit_path(inputs, start, Descent(loss, self.steps, rate, self.selection == "loss"))
