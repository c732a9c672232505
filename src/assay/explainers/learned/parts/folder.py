"""The folder of an explainer that AML fitted; with an encoder of its own, that is in encoder/."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModel

from assay.core.errors import ModelError
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.fitted import ENCODER, Fitted
from assay.explainers.learned.parts.saved import CARD, damaged, folder_digest, read_card, read_weights
from assay.models.heads import new_head
from assay.models.load import assemble
from assay.models.model import Model
from assay.models.source import Source

OWN = ("scale", "architecture", "states", "removal", "reference", "spread")  # of the card, besides those of every one


def load_fitted(folder: Path) -> Fitted:
    """The explainer in a folder; unchanged ones are read once."""
    return _loaded(str(folder), folder_digest(folder))


@lru_cache(maxsize=4)
def _loaded(folder: str, digest: str) -> Fitted:
    path = Path(folder)
    card = read_card(path)
    if missing := [name for name in OWN if name not in card]:
        raise ModelError(f"{path.name}/{CARD} lacks {', '.join(missing)}; fit or download the explainer again")
    try:
        weights = read_weights(path, card)
        attributor = _empty_attributor(path, card)
        if "reference" in weights:
            attributor.reference = torch.nn.Parameter(torch.zeros_like(weights["reference"]))
        attributor.load_state_dict(weights)
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError, OSError) as error:
        raise damaged(path, error) from error
    return Fitted(attributor.eval().requires_grad_(False), card)


def _empty_attributor(folder: Path, card: dict[str, Any]) -> Attributor:
    classes, settings = len(card["labels"]), card["settings"]
    if card["architecture"] == "trunk":
        layers, width = card["states"]
        return Attributor(Trunk(layers, width, classes, settings["layers"]))
    reader = _read_encoder(folder / ENCODER, settings.get("reader_length"))
    return Attributor(LabelledEncoder(reader, classes, join=settings["join"]))


def _read_encoder(folder: Path, limit: int | None) -> Model:
    if not folder.is_dir():
        raise ModelError(f"{folder.parent.name} has no {ENCODER}/; fit or download the explainer again")
    source = Source(str(folder))
    with source.readable_errors():
        config, tokenizer = source.config(), source.tokenizer()
        with torch.random.fork_rng(devices=[]):
            hf = AutoModel.from_config(config, trust_remote_code=False)
    head = new_head("mean", config, 1)
    model = assemble(hf, tokenizer, name="encoder", task="regression", labels=["score"], head=head)
    return model if limit is None else model.limited(limit)
