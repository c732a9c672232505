"""Ensembles: the mean of several methods' normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.spec import Spec
from assay.core.types import Attribution, Floats, Scale
from assay.explainers.ensembles._mean import mean_of_normalised
from assay.explainers.ensembles.thesis_all import ThesisAll
from assay.explainers.ensembles.thesis_top3 import ThesisTop3

NAMED = {"thesis_all": ThesisAll().parts, "thesis_top3": ThesisTop3().parts}


@dataclass(frozen=True)
class Ensemble:
    """score = mean over methods of scores / sum |scores|. `ensemble(thesis_all)`, `ensemble([lime, occlusion])`.

    thesis_all and thesis_top3 are methods of their own too, with parameters.
    Weakness: does not help where its members fail on the same inputs.
    """

    methods: str | tuple[str | Spec, ...] = "thesis_top3"
    scale: ClassVar[Scale] = "probability"
    signed: ClassVar[bool] = True
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "those of its parts"
    memory: ClassVar[str] = "that of its largest part"
    revision: ClassVar[int] = 2

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
        return mean_of_normalised(attributions)
