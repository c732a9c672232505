"""A student that learns to predict what a teacher says, guided by the teacher's explanations (Fernandes et al. 2022).

L = L_sim + beta KL(teacher's explanation || student's explanation). The student explains itself by its own attention
logits, with head weights that it learns; nobody explains anything to it when it is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from assay.core.errors import InputError
from assay.models import attention_hooks
from assay.models.encoding import Batch
from assay.models.head_logits import HeadLogits
from assay.models.head_weights import Normaliser, explanation, initial, normalise
from assay.models.model import Model
from assay.training.classifier import Trainable
from assay.training.encoded import LabelledBatch

SMALLEST = 1e-7  # probabilities inside logarithms are clamped to [SMALLEST, 1 - SMALLEST], as in the paper's code
Shares = NDArray[np.float32]  # (T,) an explanation as a distribution over positions


class Student(Trainable):
    """A model with head weights of its own; `last` restricts its explanations to the heads of the last layer."""

    def __init__(self, model: Model, normaliser: Normaliser = "sparsemax", *, last: bool = False) -> None:
        super().__init__(model)
        self.normaliser, self.last = normaliser, last
        heads = model.n_heads // model.n_blocks if last else model.n_heads
        self.phi = nn.Parameter(initial(heads).to(model.device, model.dtype))

    def explained(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Outputs (B,C), and the student's explanation (B,T) of the same pass."""
        reader = HeadLogits(batch.mask)
        with attention_hooks.reading(self.model.hf, self.model.family, reader):
            outputs = self(batch)
        heads = reader.layers[-1] if self.last else reader.heads
        return outputs, explanation(heads, normalise(self.phi, self.normaliser), batch.mask)


def divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """Mean over the batch of KL(teacher || student) over tokens; distributions (B,T), 0 at padding."""
    logs = [p.clamp(SMALLEST, 1 - SMALLEST).log() for p in (teacher, student)]
    return (teacher * (logs[0] - logs[1])).sum(1).mean()


def simulation_loss(outputs: Tensor, gold: Tensor) -> Tensor:
    """Cross entropy with the teacher's class, or squared error with its score."""
    return cross_entropy(outputs, gold) if not gold.is_floating_point() else mse_loss(outputs.squeeze(-1), gold)


@dataclass(frozen=True)
class TeachingLoss:
    """The student's loss; explanations by `Example.content`."""

    explanations: Mapping[str, Shares]
    beta: float

    def __call__(self, student: Student, item: LabelledBatch) -> Tensor:
        outputs, own = student.explained(item.batch)
        taught = stacked([self.explanations[e.content] for e in item.examples], own)
        return simulation_loss(outputs, item.gold) + self.beta * divergence(taught, own)


def stacked(rows: list[Shares], like: Tensor) -> Tensor:
    """(B,T) explanations of a batch; 0 at padding."""
    out = np.zeros(tuple(like.shape), np.float32)
    for i, row in enumerate(rows):
        if len(row) > out.shape[1]:
            raise InputError(f"an explanation of {len(row)} positions for a text of {out.shape[1]}")
        out[i, : len(row)] = row
    return torch.from_numpy(out).to(like)
