"""What a fit takes from an explainer that is there already: the weights it starts from, or those of its losses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.fitted import Fitted, architecture_of
from assay.explainers.learned.parts.folder import load_fitted
from assay.explainers.learned.parts.saved import found_folder, read_card
from assay.faithfulness.criterion import Criterion
from assay.fitting.methods.aml import AmlFit
from assay.models.model import Model

Note = Callable[[Criterion, float | None], str]  # a sentence about the best score of a fit
WEIGHTS = ("preservation", "sparsity", "inverse")


@dataclass(frozen=True)
class Source:
    """The explainer that a fit started from, and its score on the texts that choose the checkpoint."""

    name: str
    digest: str
    model: str
    value: float
    texts: tuple[str, ...] = field(default=(), repr=False)  # marks of what it has seen

    def card(self) -> dict[str, Any]:
        return {"explainer": self.name, "digest": self.digest, "model": self.model, "value": self.value}

    def note(self, criterion: Criterion, best: float | None) -> str:
        """The score of the source beside that of the fit, in a sentence."""
        found = f"It started from {self.name}, whose {criterion.name} on the same texts is {self.value:.4f}"
        better = best is not None and criterion.sign * (best - self.value) > 0
        return f"{found}." if better else f"{found}; the fit has not improved on it."


def with_weights(settings: AmlFit) -> AmlFit:
    """The settings with the weights of the losses that the explainer `weights_of` was fitted with."""
    if settings.weights_of is None:
        return settings
    card = _card(settings.weights_of, "weights_of", weights=False)  # of a deleted artefact only the card is left
    if card["settings"]["objective"] not in ("masking", "both"):
        raise SpecError(
            f"weights_of={Path(settings.weights_of).name!r} was fitted with objective="
            f"{card['settings']['objective']}, which has no loss weights; "
            "name one fitted with objective=masking or both"
        )
    found = {name: card["settings"][name] for name in WEIGHTS}
    return replace(settings, **found)


def source_of(settings: AmlFit, model: Model) -> Fitted | None:
    """The explainer that a fit starts from; raises unless it fits the model and the settings."""
    if settings.start is None:
        return None
    _card(settings.start, "start")
    found = load_fitted(found_folder(settings.start))
    found.check_model(model, any_model=True)
    kind = architecture_of(found.attributor)
    _same("architecture", kind, settings.architecture)
    if kind == "trunk":
        _same("layers", found.settings["layers"], settings.layers)
    return found


def started_from(source: Fitted, settings: AmlFit, model: Model) -> Attributor:
    """A copy of the attribution model, ready to learn."""
    attributor = copy.deepcopy(source.attributor).to(model.device).requires_grad_(True)
    if isinstance(attributor.model, LabelledEncoder):
        attributor.model.join = settings.join
        attributor.model.learn(frozen_embeddings=settings.frozen_embeddings)
    else:
        assert isinstance(attributor.model, Trunk)
    if not settings.learned_reference:
        attributor.reference = None
    return attributor


def _card(name: str, setting: str, *, weights: bool = True) -> Mapping[str, Any]:
    card = read_card(found_folder(name), weights=weights)
    if card["method"] != "aml":
        raise SpecError(
            f"{setting}={Path(name).name!r} was fitted by {card['method']}, not aml; name one that aml fitted"
        )
    return card


def _same(setting: str, theirs: str, ours: str) -> None:
    if theirs != ours:
        raise SpecError(f"the explainer to start from has {setting}={theirs}, not {ours}; give {setting}={theirs}")
