"""The gradient of a student's later loss with respect to what it was taught: bilevel optimisation (SMaT, section 5).

The student takes a step p' = update(p, g), with g the gradient of L_sim + beta KL(e(phi) || e_S(p)) on its texts. How
would its loss on other texts change with phi? Two answers: unrolled, exact through one step or several; implicit, as if
p were a minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from assay.models import hooks
from assay.models.encoding import Batch
from assay.training.teaching import Student, divergence, simulation_loss

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

    def unrolled(self, phi: Tensor, lessons: list[Lesson], exam: Exam, seed: int = 0) -> Tensor:
        """Exact for as many steps as there are lessons.

        One step costs two student's steps (lesson, exam) and a pass back through the lesson's gradient, which reuses
        its activations: a forward-mode derivative of log e_S would give the same, but runs the lesson again.
        """
        leaf, parameters = phi.detach().requires_grad_(), self._parameters()
        with hooks.twice_differentiable():
            for i, lesson in enumerate(lessons):
                parameters = self.update(parameters, self._gradients(parameters, lesson, leaf, seed + i))
        return _grad(self._exam(parameters, exam), {"phi": leaf})["phi"]

    def implicit(self, phi: Tensor, lesson: Lesson, exam: Exam, seed: int = 0, terms: int = 3) -> Tensor:
        """As if the student had converged: -(d loss/dp) H^-1 d²L/dp dphi, H^-1 by a Neumann series of `terms` terms.

        H is the Hessian of what it minimises, weight decay included.
        """
        leaf, parameters = phi.detach().requires_grad_(), self._parameters()
        with hooks.twice_differentiable():
            gradients = self._gradients(parameters, lesson, leaf, seed)
        term = _grad(self._exam(parameters, exam), parameters)
        total = dict(term)
        for _ in range(terms):
            curved = _grad(_dot(gradients, term), parameters, keep=True)
            term = {name: t - self.update.rate * (curved[name] + self.update.decay * t) for name, t in term.items()}
            total = {name: t + term[name] for name, t in total.items()}
        return -self.update.rate * _grad(_dot(gradients, total), {"phi": leaf})["phi"]

    # --- parts -------------------------------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Tensor]:
        named = self.student.named_parameters()
        return {name: p.detach().clone().requires_grad_() for name, p in named if p.requires_grad}

    def _gradients(self, parameters: Parameters, lesson: Lesson, phi: Tensor, seed: int) -> dict[str, Tensor]:
        """The student's gradients as functions of its parameters and of phi; the seed fixes dropout."""
        torch.default_generator.manual_seed(seed)
        named = {f"student.{name}": p for name, p in parameters.items()}
        outputs, own = functional_call(_Explaining(self.student), named, (lesson.batch,))
        loss = simulation_loss(outputs, lesson.gold) + self.beta * divergence(lesson.explanation(phi), own)
        return _grad(loss, parameters, graph=True)

    def _exam(self, parameters: Parameters, exam: Exam) -> Tensor:
        """The loss without explanations; differentiated once, so fused kernels may be used."""
        training = self.student.training
        self.student.eval()
        try:
            outputs = functional_call(self.student, dict(parameters), (exam.batch,))
        finally:
            self.student.train(training)
        return simulation_loss(outputs, exam.gold)


def _grad(loss: Tensor, parameters: Parameters, *, graph: bool = False, keep: bool = False) -> dict[str, Tensor]:
    """Gradients by name; zeros where a parameter plays no part."""
    found: Any = torch.autograd.grad(
        loss, list(parameters.values()), create_graph=graph, retain_graph=graph or keep, allow_unused=True
    )
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(parameters.items(), found, strict=True)}


def _dot(a: Parameters, b: Parameters) -> Tensor:
    return torch.stack([(a[name] * b[name].detach()).sum() for name in b]).sum()
