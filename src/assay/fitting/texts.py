"""The inputs that an explainer is fitted on, with what the explained model says about them, computed once."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.core.errors import DataWarning, InputError, SpecError
from assay.core.notices import unsaid
from assay.core.progress import Progress
from assay.datasets.dataset import Dataset
from assay.explainers.white_box import batch_with_units
from assay.masking.units import divide
from assay.models.batches import run_in_batches
from assay.models.encoding import Batch, Encoding
from assay.models.model import Model

LEAST = 20  # texts; fewer give a head that knows these texts and no others


@dataclass(frozen=True, eq=False)
class FitTexts:
    """Encoded inputs and the outputs (N,C) of the explained model for them."""

    model: Model
    encodings: tuple[Encoding, ...]
    outputs: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.encodings)

    @property
    def lengths(self) -> list[int]:
        return [len(encoding) for encoding in self.encodings]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the model reads; depends on the length limit too."""
        digest = hashlib.sha256()
        for encoding in self.encodings:
            digest.update(encoding.ids.tobytes() + encoding.example.content.encode() + b"\x1e")
        return digest.hexdigest()

    def take(self, index: Sequence[int]) -> FitBatch:
        chosen = [self.encodings[i] for i in index]
        outputs = torch.from_numpy(self.outputs[list(index)]).to(self.model.device)
        return FitBatch(self.model, batch_with_units(self.model, chosen), outputs, tuple(index))


@dataclass(frozen=True, eq=False)
class FitBatch:
    """Some of the inputs as a batch."""

    model: Model
    batch: Batch
    outputs: Tensor  # (B,C)
    index: tuple[int, ...]  # places among all texts


def fit_texts(model: Model, data: Dataset, *, least: int = 1, progress: bool | None = None) -> FitTexts:
    """Encode the examples and run the model on them; those without words are left out."""
    kind = "patch" if model.family.images else "token"
    encodings, name = [], data.name or "the data"
    with unsaid("length"), model.frozen():
        for example in data:
            try:
                encodings.append(divide(model.encode(example), kind))
            except InputError:
                continue
    if len(encodings) < least:
        raise SpecError(
            f"{name} has {len(encodings)} inputs with words, too few to fit an explainer on; give at least {least}, "
            "better a thousand"
        )
    if cut := sum(bool(e.unseen) for e in encodings):
        warnings.warn(f"{cut:,} of {len(encodings):,} texts of {name} are longer than the length limit", stacklevel=3)
    outputs = _outputs(model, encodings, progress)
    predicted = set(outputs.argmax(-1).tolist())
    if model.task == "classification" and len(predicted) == 1 and least > 1:
        warnings.warn(
            f"the model predicts {model.labels[predicted.pop()]!r} for every text of {name}: the explainer will know "
            "little about other classes",
            DataWarning,
            stacklevel=3,
        )
    return FitTexts(model, tuple(encodings), outputs)


def _outputs(model: Model, encodings: Sequence[Encoding], progress: bool | None) -> NDArray[np.float32]:
    out = np.empty((len(encodings), len(model.labels)), np.float32)

    def run(batch: list[int], budget: int) -> NDArray[np.float32]:
        with torch.inference_mode():
            logits = model.logits(model.batch([encodings[i] for i in batch]))
        rows: NDArray[np.float32] = logits.float().numpy(force=True)
        return rows

    lengths = [len(e) for e in encodings]
    with Progress("predicting", len(encodings), progress) as bar, model.frozen():
        for batch, rows in run_in_batches(lengths, model.budget, run):
            out[batch] = rows
            bar.advance(len(batch))
    return out
