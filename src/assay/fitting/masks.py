"""Masks of each text, and what the explained model says about them: run once and kept, so later epochs cost none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save
from torch import Tensor

from assay.core.files import write_file
from assay.core.progress import Progress
from assay.core.rng import generator
from assay.core.types import Bools, Scale
from assay.fitting.texts import FitBatch, FitTexts
from assay.masking.game import Game
from assay.masking.removal import Removal
from assay.masking.units import unit_scores
from assay.models.target import scaled

CHUNK = 64  # texts whose masks run together
FILE = "values.safetensors"
Sizes = Callable[[int], NDArray[np.float64]]  # n -> (n-1,) probabilities of masks that keep 1..n-1 of n units


@dataclass(frozen=True, eq=False)
class MaskValues:
    """Masks of each text, and the outputs of the model for no unit at all and for each mask."""

    keeps: tuple[Bools, ...]  # (K,U) of each text
    outputs: NDArray[np.float32]  # (N,K+1,C); nothing kept first; zeros where a text of one unit has no masks

    def play(self, batch: FitBatch, outputs: Tensor, labels: Tensor, scale: Scale, *, independent: bool) -> Play:
        """The parts that an explainer gives the units of a batch, beside the values of its masks for `labels` (B,)."""
        assert batch.batch.unit_of is not None
        keeps = [self.keeps[i] for i in batch.index]
        most = max(keep.shape[1] for keep in keeps)
        parts = unit_scores(outputs, batch.batch.unit_of, most)  # (B,U)
        keep = torch.zeros(len(keeps), self.outputs.shape[1] - 1, most)
        for row, own in zip(keep, keeps, strict=True):
            row[: len(own), : own.shape[1]] = torch.from_numpy(own)
        seen = torch.from_numpy(self.outputs[list(batch.index)]).to(parts)
        values = class_values(seen, labels, scale, independent=independent)
        full = class_values(batch.outputs.unsqueeze(1).to(parts), labels, scale, independent=independent)
        sizes = torch.tensor([own.shape[1] for own in keeps], device=parts.device)
        return Play(parts, sizes, keep.to(parts), values, full[:, 0])


@dataclass(frozen=True, eq=False)
class Play:
    """What an explainer says about inputs, and what masks of them show."""

    parts: Tensor  # (B,U) of the explained value, by the explainer
    sizes: Tensor  # (B,) numbers of units
    keep: Tensor  # (B,K,U) masks
    values: Tensor  # (B,K+1) of nothing, and of each mask
    full: Tensor  # (B,) of the whole inputs

    def scaled(self, spread: float) -> Play:
        """The same with values in units of `spread`."""
        return replace(self, values=self.values / spread, full=self.full / spread)

    def limited(self, most: float) -> Play:
        """The same with values between -most and most."""
        return replace(self, values=self.values.clamp(-most, most), full=self.full.clamp(-most, most))

    @property
    def gap(self) -> Tensor:
        """(B,) how much the parts lack to add up to v(all) - v(none)."""
        return self.full - self.values[:, 0] - self.parts.sum(1)

    @property
    def sums(self) -> Tensor:
        """(B,K) v(none) + the parts of the units of each mask, shifted equally so that they add up to v(all)."""
        real = torch.arange(self.parts.shape[1], device=self.parts.device) < self.sizes.unsqueeze(1)
        shifted = torch.where(real, self.parts + (self.gap / self.sizes).unsqueeze(1), 0.0)
        return self.values[:, :1] + (self.keep @ shifted.unsqueeze(-1)).squeeze(-1)

    @property
    def several(self) -> Tensor:
        """(B,) 1 for texts of several units, which have masks, else 0."""
        return (self.sizes > 1).to(self.parts)


def mask_values(
    texts: FitTexts,
    removal: Removal,
    masks: int,
    seed: int,
    sizes: Sizes,
    *,
    folder: Path | None,
    progress: bool | None = None,
) -> MaskValues:
    """Draw the masks of each text, seeded by its content, and run them; a folder keeps what has run."""
    keeps = tuple(
        drawn_masks(e.players, masks, generator("fit masks", seed, e.example.content), sizes) for e in texts.encodings
    )
    key = f"{texts.model.fingerprint} {texts.fingerprint} {removal.name} {masks} {seed} {sizes.__name__}"
    kept = None if folder is None else _read(folder / FILE, key)
    if kept is not None:
        return MaskValues(keeps, kept)
    out = np.zeros((len(texts), masks + 1, len(texts.model.labels)), np.float32)
    with Progress("masking", len(texts), progress) as bar, texts.model.frozen():
        for start in range(0, len(texts), CHUNK):
            part = range(start, min(start + CHUNK, len(texts)))
            game = Game(texts.model, [texts.encodings[i] for i in part], removal, texts.model.budget)
            requests = [(i - start, np.vstack([np.zeros((1, keeps[i].shape[1]), bool), keeps[i]])) for i in part]
            for i, found in zip(part, game.outputs(requests), strict=True):
                out[i, : len(found)] = found
            bar.advance(len(part))
    if folder is not None:
        _write(folder / FILE, key, out)
    return MaskValues(keeps, out)


def class_values(logits: Tensor, labels: Tensor, scale: Scale, *, independent: bool) -> Tensor:
    """(B,M) values of a class from outputs (B,M,C)."""
    out = scaled(logits.flatten(0, 1), scale, independent=independent).view_as(logits)
    return out.gather(-1, labels.view(-1, 1, 1).expand(-1, logits.shape[1], 1)).squeeze(-1)


def value_spread(texts: FitTexts, values: MaskValues, scale: Scale, *, independent: bool) -> float:
    """The typical size of v(all) - v(none) for the predicted class."""
    labels = torch.from_numpy(texts.outputs.argmax(-1))
    pair = torch.from_numpy(np.stack([texts.outputs, values.outputs[:, 0]], 1)).double()
    full, empty = class_values(pair, labels, scale, independent=independent).T
    return max(float((full - empty).square().mean().sqrt()), 1e-6)


def drawn_masks(n: int, masks: int, rng: np.random.Generator, sizes: Sizes) -> Bools:
    """(masks,n) sets of 1..n-1 units whose sizes have the given probabilities, each followed by its complement."""
    if n == 1:
        return np.zeros((0, 1), bool)
    size = rng.choice(np.arange(1, n), size=masks // 2, p=sizes(n))
    rank = rng.random((masks // 2, n)).argsort(1).argsort(1)
    half = rank < size[:, None]
    return np.stack([half, ~half], 1).reshape(-1, n)


def _read(path: Path, key: str) -> NDArray[np.float32] | None:
    """Values that were kept for the same texts and masks; anything else is computed again."""
    try:
        with safe_open(str(path), "np") as file:
            if (file.metadata() or {}).get("key") != key:
                return None
        return load_file(str(path))["outputs"]
    except (OSError, SafetensorError, KeyError):
        return None


def _write(path: Path, key: str, outputs: NDArray[np.float32]) -> None:
    write_file(path, save({"outputs": outputs}, {"key": key}), parents=True)
