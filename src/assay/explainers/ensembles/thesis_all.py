"""The thesis's ensemble of all its methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Attribution, Floats, Scale
from assay.explainers.ensembles._mean import called, mean_of_normalised


@dataclass(frozen=True)
class ThesisAll:
    """score = mean over the seven methods of the thesis of scores / sum |scores|; the random baseline is none of them.

    Gradient, gradient x input, integrated gradients, LIME, KernelSHAP, average attention, rollout without residual
    ("Assessing the Interpretability of Large Language Models", 2022): fixed, not picked on the data it is judged by.
    The thesis does not say how a gradient becomes a number. `sum` fits its words best, but is rounding noise wherever a
    LayerNorm reads the embeddings, and normalising would lift that noise to a seventh of the ensemble: hence l2.
    Weakness: does not help where its members fail on the same inputs; mixes signed members with unsigned ones.
    """

    samples: int | None = None  # of LIME and KernelSHAP; None is their own
    steps: int | None = None  # of integrated gradients
    reduction: Literal["l2", "sum"] = "l2"  # of the gradient
    scale: ClassVar[Scale] = "probability"
    signed: ClassVar[bool] = True
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "those of its parts"
    memory: ClassVar[str] = "that of its largest part"
    revision: ClassVar[int] = 1

    @property
    def parts(self) -> Sequence[str]:
        return (
            called("lime", samples=self.samples),  # first: its value and scale are those of the ensemble
            called("kernel_shap", samples=self.samples),
            called("integrated_gradients", steps=self.steps),
            called("gradient", reduction=self.reduction),
            "gradient_x_input",
            "average_attention",
            "attention_rollout(residual=False)",
        )

    def combine(self, attributions: Sequence[Attribution]) -> Floats:
        return mean_of_normalised(attributions)
