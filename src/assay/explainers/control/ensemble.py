"""Ensembles: the mean of several methods' normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.spec import Spec
from assay.core.types import Attribution, Floats, Scale

NAMED = {
    "thesis_all": (
        "gradient(reduction=sum)",
        "gradient_x_input",
        "integrated_gradients",
        "lime",
        "kernel_shap",
        "average_attention",
        "attention_rollout(residual=False)",
    ),
    "thesis_top3": ("lime", "kernel_shap", "integrated_gradients"),
}


@dataclass(frozen=True)
class Ensemble:
    """score = mean over methods of scores / sum |scores|. `ensemble(thesis_all)`, `ensemble([lime, occlusion])`.

    thesis_all is the seven methods of the thesis, thesis_top3 LIME, KernelSHAP and integrated gradients.
    Weakness: does not help where its members fail on the same inputs.
    """

    methods: str | tuple[str | Spec, ...] = "thesis_top3"
    scale: ClassVar[Scale] = "probability"
    signed: ClassVar[bool] = True
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "those of its parts"
    memory: ClassVar[str] = "that of its largest part"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.methods, str) and self.methods not in NAMED:
            raise ValueError(
                f"there is no ensemble {self.methods!r}; allowed: {', '.join(NAMED)}, or a [list] of methods"
            )
        if not self.methods:
            raise ValueError("an ensemble needs at least one method")

    @property
    def parts(self) -> Sequence[str]:
        return NAMED[self.methods] if isinstance(self.methods, str) else [str(m) for m in self.methods]

    def combine(self, attributions: Sequence[Attribution]) -> Floats:
        normalised = [a.scores / max(float(np.abs(a.scores).sum()), 1e-30) for a in attributions]
        mean: Floats = np.mean(normalised, axis=0)
        return mean
