"""Integrated gradients (Sundararajan et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.gradient._baseline import baseline_embeddings
from assay.explainers.gradient._points import each, parts, summed_gradients
from assay.explainers.gradient._quadrature import SCAN, QuadratureRule, Reals, adaptive, quadrature
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

MAX_STEPS = 1024  # with `tolerance`


@dataclass(frozen=True)
class IntegratedGradients:
    """score_i = <x_i - r_i, integral_0^1 dv/dx_i (r + a (x - r)) da>, r = every unit replaced by the baseline.

    Complete: scores sum to v(x) - v(r) up to the quadrature error, which is reported. Rules: adaptive (default; seven
    extra forward passes find where the value changes and place the nodes there), gauss_legendre, and left, right and
    middle Riemann sums. With `tolerance`, steps are doubled for inputs with a larger error, up to 1,024.
    Weakness: the path passes through embeddings that belong to no word.
    """

    steps: int = 24
    baseline: str | None = None
    rule: QuadratureRule = "adaptive"
    tolerance: float | None = None
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=True,
        complete=True,
        class_dependent=True,
        passes="9 f + steps (f + b); 2 f + steps (f + b) for the fixed rules",
        memory="L x T x D per step run at once",
    )

    def __post_init__(self) -> None:
        if self.steps < 1 or (self.tolerance is not None and self.tolerance <= 0):
            raise ValueError("steps must be at least 1 and tolerance above 0")

    @property
    def rows(self) -> int:
        return self.steps

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        path = EmbeddingPath.between(model, batch, targets, baseline_embeddings(model, batch, self.baseline))
        known = path.scan(SCAN if self.rule == "adaptive" else 2)  # (B,K) values along the path, including both ends
        gain = known[:, -1] - known[:, 0]
        scores = self._integral(path, known, range(len(batch)), self.steps)
        error, steps = (scores.sum(-1).double() - gain).abs(), [self.steps] * len(batch)
        while again := _unfinished(error, steps, self.tolerance):
            count = 2 * steps[again[0]]
            scores[again] = self._integral(path, known, again, count)
            error[again] = (scores[again].sum(-1).double() - gain[again]).abs()
            steps = [count if i in again else s for i, s in enumerate(steps)]
        extra = {"completeness_error": error.tolist(), "steps": steps, "value_empty": known[:, 0].tolist()}
        return Scores(scores, extra, path.logits)

    def _integral(self, path: EmbeddingPath, known: Tensor, rows: range | list[int], steps: int) -> Tensor:
        """(R,T) scores of some of the inputs."""
        if self.rule == "adaptive":
            nodes, weights = adaptive(known[list(rows)].numpy(force=True), steps)
        else:
            nodes, weights = (np.tile(a, (len(rows), 1)) for a in quadrature(self.rule, steps))
        return path.take(list(rows)).integral(nodes, weights)


@dataclass(frozen=True)
class EmbeddingPath:
    """The straight line from the baseline to each input of a batch."""

    model: Model
    batch: Batch
    targets: Targets
    start: Tensor  # (B,T,D)
    end: Tensor  # (B,T,D)
    logits: Tensor  # (B,C) at the end

    @staticmethod
    def between(model: Model, batch: Batch, targets: Targets, start: Tensor) -> EmbeddingPath:
        logits = model.full_logits(batch)
        return EmbeddingPath(model, batch, targets.resolve(logits), start, model.embeddings(batch), logits)

    def take(self, rows: list[int]) -> EmbeddingPath:
        if rows == list(range(len(self.batch))):
            return self
        parts = (tensor[rows] for tensor in (self.start, self.end, self.logits))
        return EmbeddingPath(self.model, self.batch.take(rows), self.targets.take(rows), *parts)

    def point(self, owner: Tensor, alpha: Tensor) -> Tensor:
        return self.start[owner].lerp(self.end[owner], alpha.view(-1, 1, 1))

    @torch.no_grad()
    def scan(self, points: int) -> Tensor:
        """(B,points) values at equal distances, in float64; the last is known from the whole inputs."""
        owner = each(self.batch, points - 1)
        alpha = torch.linspace(0, 1, points, device=owner.device)[:-1].to(self.end).repeat(len(self.batch))
        values = []
        for rows in parts(self.batch, len(owner)):
            index = owner[rows].tolist()
            point = self.point(owner[rows], alpha[rows])
            logits = self.model.logits(replace(self.batch.take(index), embeddings=point))
            values.append(self.targets.take(index).values(logits.double()))
        last = self.targets.values(self.logits.double())
        return torch.cat([torch.cat(values).view(len(self.batch), -1), last[:, None]], 1)

    def integral(self, nodes: Reals, weights: Reals) -> Tensor:
        """(B,T): <end - start, sum over nodes of weight x gradient>."""
        alpha, weight = (torch.from_numpy(a.reshape(-1)).to(self.end) for a in (nodes, weights))
        owner = each(self.batch, nodes.shape[1])
        mean = summed_gradients(
            self.model, self.batch, self.targets, owner, weight, lambda mine, rows: self.point(mine, alpha[rows])
        )
        return (mean * (self.end - self.start)).sum(-1)


def _unfinished(error: Tensor, steps: list[int], tolerance: float | None) -> list[int]:
    """Indices of the inputs to repeat, all with the same number of steps."""
    late = [i for i, e in enumerate(error.tolist()) if tolerance is not None and e > tolerance and steps[i] < MAX_STEPS]
    return [i for i in late if steps[i] == steps[late[0]]]
