"""The folder of a fitted explainer: explainer.json, explainer.safetensors, README.md and, with an encoder, encoder/.

Only JSON and safetensors are read: nothing in a folder can run code.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import AutoModel

from assay.core.errors import ModelError, StoreError
from assay.core.files import replacing
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.fitted import Fitted, card_bytes, weight_bytes
from assay.explainers.learned.parts.model_card import model_card
from assay.models.encode import TextEncoder
from assay.models.heads import HEADS
from assay.models.load import assemble
from assay.models.model import Model
from assay.models.source import Source

CARD, WEIGHTS, README, ENCODER = "explainer.json", "explainer.safetensors", "README.md", "encoder"
FORMAT = 1
KIND = "assay explainer"
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
PATHS = ("/", "~", ".")  # beginnings of a name that cannot be a hub id
FIT = "fit one with `assay fit aml` (assay.fit) and name its folder: aml('explainer/')"


def found_folder(name: str) -> Path:
    """The folder of an explainer: a path, or a hub id, which is downloaded."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path.absolute()
    if path.exists():
        raise ModelError(f"{name} is a file; give the folder of an explainer, which holds {CARD}")
    if name.startswith(PATHS) or name.count("/") != 1 or name.endswith("/"):
        raise ModelError(f"there is no folder {name}; {FIT}")
    import huggingface_hub

    wanted = ["*.json", "*.safetensors", "*.txt", "*.md"]
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise ModelError(f"there is no folder {name}, and the hub has no such explainer to offer; {FIT}") from error


def folder_digest(folder: Path) -> str:
    """The digest of what a folder holds."""
    card, weights = _checked_files(folder)
    stamp = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in (card, weights))
    return _digest(str(card), str(weights), stamp)


@lru_cache(maxsize=32)
def _digest(card: str, weights: str, stamp: object) -> str:
    digest = hashlib.sha256(Path(card).read_bytes() + b"\x00")
    with Path(weights).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def load_fitted(folder: Path) -> Fitted:
    """The explainer in a folder; unchanged ones are read once."""
    return _loaded(str(folder), folder_digest(folder))


@lru_cache(maxsize=4)
def _loaded(folder: str, digest: str) -> Fitted:
    path = Path(folder)
    card = read_card(path)
    try:
        weights = load_file(str(path / WEIGHTS))
        attributor = _empty_attributor(path, card)
        attributor.load_state_dict(weights)
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError, OSError) as error:
        raise ModelError(
            f"the explainer in {path.name} is damaged: its weights do not fit its card ({type(error).__name__}); "
            "fit or download it again"
        ) from error
    return Fitted(attributor.eval().requires_grad_(False), card)


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a folder, checked."""
    path, _ = _checked_files(folder)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{folder.name}/{CARD} cannot be read; fit or download the explainer again") from error
    if not isinstance(card, dict) or card.get("kind") != KIND:
        raise ModelError(f"{folder.name}/{CARD} does not describe an explainer; {FIT}")
    if not isinstance(card.get("format"), int) or card["format"] > FORMAT:
        raise ModelError(f"{folder.name} was written by a newer version of Assay; update Assay to read it")
    needed = ("settings", "identity", "labels", "task", "scale", "architecture", "model")
    if missing := [name for name in needed if name not in card]:
        raise ModelError(f"{folder.name}/{CARD} lacks {', '.join(missing)}; fit or download the explainer again")
    return card


def _checked_files(folder: Path) -> tuple[Path, Path]:
    card, weights = folder / CARD, folder / WEIGHTS
    if not card.is_file():
        what = "holds a fit that is not finished" if any(folder.glob("checkpoint.*")) else "holds no explainer"
        raise ModelError(f"{folder.name} {what}: it has no {CARD}; {FIT}")
    if not weights.is_file():
        pickled = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLED)
        reason = f", and {pickled[0]} is not read, because a pickled file can run code" if pickled else ""
        raise ModelError(f"{folder.name} has no {WEIGHTS}{reason}; fit or download the explainer again")
    return card, weights


def _empty_attributor(folder: Path, card: dict[str, Any]) -> Attributor:
    classes, settings = len(card["labels"]), card["settings"]
    if card["architecture"] == "trunk":
        layers, width = card["states"]
        return Attributor(Trunk(layers, width, classes, settings["layers"]))
    reader = _read_encoder(folder / ENCODER, settings.get("reader_length"))
    return Attributor(LabelledEncoder(reader, classes, join=settings["join"]))


def _read_encoder(folder: Path, limit: int | None) -> Model:
    source = Source(str(folder))
    with source.readable_errors():
        config, tokenizer = source.config(), source.tokenizer()
        with torch.random.fork_rng(devices=[]):
            hf = AutoModel.from_config(config, trust_remote_code=False)
    head = HEADS.get("mean")(config.hidden_size, 1)
    model = assemble(hf, tokenizer, name="encoder", task="regression", labels=["score"], head=head)
    return model if limit is None else model.limited(limit)


def save_fitted(fitted: Fitted, folder: Path) -> None:
    """Write a folder; the card, which makes it valid, last."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(fitted.attributor.model, LabelledEncoder):
            _save_encoder(fitted.attributor.model, folder / ENCODER)
        contents = {
            WEIGHTS: weight_bytes(fitted.attributor),
            README: model_card(fitted.card).encode(),
            CARD: card_bytes(fitted.card),
        }
        for name, content in contents.items():
            with replacing(folder / name) as out:
                out.write(content)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        advice = "free space or name another folder"
        raise StoreError(f"cannot save the explainer in {folder}: {reason}; {advice}") from error


def _save_encoder(model: LabelledEncoder, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config: Any = model.encoder.config
    config.save_pretrained(folder)
    assert isinstance(model.reader.encoder, TextEncoder)
    model.reader.tokenizer.backend_tokenizer.no_truncation()  # otherwise the setting of the last call is saved
    model.reader.tokenizer.save_pretrained(folder)
