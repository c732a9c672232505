"""The thesis's ensemble of its three best methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.types import Attribution, Floats, Scale
from assay.explainers.ensembles._mean import called, mean_of_normalised


@dataclass(frozen=True)
class ThesisTop3:
    """score = mean over LIME, KernelSHAP and integrated gradients of scores / sum |scores|.

    The three are fixed here, not picked on the data that the ensemble is judged by. "Assessing the Interpretability of
    Large Language Models" (2022) normalises "to sum to 1", which signed scores cannot; this is the L1 norm.
    Weakness: does not help where its members fail on the same inputs.
    """

    samples: int | None = None  # of LIME and KernelSHAP; None is their own
    steps: int | None = None  # of integrated gradients
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
            called("lime", samples=self.samples),
            called("kernel_shap", samples=self.samples),
            called("integrated_gradients", steps=self.steps),
        )

    def combine(self, attributions: Sequence[Attribution]) -> Floats:
        return mean_of_normalised(attributions)
