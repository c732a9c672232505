"""The gradient of a student's later loss with respect to what it was taught: bilevel optimisation (SMaT, section 5).

The student takes a step p' = update(p, g), with g the gradient of L_sim + beta KL(e(phi) || e_S(p)) on its texts. How
would its loss on other texts change with phi? Three answers: exact for one step without second derivatives, because phi
enters g only as the weights of log e_S; unrolled through any number of steps; implicit, as if p' were a minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, jvp

from assay.models import hooks
from assay.models.encoding import Batch
from assay.training.teaching import SMALLEST, Student, divergence, simulation_loss

Parameters = Mapping[str, Tensor]


@dataclass(frozen=True)
class Update:
    """A step of SGD as the training loop takes it: clip to a norm, add weight decay, step; differentiable."""

    rate: float
    clip: float | None = 5.0
    decay: float = 0.01

    def __call__(self, parameters: Parameters, gradients: Parameters) -> dict[str, Tensor]:
        factor = self._factor(gradients)
        return {name: p - self.rate * (gradients[name] * factor + self.decay * p) for name, p in parameters.items()}

    def _factor(self, gradients: Parameters) -> Tensor | float:
        if self.clip is None:
            return 1.0
        norm = torch.stack([g.square().sum() for g in gradients.values()]).sum().sqrt()
        return (self.clip / (norm + 1e-6)).clamp(max=1.0)  # as clip_grad_norm_


@dataclass(frozen=True)
class Lesson:
    """A batch that the student is taught: inputs, the teacher's answers, and the explanation of given parameters."""

    batch: Batch
    gold: Tensor
    explanation: Callable[[Tensor], Tensor]  # phi -> (B,T), differentiable


@dataclass(frozen=True)
class Exam:
    """A batch on which the student is examined afterwards, without explanations."""

    batch: Batch
    gold: Tensor


class _Explaining(nn.Module):
    """The student with its explanation as a second output, for `functional_call`."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.student = student

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        return self.student.explained(batch)


@dataclass(frozen=True)
class Bilevel:
    """Gradients with respect to phi for one student."""

    student: Student
    update: Update
    beta: float

    def gradient(self, phi: Tensor, lesson: Lesson, exam: Exam, seed: int = 0) -> Tensor:
        """Exact for one step: the direction in which the exam pulls the parameters, then how phi pushes that way.

        d loss / d phi = -beta d/d phi mean_b sum_t e(phi)_t D_u log e_S,t with u = (dp'/dg)^T d loss / dp'.
        """
        with hooks.twice_differentiable():
            start = self._parameters()
            gradients = self._gradients(start, lesson, phi.detach(), seed, graph=False)
            leaves = {name: g.detach().requires_grad_() for name, g in gradients.items()}
            pull = _grad(self._exam(self.update(_fixed(start), leaves), exam), leaves)
            return self._push(phi, lesson, pull, seed)

    def unrolled(self, phi: Tensor, lessons: list[Lesson], exam: Exam, seed: int = 0) -> Tensor:
        """Exact for several steps, through second derivatives."""
        with hooks.twice_differentiable():
            parameters: dict[str, Tensor] = dict(self._parameters())
            leaf = phi.detach().requires_grad_()
            for i, lesson in enumerate(lessons):
                gradients = self._gradients(parameters, lesson, leaf, seed + i, graph=True)
                parameters = self.update(parameters, gradients)
            (found,) = torch.autograd.grad(self._exam(parameters, exam), leaf)
        return found

    def implicit(self, phi: Tensor, lesson: Lesson, exam: Exam, seed: int = 0, terms: int = 3) -> Tensor:
        """As if the student had converged: -(d loss/dp) H^-1 d²L/dp dphi, H^-1 by a Neumann series of `terms` terms."""
        with hooks.twice_differentiable():
            parameters = self._parameters()
            gradients = self._gradients(parameters, lesson, phi.detach(), seed, graph=True)
            term = _grad(self._exam(parameters, exam), parameters)
            total = dict(term)
            for _ in range(terms):
                curved = _grad(_dot(gradients, term), parameters, keep=True)
                term = {name: t - self.update.rate * curved[name] for name, t in term.items()}
                total = {name: t + term[name] for name, t in total.items()}
            pull = {name: -self.update.rate * t for name, t in total.items()}
            return self._push(phi, lesson, pull, seed)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Tensor]:
        named = self.student.named_parameters()
        return {f"student.{n}": p.detach().clone().requires_grad_() for n, p in named if p.requires_grad}

    def _gradients(
        self, parameters: Parameters, lesson: Lesson, phi: Tensor, seed: int, *, graph: bool
    ) -> dict[str, Tensor]:
        outputs, own = self._run(parameters, lesson.batch, seed)
        loss = simulation_loss(outputs, lesson.gold) + self.beta * divergence(lesson.explanation(phi), own)
        return _grad(loss, parameters, graph=graph)

    def _run(self, parameters: Parameters, batch: Batch, seed: int) -> tuple[Tensor, Tensor]:
        """Outputs and explanation with other parameters; the seed fixes dropout."""
        torch.default_generator.manual_seed(seed)
        out: tuple[Tensor, Tensor] = functional_call(_Explaining(self.student), dict(parameters), (batch,))
        return out

    def _exam(self, parameters: Parameters, exam: Exam) -> Tensor:
        training = self.student.training
        self.student.eval()
        try:
            outputs, _ = functional_call(_Explaining(self.student), dict(parameters), (exam.batch,))
        finally:
            self.student.train(training)
        return simulation_loss(outputs, exam.gold)

    def _push(self, phi: Tensor, lesson: Lesson, pull: Parameters, seed: int) -> Tensor:
        """How phi moves the gradient along `pull`: its explanation weighs how log e_S changes in that direction."""

        def logs(parameters: dict[str, Tensor]) -> Tensor:
            return self._run(parameters, lesson.batch, seed)[1].clamp(SMALLEST, 1 - SMALLEST).log()

        point = _fixed(self._parameters())
        along = jvp(logs, (point,), ({n: u.detach() for n, u in pull.items()},))[1].detach()
        leaf = phi.detach().requires_grad_()
        pushed = -self.beta * (lesson.explanation(leaf) * along).sum(1).mean()
        (found,) = torch.autograd.grad(pushed, leaf)
        return found


def _fixed(parameters: Parameters) -> dict[str, Tensor]:
    return {name: p.detach() for name, p in parameters.items()}


def _grad(loss: Tensor, parameters: Parameters, *, graph: bool = False, keep: bool = False) -> dict[str, Tensor]:
    """Gradients by name; zeros where a parameter plays no part."""
    found: Any = torch.autograd.grad(
        loss, list(parameters.values()), create_graph=graph, retain_graph=graph or keep, allow_unused=True
    )
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(parameters.items(), found, strict=True)}


def _dot(a: Parameters, b: Parameters) -> Tensor:
    return torch.stack([(a[name] * b[name].detach()).sum() for name in b]).sum()
