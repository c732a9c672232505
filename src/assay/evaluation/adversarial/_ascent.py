"""Gradient ascent on a perturbation of word embeddings, many inputs at once, each on its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from assay.core.errors import UnsupportedError
from assay.core.spec import Spec
from assay.core.types import Target
from assay.explainers.assemble import as_scores
from assay.masking.units import unit_scores
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets, scaled

Objective = Literal["prediction_kept", "probability_matched"]


@dataclass(frozen=True)
class Look:
    """What is seen at one perturbation, with its graph."""

    scores: Tensor  # (B,U)
    logits: Tensor  # (B,C)


@dataclass(frozen=True)
class Problem:
    """Some inputs and the method that is attacked on them."""

    model: Model
    method: Any
    batch: Batch
    asked: tuple[Target, ...]
    start: Tensor  # (B,T,D) the inputs' own embeddings
    units: Tensor  # (B,) how many units each input has
    width: int  # of `scores`

    @staticmethod
    def of(model: Model, method: Any, batch: Batch, asked: Sequence[Target], units: Sequence[int]) -> Problem:
        count = torch.tensor(units, device=batch.ids.device)
        return Problem(model, method, batch, tuple(asked), model.embeddings(batch).detach(), count, max(units))

    def take(self, rows: list[int]) -> Problem:
        asked = tuple(self.asked[i] for i in rows)
        return replace(self, batch=self.batch.take(rows), asked=asked, start=self.start[rows], units=self.units[rows])

    @property
    def scale(self) -> Tensor:
        """(B,) root mean square of the entries of the embeddings that may be perturbed."""
        free = self.batch.playing.unsqueeze(-1)
        total = (self.start.double() ** 2 * free).sum((1, 2))
        out: Tensor = (total / (free.sum((1, 2)) * self.start.shape[-1])).sqrt()
        return out.to(self.start)

    def look(self, delta: Tensor) -> tuple[Look, Targets]:
        """Explanation and outputs at start + delta; only positions of units are moved."""
        moved = self.start + delta * self.batch.playing.unsqueeze(-1)
        targets = Targets(self.asked, self.method.scale, self.model.task == "multi_label")
        batch = replace(self.batch, embeddings=moved)
        result = as_scores(self.method.attribute(self.model, batch, targets))
        scores = result.scores
        if delta.requires_grad and not scores.requires_grad:
            raise UnsupportedError(
                f"{Spec.of(self.method, full=False)} cannot be attacked by gradients: its scores are no differentiable "
                "function of the embeddings; use gradient, gradient_x_input or integrated_gradients"
            )
        logits = self.model.full_logits(batch) if result.logits is None else result.logits
        assert self.batch.unit_of is not None
        return Look(unit_scores(scores, self.batch.unit_of, self.width), logits), targets.resolve(logits)

    def probability(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(B,) of the labels; a regression has its output instead."""
        scale: Any = "raw" if self.model.task == "regression" else "probability"
        out = scaled(logits, scale, independent=self.model.task == "multi_label")
        return out.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


