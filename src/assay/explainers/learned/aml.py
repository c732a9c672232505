"""Attributive masking learning (Barkan et al. 2024); its explainers may also learn Shapley values (FastSHAP)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from assay.core.errors import SpecError, UnsupportedError
from assay.core.ranges import POSITIVE, Range, check_ranges
from assay.core.types import Scores
from assay.explainers.learned.parts.attribution_model import Reading
from assay.explainers.learned.parts.fitted import Fitted, class_outputs, is_signed
from assay.explainers.learned.parts.folder import load_fitted
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.learned.parts.refine import (
    Descent,
    MaskPath,
    Selection,
    chosen,
    copies_at_once,
    logit_path,
    noise_path,
    oracle_steps,
    weight_path,
)
from assay.explainers.learned.parts.soft_mask import masked_batch
from assay.explainers.protocols import MethodFacts
from assay.faithfulness.criterion import criterion_of
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

Tune = Literal["logits", "head", "all", "noise"]
RATES: dict[Tune, float] = {"logits": 0.3, "head": 1e-4, "all": 4e-5, "noise": 1.0}


@dataclass(frozen=True)
class Aml(LearnedMethod):
    """scores = G(x, y), a model that `assay fit aml` fitted to the explained one: one pass, no masking, no gradients.

    steps=n refines the mask of each text with n gradient steps on the masking losses (fAML): of its logits, of the head
    or all of G, or with noise instead of steps, which is the control. The last step counts, or with selection=loss the
    one with the lowest loss. selection=oracle takes the best by `metric`, as the paper does: that is hindsight, so
    compare it only with searches and with tune=noise. any_model=True allows another model than its own.
    Weakness: it has learnt from texts of one kind and can be wrong on others without a sign of it.
    """

    steps: int = 0
    tune: Tune = "logits"
    rate: float | None = None
    selection: Selection = "last"
    metric: str = ""

    def __post_init__(self) -> None:
        check_ranges(self, steps=Range(0, whole=True), rate=POSITIVE)
        if self.metric:
            criterion_of(self.metric)  # raises if there is no such metric
        if self.steps == 0 and (self.selection != "last" or self.tune != "logits"):
            raise SpecError("selection and tune choose between steps of a refinement; give steps=10, or leave them out")
        if self.tune == "noise" and self.selection != "oracle":
            raise SpecError("tune=noise is the control of selection=oracle; give selection=oracle too")
        super().__post_init__()

    @property
    def loaded(self) -> Fitted:
        return self.content(load_fitted)

    @property
    def facts(self) -> MethodFacts:
        signed, scale, encoder = True, "log_odds", False
        if (card := self.known_card) is not None:
            signed, scale = is_signed(card["settings"]), card["scale"]
            encoder = card["architecture"] == "encoder"
        steps = "" if not self.steps else " + 2 steps (f + b)"
        return MethodFacts(
            scale=scale if signed and not self.steps else "probability",  # type: ignore[arg-type]
            signed=signed and not self.steps,
            complete=False,
            class_dependent=True,
            passes=("1 f + 1 f of its encoder" if encoder else "1 f") + steps,
            memory="L x T x D",
        )

    @property
    def hindsight(self) -> str:
        """The metric that chooses among the steps of each text, where the metric itself does."""
        return (self.metric or str(self.loaded.card["metric"])) if self.selection == "oracle" else ""

    def _said(self, step: list[int]) -> dict[str, Any]:
        more = {"chosen_by": [f"{self.hindsight}, in hindsight"] * len(step)} if self.hindsight else {}
        return {"step": step, **more}

    @property
    def rows(self) -> int:
        return 2 if self.steps else 1

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        fitted = self.loaded
        fitted.check_model(model, any_model=self.any_model)
        with torch.no_grad():
            reading = fitted.attributor_for(model).read(model, batch)
            targets = targets.resolve(reading.logits)
            outputs = fitted.scores(model, batch, reading, targets)
        if self.steps:
            scores, step = self._refined(fitted, model, batch, targets, reading, outputs)
            return Scores(torch.where(batch.playing, scores, 0.0), self._said(step), reading.logits)
        if not fitted.signed:
            return Scores(torch.where(batch.playing, outputs.sigmoid(), 0.0), logits=reading.logits)
        self._check_scale(fitted, targets)
        return Scores(torch.where(batch.playing, outputs * fitted.card["spread"], 0.0), logits=reading.logits)

    def _check_scale(self, fitted: Fitted, targets: Targets) -> None:
        for target in targets.resolved:
            if target.scale not in (fitted.scale, "raw"):
                raise UnsupportedError(
                    f"this explainer was fitted for the scale {fitted.scale!r}, not {target.scale!r}; leave the scale "
                    f"out, or fit one with objective=shapley, scale={target.scale}"
                )

    # --- fAML --------------------------------------------------------------------------------------------------------

    def _refined(
        self, fitted: Fitted, model: Model, batch: Batch, targets: Targets, reading: Reading, outputs: Tensor
    ) -> tuple[Tensor, list[int]]:
        """(B,T) the mask of each input after its steps, and the step it comes from."""
        start = fitted.mask_logits(outputs, batch.playing)
        rate = RATES[self.tune] if self.rate is None else self.rate
        descent = Descent(fitted.loss, self.steps, rate, self.selection == "loss")
        if self.tune == "noise":
            path = noise_path(start, self.steps, rate, batch.seeds)
            return self._choose(fitted, model, batch, targets, path)
        if self.tune == "logits":
            inputs = self._inputs(fitted, model, batch, targets)
            return self._choose(fitted, model, batch, targets, logit_path(inputs, start, descent))
        most = copies_at_once(fitted.attributor_for(model), self._trains)
        parts = [list(range(len(batch)))[start : start + most] for start in range(0, len(batch), most)]
        found = [self._tuned_weights(fitted, model, batch, targets, reading, part, descent) for part in parts]
        return torch.cat([masks for masks, _ in found]), [step for _, steps in found for step in steps]

    def _trains(self, name: str) -> bool:
        """Whether a weight of the attribution model is tuned; label vectors and embeddings stay, as in the paper."""
        kept = (".labels.", ".classes.", ".embeddings.")
        if any(part in name for part in kept) or name in ("gain", "offset", "reference"):
            return False
        return self.tune == "all" or ".encoder." not in name

    def _tuned_weights(
        self,
        fitted: Fitted,
        model: Model,
        batch: Batch,
        targets: Targets,
        reading: Reading,
        part: list[int],
        descent: Descent,
    ) -> tuple[Tensor, list[int]]:
        batch, targets = batch.take(part), targets.take(part)
        states = [None if reading.states is None else reading.states[[i]] for i in part]
        alone = [(batch.take([k]), Reading(reading.logits[[i]], states[k])) for k, i in enumerate(part)]

        def logits_of(copies: Sequence[Any]) -> Tensor:
            rows = [
                class_outputs(own, model, one, read, targets.labels[[k]], soft=fitted.soft)
                for k, (own, (one, read)) in enumerate(zip(copies, alone, strict=True))
            ]
            return fitted.mask_logits(torch.cat(rows), batch.playing)

        inputs = self._inputs(fitted, model, batch, targets)
        path = weight_path(inputs, fitted.attributor_for(model), logits_of, self._trains, descent)
        return self._choose(fitted, model, batch, targets, path)

    def _inputs(self, fitted: Fitted, model: Model, batch: Batch, targets: Targets) -> Any:
        reference = fitted.card["reference"]
        spread = fitted.card["spread"] if model.task == "regression" else None
        learned = fitted.attributor_for(model).reference
        return masked_batch(model, batch, targets, reference, soft=fitted.soft, spread=spread, learned=learned)

    def _choose(
        self, fitted: Fitted, model: Model, batch: Batch, targets: Targets, path: MaskPath
    ) -> tuple[Tensor, list[int]]:
        def oracle(found: MaskPath) -> Tensor:
            criterion = criterion_of(self.metric or fitted.card["metric"])
            return oracle_steps(found, model, batch, targets, criterion)

        logits, steps = chosen(path, self.selection, oracle)
        return logits.sigmoid(), steps
