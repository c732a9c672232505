"""Scaffold-maximising training (SMaT, Fernandes et al. 2022): attention heads weighted so that they teach a student."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from assay.core.errors import ModelError, UnsupportedError
from assay.core.types import Scores
from assay.explainers.learned.parts.head_map import head_map_svg
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.learned.parts.saved import (
    check_same_model,
    damaged,
    digest_of,
    folder_digest,
    read_card,
    read_weights,
    save_explainer,
)
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.head_weights import explanation, normalise
from assay.models.model import Model
from assay.models.target import Targets

MAP = "heads.svg"  # drawing of the head weights in the folder


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """What the folder of a scaffold holds: one parameter per attention head, and its card."""

    phi: Tensor  # (L*H,)
    card: Mapping[str, Any]

    @property
    def lambdas(self) -> Tensor:
        """(L*H,) the weights of the heads."""
        return normalise(self.phi, self.card["settings"]["normaliser"])

    @property
    def grid(self) -> NDArray[np.float64]:
        """(L,H) the weights, layer by layer."""
        out: NDArray[np.float64] = self.lambdas.double().numpy().reshape(self.card["layers"], -1)
        return out

    @cached_property
    def digest(self) -> str:
        return digest_of(self.card, {"phi": self.phi})

    def check_model(self, model: Model, *, any_model: bool) -> None:
        check_same_model(self.card, model, any_model=any_model)
        if model.n_heads != len(self.phi):
            raise UnsupportedError(
                f"this explainer weighs {len(self.phi)} attention heads, but {model.title} has {model.n_heads}"
            )

    def save(self, folder: Path) -> None:
        save_explainer(folder, self.card, {"phi": self.phi})
        (folder / MAP).write_text(head_map_svg(self.grid), encoding="utf-8")


def load_heads(folder: Path) -> HeadWeights:
    """The head weights in a folder; unchanged ones are read once."""
    return _loaded(str(folder), folder_digest(folder))


@lru_cache(maxsize=4)
def _loaded(folder: str, digest: str) -> HeadWeights:
    path = Path(folder)
    card = read_card(path)
    try:
        phi = read_weights(path, card)["phi"]
        found = HeadWeights(phi, card)
        _ = found.grid
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError, OSError) as error:
        raise damaged(path, error) from error
    if not torch.isfinite(phi).all():
        raise ModelError(f"the explainer in {path.name} has weights that are not finite; fit it again")
    return found


@dataclass(frozen=True)
class Scaffold(LearnedMethod):
    """score = softmax over tokens t of sum_h lambda_h mean_j(q_j · k_t), lambda learnt so that a student learns most.

    Equal lambda is `attention_logits`. `assay fit scaffold` fits it: the student takes a step towards the explanation,
    and lambda follows the gradient of the student's loss on other texts through that step.
    Weakness: the same for every class; what teaches one student need not teach another.
    """

    special: ClassVar[bool] = True  # special tokens take part, as in attention_logits
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="L x H x T"
    )

    @property
    def loaded(self) -> HeadWeights:
        return self.content(load_heads)

    @property
    def heads(self) -> NDArray[np.float64]:
        """(L,H) the weight of every attention head."""
        return self.loaded.grid

    def plot(self, ax: Any = None) -> Any:
        """The weights as a map of layers and heads (Figure 5 of the paper), on `ax` or in a new figure."""
        from assay.explainers.learned.parts.head_map import plot_heads

        return plot_heads(self.heads, ax)

    def plot_maps(self, model: Any, given: Any) -> Any:
        """What every head looks at in one input (Figures 7 and 8 of the paper); needs the extra `plots`."""
        from assay.datasets.examples import as_examples
        from assay.explainers.learned.parts.all_heads import plot_all_heads
        from assay.models.load import load_model

        return plot_all_heads(load_model(model), next(iter(as_examples([given]))))

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        fitted = self.loaded
        fitted.check_model(model, any_model=self.any_model)
        with torch.no_grad():
            logits, heads = model.head_logits(batch)
            return Scores(explanation(heads, fitted.lambdas.to(heads), batch.mask), logits=logits)
