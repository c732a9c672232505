"""Ensemble: the mean of several methods' normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from assay.core.errors import nearest
from assay.core.spec import Spec
from assay.core.types import Attribution, Floats
from assay.explainers.methods import learned_parts, pinned
from assay.explainers.protocols import MethodFacts

PRESETS = {  # the parameters that each preset uses
    "thesis_top3": ("samples", "steps"),
    "thesis_all": ("samples", "steps", "reduction"),
}


@dataclass(frozen=True)
class Ensemble:
    """score = mean over methods of scores / sum |scores|.

    methods: a list, as in `ensemble([lime, occlusion])`, or a preset, as in `ensemble(thesis_all, samples=128)`. The
    presets come from a thesis ("Assessing the Interpretability of Large Language Models", 2022). thesis_top3: LIME,
    KernelSHAP by least squares and integrated gradients. thesis_all: these three, gradient, gradient x input, average
    attention and attention rollout without residual.

    samples (of LIME and KernelSHAP), steps (of integrated gradients) and reduction (of the gradient, thesis_all only)
    apply to presets; None keeps the default of each method. The thesis normalises scores "to sum to 1", which is
    undefined for signed scores; here their absolute values sum to 1. It does not say how a gradient becomes one number:
    `reduction=sum` fits its text best, but is rounding noise where a LayerNorm reads the embeddings, hence the default
    l2.

    Weakness: does not help where its members fail on the same inputs; thesis_all mixes signed and unsigned scores.
    """

    methods: str | tuple[str | Spec, ...] = "thesis_top3"
    samples: int | None = None
    steps: int | None = None
    reduction: Literal["l2", "sum"] | None = None
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability",
        signed=True,
        complete=False,
        class_dependent=True,
        passes="those of its parts",
        memory="that of its largest part",
        revision=3,
    )

    def __post_init__(self) -> None:
        if not self.methods:
            raise ValueError("an ensemble needs at least one method")
        if not isinstance(self.methods, str):
            object.__setattr__(self, "methods", tuple(map(pinned, self.methods)))
        if isinstance(self.methods, str) and self.methods not in PRESETS:
            raise ValueError(
                f"unknown ensemble {self.methods!r}; {nearest(self.methods, PRESETS)}, or a [list] of methods"
            )
        used = PRESETS[self.methods] if isinstance(self.methods, str) else ()
        for name in ("samples", "steps", "reduction"):
            if getattr(self, name) is not None and name not in used:
                where = f"the preset {self.methods}" if used else "a list of methods; set it on the methods themselves"
                raise ValueError(f"{name} does not apply to {where}")

    @property
    def title(self) -> str | None:
        """Name for tables where a member was fitted: without its folder. None: the spec as it was given."""
        if not learned_parts(self):
            return None
        names = [str(part) if isinstance(part, str) else part.title for part in self.parts]
        return f"ensemble([{', '.join(names)}])"

    @property
    def parts(self) -> Sequence[Any]:
        if not isinstance(self.methods, str):
            return [str(method) if isinstance(method, Spec) else method for method in self.methods]
        # LIME comes first: the ensemble takes its value and scale from its first member
        top3 = [
            _spec("lime", samples=self.samples),
            _spec("kernel_shap", samples=self.samples, estimator="least_squares"),  # as in the thesis
            _spec("integrated_gradients", steps=self.steps),
        ]
        if self.methods == "thesis_top3":
            return top3
        gradient = _spec("gradient", reduction=self.reduction)
        return [*top3, gradient, "gradient_x_input", "average_attention", "attention_rollout(residual=False)"]

    def combine(self, attributions: Sequence[Attribution]) -> Floats:
        normalised = [a.scores / max(float(np.abs(a.scores).sum()), 1e-30) for a in attributions]
        mean: Floats = np.mean(normalised, axis=0)
        return mean


def _spec(name: str, **parameters: int | str | None) -> str:
    """The spec of a member; parameters that are None keep their defaults."""
    return str(Spec(name, tuple((key, value) for key, value in parameters.items() if value is not None)))
