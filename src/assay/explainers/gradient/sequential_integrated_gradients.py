"""Sequential integrated gradients (Enguehard 2023)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.gradient._baseline import baseline_embeddings
from assay.explainers.gradient._points import parts
from assay.explainers.gradient._quadrature import quadrature
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model, NotFiniteError, wide
from assay.models.target import Targets

ROWS_PER_PASS = 16  # longer inputs run alone, so nothing is padded


@dataclass(frozen=True)
class SequentialIntegratedGradients:
    """score_i = <x_i - r_i, integral_0^1 dv/dx_i (x with x_i -> r_i + a (x_i - r_i)) da>: one path per token.

    On its path only token i moves, so its integral is v(x) - v(x with r_i instead of x_i), for each i separately.
    `exact` (default) computes that difference, one forward pass per token; `exact=False` integrates with `steps` nodes
    of a rule and reports the largest difference as quadrature_error (up to 9e-4 of a logit with the paper's 50 nodes on
    four SST sentences and a fine-tuned MiniLM, 7e-6 with 100: docs/speed_search.md).
    Weakness: summed over the width it is occlusion by the baseline, and as blind to redundancy; not complete.
    """

    exact: bool = True
    steps: int = 50
    rule: Literal["gauss_legendre", "left", "right", "middle"] = "gauss_legendre"
    baseline: str | None = None
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=True,
        complete=False,
        class_dependent=True,
        passes="(n + 1) f; with exact=False (n + 1) f + n steps (f + b)",
        memory="T x D; with exact=False L x T x D per step run at once",
    )

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("steps must be at least 1")

    @property
    def rows(self) -> int:
        return ROWS_PER_PASS if self.exact else ROWS_PER_PASS * self.steps

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        moves = _Moves.of(model, batch, targets, baseline_embeddings(model, batch, self.baseline))
        exact = moves.effects()  # (B,T)
        if self.exact:
            return Scores(exact, {"form": ["exact"] * len(batch)}, moves.logits)
        nodes, weights = (torch.from_numpy(a).to(moves.end) for a in quadrature(self.rule, self.steps))
        walked = moves.integrals(nodes, weights)
        error = (walked - exact).abs().amax(1).tolist()
        return Scores(walked, {"form": ["path"] * len(batch), "quadrature_error": error}, moves.logits)


@dataclass(frozen=True)
class _Moves:
    """One move per token of a batch: its embedding moves to the baseline's while all others stay."""

    model: Model
    batch: Batch
    targets: Targets
    start: Tensor  # (B,T,D)
    end: Tensor  # (B,T,D)
    logits: Tensor  # (B,C) of the whole inputs
    owner: Tensor  # (R,) which input moves
    place: Tensor  # (R,) and where

    @staticmethod
    def of(model: Model, batch: Batch, targets: Targets, start: Tensor) -> _Moves:
        logits = model.full_logits(batch)
        owner, place = batch.playing.nonzero(as_tuple=True)
        return _Moves(model, batch, targets.resolve(logits), start, model.embeddings(batch), logits, owner, place)

    def points(self, move: Tensor, alpha: Tensor) -> tuple[Batch, Targets]:
        """Inputs (K,T,D) with the token of each move at start + alpha (end - start)."""
        owner, place = self.owner[move], self.place[move]
        point = self.end[owner]
        own = self.start[owner, place].lerp(self.end[owner, place], alpha.view(-1, 1))
        point[torch.arange(len(move), device=move.device), place] = own
        index = owner.tolist()
        return replace(self.batch.take(index), embeddings=point), self.targets.take(index)

    @torch.no_grad()
    def effects(self) -> Tensor:
        """(B,T) v(x) - v(x with the baseline at one place), in float64; 0 at special tokens."""
        full = self.targets.values(self.logits.double())  # (B,)

        def lost(move: Tensor, rows: Tensor) -> Tensor:
            points, targets = self.points(move, self.end.new_zeros(len(move)))
            return full[self.owner[move]] - targets.values(self.model.logits(points).double())

        return self._collected(1, lost)

    def integrals(self, nodes: Tensor, weights: Tensor) -> Tensor:
        """(B,T) <end - start, sum over nodes of weight x gradient>, of each move at its own place."""
        alpha, weight = nodes.repeat(len(self.owner)), weights.repeat(len(self.owner))

        def share(move: Tensor, rows: Tensor) -> Tensor:
            owner, place = self.owner[move], self.place[move]
            gradient = self.model.gradients(*self.points(move, alpha[rows])).gradient
            own = gradient[torch.arange(len(move), device=move.device), place]  # (K,D)
            step = self.end[owner, place] - self.start[owner, place]
            return weight[rows].double() * (wide(own) * step).sum(-1).double()

        return self._collected(len(nodes), share)

    def _collected(self, times: int, compute: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """(B,T) results of `compute` for `times` rows of each move, summed at the place of the move."""
        moves = torch.arange(len(self.owner), device=self.owner.device).repeat_interleave(times)
        total = self.end.new_zeros(self.end.shape[:2], dtype=torch.float64)
        for rows in parts(self.batch, len(moves)):
            move = moves[rows]
            try:
                results = compute(move, rows)
            except NotFiniteError as error:
                error.row = int(self.owner[move][error.row])  # the input, not the row
                raise
            total.index_put_((self.owner[move], self.place[move]), results, accumulate=True)
        return total
