"""Gradient ascent on a perturbation of word embeddings, for many inputs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from assay.core.errors import UnsupportedError
from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Target
from assay.evaluation.adversarial._steps import Steps, begin_steps
from assay.evaluation.adversarial._top import AttackObjective, StepRule
from assay.explainers.assemble import as_scores
from assay.masking.units import unit_scores
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets, scaled


@dataclass(frozen=True)
class Explained:
    """Scores and outputs at one perturbation, with their graph."""

    scores: Tensor  # (B,U)
    logits: Tensor  # (B,C)


@dataclass(frozen=True)
class AttackProblem:
    """A batch of inputs and the method that is attacked."""

    model: Model
    method: Any
    batch: Batch
    asked: tuple[Target, ...]
    start: Tensor  # (B,T,D) the inputs' own embeddings
    units: Tensor  # (B,) number of units of each input
    width: int  # of `scores`

    @staticmethod
    def of(model: Model, method: Any, batch: Batch, asked: Sequence[Target], units: Sequence[int]) -> AttackProblem:
        count = torch.tensor(units, device=batch.ids.device)
        return AttackProblem(model, method, batch, tuple(asked), model.embeddings(batch).detach(), count, max(units))

    def take(self, rows: list[int]) -> AttackProblem:
        asked = tuple(self.asked[i] for i in rows)
        return replace(self, batch=self.batch.take(rows), asked=asked, start=self.start[rows], units=self.units[rows])

    @property
    def scale(self) -> Tensor:
        """(B,) the size of the embeddings that may be perturbed."""
        return self.size(self.start)

    def size(self, vectors: Tensor) -> Tensor:
        """(B,) root mean square of the entries of vectors (B,T,D) at the positions that may be perturbed."""
        free = self.batch.playing.unsqueeze(-1)
        total = (vectors.double() ** 2 * free).sum((1, 2))
        out: Tensor = (total / (free.sum((1, 2)) * vectors.shape[-1])).sqrt()
        return out.to(vectors)

    def explain(self, delta: Tensor) -> tuple[Explained, Targets]:
        """Explain the inputs at start + delta; only positions of units are moved."""
        moved = self.start + delta * self.batch.playing.unsqueeze(-1)
        targets = self.model.targets(self.asked, self.method.facts.scale)
        batch = replace(self.batch, embeddings=moved)
        result = as_scores(self.method.attribute(self.model, batch, targets))
        scores = result.scores
        if delta.requires_grad and not scores.requires_grad:
            raise UnsupportedError(
                f"{Spec.of(self.method, full=False)} cannot be attacked: its scores are not a differentiable function "
                "of the embeddings; use gradient, gradient_x_input or integrated_gradients"
            )
        logits = self.model.full_logits(batch) if result.logits is None else result.logits
        assert self.batch.unit_of is not None
        return Explained(unit_scores(scores, self.batch.unit_of, self.width), logits), targets.resolve(logits)

    def probability(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(B,) probabilities of the labels; for regression, the output."""
        scale: Any = "raw" if self.model.task == "regression" else "probability"
        out = scaled(logits, scale, independent=self.model.task == "multi_label")
        return out.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


