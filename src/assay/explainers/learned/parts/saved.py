"""The folder of any fitted explainer: explainer.json (its card), explainer.safetensors (its weights), README.md.

Only JSON and safetensors are read: nothing in a folder can run code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from assay.core.errors import ModelError, StoreError, UnsupportedError
from assay.core.files import replacing
from assay.explainers.learned.parts.model_card import model_card
from assay.models.model import Model

CARD, WEIGHTS, README = "explainer.json", "explainer.safetensors", "README.md"
FORMAT = 1
KIND = "assay explainer"
NEEDED = ("method", "settings", "identity", "labels", "task", "model", "learnt", "metric", "better", "validation")
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
PATHS = ("/", "~", ".")  # beginnings of a name that cannot be a hub id
CHECKSUM = "weights_sha256"  # of the card
LENGTH = "max_length"  # of the identity of a model: any number of positions can be explained
FIT = "fit one with `assay fit` (assay.fit) and name its folder, such as aml('explainer/')"


# --- reading ---------------------------------------------------------------------------------------------------------


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
    card, weights = checked_files(folder)
    stamp = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in (card, weights))
    return _digest(str(card), str(weights), stamp)


@lru_cache(maxsize=32)
def _digest(card: str, weights: str, stamp: object) -> str:
    digest = hashlib.sha256(Path(card).read_bytes() + b"\x00")
    with Path(weights).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def read_card(folder: Path, *, weights: bool = True) -> dict[str, Any]:
    """The card of a folder, checked; weights: they must be there too."""
    path = checked_files(folder)[0] if weights else _checked_card(folder)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{folder.name}/{CARD} cannot be read; fit or download the explainer again") from error
    if not isinstance(card, dict) or card.get("kind") != KIND:
        raise ModelError(f"{folder.name}/{CARD} does not describe an explainer; {FIT}")
    if not isinstance(card.get("format"), int) or card["format"] > FORMAT:
        raise ModelError(f"{folder.name} was written by a newer version of Assay; update Assay to read it")
    if missing := [name for name in NEEDED if name not in card]:
        raise ModelError(f"{folder.name}/{CARD} lacks {', '.join(missing)}; fit or download the explainer again")
    return card


def checked_files(folder: Path) -> tuple[Path, Path]:
    """The card and the weights of a folder; raises if one is not there."""
    card, weights = _checked_card(folder), folder / WEIGHTS
    if not weights.is_file():
        pickled = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLED)
        reason = f", and {pickled[0]} is not read, because a pickled file can run code" if pickled else ""
        raise ModelError(f"{folder.name} has no {WEIGHTS}{reason}; fit or download the explainer again")
    return card, weights


def _checked_card(folder: Path) -> Path:
    if not (folder / CARD).is_file():
        what = "holds a fit that is not finished" if any(folder.glob("checkpoint.*")) else "holds no explainer"
        raise ModelError(f"{folder.name} {what}: it has no {CARD}; {FIT}")
    return folder / CARD


def read_weights(folder: Path, card: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a folder, which must be those that its card was written for."""
    content = (folder / WEIGHTS).read_bytes()
    if card.get(CHECKSUM, found := hashlib.sha256(content).hexdigest()) != found:  # older cards have none
        raise ModelError(
            f"the explainer in {folder.name} is damaged: {WEIGHTS} has changed since it was saved; "
            "fit or download it again"
        )
    return safetensors.torch.load(content)


def damaged(folder: Path, error: Exception) -> ModelError:
    """What is said where weights and card do not fit together."""
    return ModelError(
        f"the explainer in {folder.name} is damaged: its weights do not fit its card ({type(error).__name__}); "
        "fit or download it again"
    )


# --- writing ---------------------------------------------------------------------------------------------------------


def save_explainer(folder: Path, card: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
    """Write weights, README and, last, the card, which makes the folder valid."""
    content = weight_bytes(weights)
    contents = {WEIGHTS: content, README: model_card(card).encode(), CARD: card_bytes(card, content)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a card never stands beside the weights of another explainer
            (folder / CARD).unlink()
        for name, content in contents.items():
            with replacing(folder / name) as out:
                out.write(content)
    except OSError as error:
        raise unsaved(folder, error) from error


def unsaved(folder: Path, error: Exception) -> StoreError:
    """What is said where an explainer could not be written."""
    reason = getattr(error, "strerror", None) or error
    return StoreError(f"cannot save the explainer in {folder}: {reason}; free space or name another folder")


def card_bytes(card: Mapping[str, Any], weights: bytes) -> bytes:
    """The card as it is written, with the checksum of the weights beside it."""
    sealed = {**card, CHECKSUM: hashlib.sha256(weights).hexdigest()}
    return (json.dumps(sealed, indent=1, ensure_ascii=False) + "\n").encode()


def weight_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """Weights as they are written."""
    try:
        return safetensors.torch.save({name: value.cpu().contiguous() for name, value in weights.items()})
    except (RuntimeError, SafetensorError) as error:
        raise ModelError(f"the weights of the explainer cannot be saved: {error}") from error


def digest_of(card: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """A hash of card and weights: that of the folder which holds them."""
    content = weight_bytes(weights)
    return hashlib.sha256(card_bytes(card, content) + b"\x00" + content).hexdigest()[:16]


# --- use -------------------------------------------------------------------------------------------------------------


def check_same_model(card: Mapping[str, Any], model: Model, *, any_model: bool) -> None:
    """Raise unless an explainer belongs to this model or, where another one is allowed, has as many outputs."""
    mine, theirs = card["identity"], model.identity
    if not any_model and any(mine[key] != theirs.get(key) for key in mine if key != LENGTH):
        raise ModelError(
            f"this explainer was fitted for {card['model']}, and {model.title} is another model (or the same one with "
            "other labels, prompt or precision); fit one for it (assay fit), or allow it with any_model=True"
        )
    if len(card["labels"]) != len(model.labels) or card["task"] != model.task:
        raise UnsupportedError(
            f"this explainer was fitted for a {card['task']} model with {len(card['labels'])} outputs; "
            f"{model.title} is a {model.task} model with {len(model.labels)}"
        )
