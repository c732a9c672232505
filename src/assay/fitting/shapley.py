"""The objective of FastSHAP (Jethani et al. 2022): outputs that are Shapley values, learnt without computing any.

Shapley values solve the weighted least-squares problem of KernelSHAP. Averaged over inputs, the same loss is minimised
by a model whose outputs are the Shapley values of every input. Its masks need forward passes only, and each mask is run
once: the values are kept, so that later epochs cost one pass per input.
"""

from __future__ import annotations

from dataclasses import dataclass
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

GAP = 0.1  # weight of the squared difference between the sum of the outputs and v(all) - v(none)
CHUNK = 64  # texts whose masks run together
FILE = "values.safetensors"


@dataclass(frozen=True, eq=False)
class MaskValues:
    """Masks of each text, and the outputs of the model for no unit at all and for each mask."""

    keeps: tuple[Bools, ...]  # (K,U) of each text
    outputs: NDArray[np.float32]  # (N,K+1,C); nothing kept first; zeros where a text of one unit has no masks


def mask_values(
    texts: FitTexts, removal: Removal, masks: int, seed: int, *, folder: Path | None, progress: bool | None = None
) -> MaskValues:
    """Draw the masks of each text, seeded by its content, and run them; a folder keeps what has run."""
    keeps = tuple(
        kernel_masks(e.players, masks, generator("fit masks", seed, e.example.content)) for e in texts.encodings
    )
    key = f"{texts.model.fingerprint} {texts.fingerprint} {removal.name} {masks} {seed}"
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


@dataclass(frozen=True, eq=False)
class ShapleyObjective:
    """mean over masks S of (v(S) - v(none) - sum of phi over S)^2 / spread^2, S drawn from the Shapley kernel in pairs
    with its complement, phi shifted so that it sums to v(all) - v(none), plus a small multiple of the squared shift."""

    values: MaskValues
    scale: Scale
    independent: bool
    spread: float  # of v(all) - v(none)

    def loss(self, batch: FitBatch, outputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of the explainer's outputs (B,T), in units of the spread, for the classes `labels` (B,)."""
        assert batch.batch.unit_of is not None
        keeps = [self.values.keeps[i] for i in batch.index]
        most = max(keep.shape[1] for keep in keeps)
        phi = unit_scores(outputs, batch.batch.unit_of, most)  # (B,U)
        sizes = torch.tensor([keep.shape[1] for keep in keeps], device=phi.device)
        played = torch.zeros(len(keeps), self.values.outputs.shape[1] - 1, most)
        for row, keep in zip(played, keeps, strict=True):
            row[: len(keep), : keep.shape[1]] = torch.from_numpy(keep)
        seen = torch.from_numpy(self.values.outputs[list(batch.index)]).to(phi)
        value = class_values(seen, labels, self.scale, independent=self.independent) / self.spread  # (B,K+1)
        full = class_values(batch.outputs.unsqueeze(1).to(phi), labels, self.scale, independent=self.independent)
        return least_squares(phi, sizes, played.to(phi), value, full[:, 0] / self.spread).mean()


def least_squares(phi: Tensor, sizes: Tensor, keep: Tensor, values: Tensor, full: Tensor) -> Tensor:
    """(B,) the loss of phi (B,U) with the masks keep (B,K,U), values (B,K+1) of nothing and of each mask, full (B,).

    Texts of one unit have no masks: only their sum counts.
    """
    empty = values[:, 0]
    gap = full - empty - phi.sum(1)
    real = torch.arange(phi.shape[1], device=phi.device) < sizes.unsqueeze(1)
    shifted = torch.where(real, phi + (gap / sizes).unsqueeze(1), 0.0)
    error = values[:, 1:] - empty.unsqueeze(1) - (keep @ shifted.unsqueeze(-1)).squeeze(-1)
    several = (sizes > 1).to(phi)
    return error.square().mean(1) * several + GAP * gap.square()


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


def kernel_masks(n: int, masks: int, rng: np.random.Generator) -> Bools:
    """(masks,n) sets of 1..n-1 units, sizes with weight 1 / (s (n - s)), each followed by its complement."""
    if n == 1:
        return np.zeros((0, 1), bool)
    sizes = rng.choice(np.arange(1, n), size=masks // 2, p=kernel_sizes(n))
    rank = rng.random((masks // 2, n)).argsort(1).argsort(1)
    half = rank < sizes[:, None]
    return np.stack([half, ~half], 1).reshape(-1, n)


def kernel_sizes(n: int) -> NDArray[np.float64]:
    """(n-1,) probabilities of the sizes 1..n-1: the Shapley kernel, summed over all sets of a size."""
    size = np.arange(1, n)
    weight = 1 / (size * (n - size))
    out: NDArray[np.float64] = weight / weight.sum()
    return out


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