@dataclass(frozen=True)
class Rule:
    """The objective and how it is climbed."""

    objective: Objective
    alpha: float
    beta: float
    steps: int
    rate: float
    halve: int  # the rate is halved every so many steps
    tolerance: float
    patience: int  # so many small moves in a row end an attack

    def rate_at(self, step: int) -> float:
        return float(self.rate * 0.5 ** (step // self.halve))

    def value(self, distance: Tensor, drift: Tensor) -> Tensor:
        """(B,): D, or alpha D - beta (m(x) - m(x + delta))^2."""
        return distance if self.objective == "prediction_kept" else self.alpha * distance - self.beta * drift**2


@dataclass
class State:
    """What is known of each input so far: where it is, and the best place it has seen. All (B, ...)."""

    top: Tensor  # (B,U) 1 in the original top k
    labels: Tensor
    probability: Tensor  # of the original
    original: Tensor  # (B,U) scores
    distance: Tensor  # D of the original
    delta: Tensor  # (B,T,D)
    quiet: Tensor  # small moves in a row
    taken: Tensor  # steps
    best: Tensor  # value of the objective
    best_distance: Tensor
    best_scores: Tensor
    best_probability: Tensor
    best_delta: Tensor
    curve: list[Tensor]  # best value of the objective before each step

    @staticmethod
    def begin(problem: Problem, look: Look, targets: Targets, k: Sequence[int], delta: Tensor) -> State:
        scores, logits = look.scores.detach(), look.logits.detach()
        labels = targets.labels.to(scores.device)
        p, top = problem.probability(logits, labels), top_mask(scores, problem.units, k)
        d = -(scores * top).sum(-1)
        none = torch.zeros_like(problem.units)
        nothing = torch.zeros_like(delta)
        return State(top, labels, p, scores, d, nothing, none, none.clone(), d - torch.inf, d, scores, p, nothing, [])

    def see(self, problem: Problem, rule: Rule, rows: Tensor, look: Look) -> Tensor:
        """The objective at `rows` (with its graph), remembered where it is the best that is allowed."""
        distance = -(look.scores * self.top[rows]).sum(-1)
        p = problem.probability(look.logits, self.labels[rows])
        value = rule.value(distance, self.probability[rows] - p)
        self._remember(rule, rows, look, value.detach(), distance.detach(), p.detach())
        return value

    def _remember(self, rule: Rule, rows: Tensor, look: Look, value: Tensor, distance: Tensor, p: Tensor) -> None:
        """A change of class is no success where the prediction is to be kept. (Regression has one class for all.)"""
        allowed = look.logits.argmax(-1) == self.labels[rows]
        better = value > self.best[rows]
        better &= allowed | (rule.objective == "probability_matched")
        hit = rows[better]
        self.best = self.best.index_put((hit,), value[better])
        self.best_distance = self.best_distance.index_put((hit,), distance[better])
        self.best_scores = self.best_scores.index_put((hit,), look.scores.detach()[better])
        self.best_probability = self.best_probability.index_put((hit,), p[better])
        self.best_delta = self.best_delta.index_put((hit,), self.delta[hit])
        self.curve.append(self.best)

    def explain_anew(self, problem: Problem) -> None:
        """Scores before and after by the method of another problem, of the class that the attack was about."""
        asked = zip(problem.asked, self.labels.tolist(), strict=True)
        problem = replace(problem, asked=tuple(replace(target, label=label) for target, label in asked))
        with problem.model.frozen():
            self.original, self.best_scores = (
                problem.look(delta)[0].scores.detach() for delta in (torch.zeros_like(self.best_delta), self.best_delta)
            )


def top_mask(scores: Tensor, units: Tensor, k: Sequence[int]) -> Tensor:
    """(B,U) 1 for the k units of each input with the highest signed scores, equal ones in reading order."""
    place = torch.arange(scores.shape[1], device=scores.device)
    masked = scores.masked_fill(place >= units.unsqueeze(-1), -torch.inf)
    rank = masked.argsort(dim=-1, descending=True, stable=True).argsort(-1)
    return (rank < torch.tensor(list(k), device=scores.device).unsqueeze(-1)).to(scores)


def ascend(problem: Problem, rule: Rule, epsilon: Tensor, k: Sequence[int]) -> State:
    """delta <- clip(delta + rate x gradient, -epsilon, epsilon) until the steps are used up or delta stands still."""
    model = problem.model
    with torch.enable_grad(), model.frozen():
        delta = torch.zeros_like(problem.start).requires_grad_()
        look, targets = problem.look(delta)
        problem = replace(problem, asked=tuple(targets.resolved))  # the class stays the one predicted on x
        state = State.begin(problem, look, targets, k, delta.detach())
        rows = torch.arange(len(problem.batch), device=delta.device)
        here = problem
        for step in range(rule.steps):
            value = state.see(here, rule, rows, look)
            (gradient,) = torch.autograd.grad(value.sum(), delta)
            model.passes.backwards += len(rows) * getattr(problem.method, "rows", 1)
            rows, still = _move(state, rows, delta.detach(), rule.rate_at(step) * gradient, epsilon, rule)
            if not len(rows):
                return state
            here = here if still else problem.take(rows.tolist())
            delta = state.delta[rows].requires_grad_()
            look, _ = here.look(delta)
        state.see(here, rule, rows, look)
    return state


def _move(state: State, rows: Tensor, delta: Tensor, move: Tensor, epsilon: Tensor, rule: Rule) -> tuple[Tensor, bool]:
    """One step; the inputs that go on, and whether these are all."""
    bound = epsilon[rows].view(-1, 1, 1)
    new = torch.maximum(torch.minimum(delta + move, bound), -bound)
    small = (new - delta).abs().amax((1, 2)) < rule.tolerance
    state.delta = state.delta.index_put((rows,), new)
    state.taken = state.taken.index_put((rows,), state.taken[rows] + 1)
    state.quiet = state.quiet.index_put((rows,), torch.where(small, state.quiet[rows] + 1, 0))
    going = state.quiet[rows] < rule.patience
    return rows[going], bool(going.all())
