"""The interface of a method: a frozen dataclass whose fields are its parameters, with `facts` and one of four verbs.

Black box: `flow` yields keep-masks and receives values. White box: `attribute` reads gradients, attention or hidden
states. Composite: `combine` joins the attributions of other methods. Reader: `read` scores units from the text alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from torch import Tensor

from assay.core.form import declares, why_not_callable, why_not_frozen
from assay.core.types import Attribution, Example, Floats, Scale, Scores, Unit
from assay.masking.flow import Flow
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

VERBS = {
    "flow": ("n", "rng"),
    "attribute": ("model", "batch", "targets"),
    "combine": ("attributions",),
    "read": ("example", "units", "label", "labels"),
}
FORM = (
    'facts: ClassVar[MethodFacts] = MethodFacts(scale="logit", signed=True, complete=False, class_dependent=True, '
    'passes="1 f", memory="T x D")'
)


@dataclass(frozen=True, kw_only=True)
class MethodFacts:
    """What a method declares about itself; the contract tests check it.

    Costs use these symbols: f forward pass, b backward pass, n units, T positions, D width, L layers, H heads.
    """

    scale: Scale  # used unless the caller names a scale
    signed: bool  # negative scores are evidence against the target
    complete: bool  # scores sum to value_full - value_empty
    class_dependent: bool  # another target gives other scores
    passes: str  # cost in passes per input
    memory: str  # per input, in addition to a plain forward pass
    revision: int = 1  # increased whenever the numbers change
    chance: bool = (
        False  # scores are pure chance: an evaluation averages over draws, each with another `seed`, which it must have
    )


class Method(Protocol):
    """What every method has. `facts` is a class variable, or a property where it depends on the parameters."""

    @property
    def facts(self) -> MethodFacts: ...


@runtime_checkable
class BlackBox(Method, Protocol):
    """A method that only needs the outputs of masked inputs."""

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        """Yield keep-masks (M,n), receive values (M,), return scores (n,) or Scores."""


@runtime_checkable
class WhiteBox(Method, Protocol):
    """A method that reads gradients, attention or hidden states.

    It may have a property `rows`: the number of sequences it runs at once per input.
    """

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Tensor | Scores:
        """(B,T) scores of positions, or (B,T,D) vectors whose norm is the score.

        `targets` may lack the predicted classes: `targets.resolve(logits)` fills them in from the logits of the whole
        inputs. A method that computes these logits returns them in `Scores.logits`, which saves a forward pass.
        """


@runtime_checkable
class Composite(Method, Protocol):
    """A method that combines the attributions of other methods."""

    @property
    def parts(self) -> Sequence[Any]:
        """The methods it combines: specs or objects."""

    def combine(self, attributions: Sequence[Attribution]) -> Floats | Scores:
        """Return scores (U,) from the parts' attributions of one input."""


@runtime_checkable
class Reader(Method, Protocol):
    """A method that needs no model: a lexicon, a person's highlights, scores made elsewhere."""

    def read(self, example: Example, units: Sequence[Unit], label: str, labels: Sequence[str]) -> Floats | Scores:
        """Return scores (U,) of the units for the class `label`, one of the model's `labels`."""


@runtime_checkable
class Learned(Method, Protocol):
    """A method that was fitted to a model, which is the only one it explains."""

    def check_fitted(self, model: Model) -> None:
        """Raise unless it can explain this model."""

    def save_pretrained(self, folder: str | Path) -> Any:
        """Write the explainer to a folder."""


@runtime_checkable
class Counting(Method, Protocol):
    """A method that counts something in each input which its readers must know, such as words that it had to drop."""

    @property
    def counts(self) -> Sequence[str]:
        """The names of the counts in `Scores.extra`."""

    def remark(self, counts: Mapping[str, Sequence[float]]) -> str:
        """What the counts of many inputs say, as a sentence after the method's name; empty: nothing to say."""


def why_not_a_method(candidate: Any) -> str | None:
    """Return the reason why an object or a class cannot be used as a method; None if it can."""
    verbs = [verb for verb in VERBS if hasattr(candidate, verb)]
    if not verbs:
        return "Give a name from `assay list methods`, or an object with `facts` and `flow`, `attribute` or `read`."
    if not declares(candidate, MethodFacts):
        return f"It does not declare its facts; add to its class, for example: {FORM}"
    if "combine" in verbs and not hasattr(candidate, "parts"):
        return "A method that combines others needs `parts` as well as `combine`."
    return why_not_frozen(candidate) or why_not_callable(candidate, {verb: VERBS[verb] for verb in verbs})