@dataclass(frozen=True)
class AscentSettings:
    """The objective and the settings of gradient ascent."""

    objective: AttackObjective
    alpha: float
    beta: float
    step: StepRule
    steps: int
    rate: float
    halve: int  # number of steps after which the rate is halved
    tolerance: float
    patience: int  # number of consecutive small steps that end an attack

    def rate_at(self, step: int) -> float:
        return float(self.rate * 0.5 ** (step // self.halve))

    def value(self, distance: Tensor, drift: Tensor) -> Tensor:
        """(B,): D, or alpha D - beta (m(x) - m(x + delta))^2."""
        return distance if self.objective == "prediction_kept" else self.alpha * distance - self.beta * drift**2


@dataclass
class AttackState:
    """The current perturbation of each input and the best one so far. All (B, ...)."""

    top: Tensor  # (B,U) 1 in the original top k
    labels: Tensor
    probability: Tensor  # of the original
    original: Tensor  # (B,U) scores
    distance: Tensor  # D of the original
    delta: Tensor  # (B,T,D)
    small_steps: Tensor  # in a row
    taken: Tensor  # steps
    best: Tensor  # value of the objective
    best_distance: Tensor
    best_scores: Tensor
    best_probability: Tensor
    best_delta: Tensor
    best_moved: Tensor  # largest change of an entry of best_delta at the last look
    curve: list[Tensor]  # best value of the objective before each step

    @staticmethod
    def begin(
        problem: AttackProblem, explained: Explained, targets: Targets, k: Sequence[int], delta: Tensor
    ) -> AttackState:
        scores, logits = explained.scores.detach(), explained.logits.detach()
        labels = targets.labels.to(scores.device)
        p, top = problem.probability(logits, labels), top_mask(scores, problem.units, k)
        d = -(scores * top).sum(-1)
        none = torch.zeros_like(problem.units)
        nothing = torch.zeros_like(delta)
        return AttackState(
            top, labels, p, scores, d, nothing, none, none.clone(), d - torch.inf, d, scores, p, nothing, d * 0, []
        )

    def update(self, problem: AttackProblem, settings: AscentSettings, rows: Tensor, explained: Explained) -> Tensor:
        """The objective at `rows` (with its graph), remembered where it is the best allowed value so far."""
        distance = -(explained.scores * self.top[rows]).sum(-1)
        p = problem.probability(explained.logits, self.labels[rows])
        value = settings.value(distance, self.probability[rows] - p)
        self._remember(settings, rows, explained, value.detach(), distance.detach(), p.detach())
        return value

    def _remember(
        self, settings: AscentSettings, rows: Tensor, explained: Explained, value: Tensor, distance: Tensor, p: Tensor
    ) -> None:
        """With prediction_kept, perturbations that change the class are not allowed. (Regression has one class.)"""
        allowed = explained.logits.argmax(-1) == self.labels[rows]
        better = value > self.best[rows]
        better &= allowed | (settings.objective == "probability_matched")
        hit = rows[better]
        self.best = self.best.index_put((hit,), value[better])
        self.best_distance = self.best_distance.index_put((hit,), distance[better])
        self.best_scores = self.best_scores.index_put((hit,), explained.scores.detach()[better])
        self.best_probability = self.best_probability.index_put((hit,), p[better])
        self.best_moved = torch.zeros_like(self.best_moved)
        self.best_moved[hit] = (self.delta[hit] - self.best_delta[hit]).abs().amax((1, 2))
        self.best_delta = self.best_delta.index_put((hit,), self.delta[hit])
        self.curve.append(self.best)

    def explain_with(self, problem: AttackProblem) -> None:
        """Replace the scores before and after by those of another method, for the attacked class."""
        asked = zip(problem.asked, self.labels.tolist(), strict=True)
        problem = replace(problem, asked=tuple(replace(target, label=label) for target, label in asked))
        with problem.model.frozen():
            self.original, self.best_scores = (
                problem.explain(delta)[0].scores.detach()
                for delta in (torch.zeros_like(self.best_delta), self.best_delta)
            )


def top_mask(scores: Tensor, units: Tensor, k: Sequence[int]) -> Tensor:
    """(B,U) 1 for the k units of each input with the highest signed scores, ties in reading order."""
    place = torch.arange(scores.shape[1], device=scores.device)
    masked = scores.masked_fill(place >= units.unsqueeze(-1), -torch.inf)
    rank = masked.argsort(dim=-1, descending=True, stable=True).argsort(-1)
    return (rank < torch.tensor(list(k), device=scores.device).unsqueeze(-1)).to(scores)


def ascend(
    problem: AttackProblem, settings: AscentSettings, epsilon: Tensor, k: Sequence[int], bar: Progress | None = None
) -> AttackState:
    """delta <- clip(delta + rate x direction, -epsilon, epsilon), until the last step or enough small ones in a row.

    `bar` advances by one for each step of each input, and at once by the steps that are not needed.
    """
    model, bar = problem.model, bar or Progress("", None, show=False)
    with torch.enable_grad(), model.frozen():
        delta = torch.zeros_like(problem.start).requires_grad_()
        explained, targets = problem.explain(delta)
        problem = replace(problem, asked=tuple(targets.resolved))  # keep the class predicted on x
        state = AttackState.begin(problem, explained, targets, k, delta.detach())
        rows, steps = torch.arange(len(problem.batch), device=delta.device), begin_steps(settings.step, problem.start)
        current = problem
        for step in range(settings.steps):
            value = state.update(current, settings, rows, explained)
            (gradient,) = torch.autograd.grad(value.sum(), delta)
            model.passes.backwards += len(rows) * getattr(problem.method, "rows", 1)
            bar.advance(len(problem.batch))
            move = settings.rate_at(step) * steps.direction(gradient, rows)
            rows, all_active = _move(state, rows, steps, move, epsilon, settings)
            if not len(rows):
                bar.advance(len(problem.batch) * (settings.steps - step - 1))
                return state
            current = current if all_active else problem.take(rows.tolist())
            delta = state.delta[rows].requires_grad_()
            explained, _ = current.explain(delta)
        state.update(current, settings, rows, explained)
    return state


def _move(
    state: AttackState, rows: Tensor, steps: Steps, move: Tensor, epsilon: Tensor, settings: AscentSettings
) -> tuple[Tensor, bool]:
    """Take one step; return the rows that are still active, and whether all are.

    Relative steps do not become small by themselves, and go to and fro around a maximum: there the best delta counts.
    """
    delta, bound = state.delta[rows], epsilon[rows].view(-1, 1, 1)
    new = delta + (move * bound if steps.relative else move)
    new = torch.maximum(torch.minimum(new, bound), -bound)
    moved = state.best_moved[rows] if steps.relative else (new - delta).abs().amax((1, 2))
    small = moved < settings.tolerance
    state.delta = state.delta.index_put((rows,), new)
    state.taken = state.taken.index_put((rows,), state.taken[rows] + 1)
    state.small_steps = state.small_steps.index_put((rows,), torch.where(small, state.small_steps[rows] + 1, 0))
    active = state.small_steps[rows] < settings.patience
    return rows[active], bool(active.all())
