"""The meta-gradient against finite differences of real training steps, in float64."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from assay.models import hooks
from assay.models.head_weights import explanation, initial, normalise
from assay.training.bilevel import Bilevel, Exam, Lesson, Update
from assay.training.teaching import Student, divergence, simulation_loss
from families import CASES, TRANSFORMERS, fresh
from stock import example

UPDATES = {
    "plain": Update(0.1, None, 0.0),
    "clipped": Update(0.1, 0.05, 0.0),
    "clipped and decayed": Update(0.1, 0.5, 0.3),
}


def classroom(case, normaliser="sparsemax", seed=0):
    """A teacher's head logits, a student in float64, a lesson and an exam."""
    teacher, model = fresh(case), fresh(case)
    for m in (teacher, model):
        m.hf.double()
        if m.head is not None:
            m.head.double()
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():  # the student is not the teacher
        for p in (*model.hf.parameters(), *(() if model.head is None else model.head.parameters())):
            p.add_(0.05 * torch.randn(p.shape, generator=rng, dtype=p.dtype))
    student = Student(model, normaliser)
    student.eval().requires_grad_(True)
    encodings = [model.encode(example(given)) for given in CASES[case].inputs[:3]]
    batch, other = model.batch(encodings[:2]), model.batch(encodings[1:])
    _, heads = teacher.head_logits(batch)
    lesson = Lesson(
        batch,
        torch.tensor([0, 1]),
        lambda phi: explanation(heads, normalise(phi, normaliser), batch.mask),
    )
    phi = initial(heads.shape[1]).double() + 0.02 * torch.randn(heads.shape[1], generator=rng, dtype=torch.float64)
    return student, lesson, Exam(other, torch.tensor([2, 0])), phi


def literal(student, lessons, exam, phi, update, beta, seed=None):
    """The exam's loss after real steps on a copy of the student, as torch's own clipping and SGD take them."""
    copied = copy.deepcopy(student)
    optimiser = torch.optim.SGD(copied.parameters(), update.rate, weight_decay=update.decay)
    for i, lesson in enumerate(lessons):
        if seed is not None:
            torch.manual_seed(seed + i)
        optimiser.zero_grad()
        outputs, own = copied.explained(lesson.batch)
        (simulation_loss(outputs, lesson.gold) + beta * divergence(lesson.explanation(phi), own)).backward()
        if update.clip is not None:
            clip_grad_norm_(copied.parameters(), update.clip)
        optimiser.step()
    copied.eval()
    with torch.no_grad():
        return float(simulation_loss(copied.explained(exam.batch)[0], exam.gold))


def finite_differences(loss, phi, step=1e-4):
    return np.array([(loss(phi + step * e) - loss(phi - step * e)) / (2 * step) for e in torch.eye(len(phi)).double()])


@pytest.mark.parametrize("name", UPDATES)
def test_one_step_is_the_finite_difference_of_real_training(name):
    """Through clipping and weight decay."""
    student, lesson, exam, phi = classroom("bert")
    update, beta = UPDATES[name], 5.0
    found = Bilevel(student, update, beta).unrolled(phi, [lesson], exam).numpy()
    truth = finite_differences(lambda p: literal(student, [lesson], exam, p, update, beta), phi)
    assert np.allclose(found, truth, rtol=1e-4, atol=1e-4 * np.abs(truth).max())
    assert np.abs(truth).max() > 1e-6


@pytest.mark.parametrize("normaliser", ["softmax", "entmax15", "none"])
def test_every_normaliser(normaliser):
    student, lesson, exam, phi = classroom("bert", normaliser)
    update = UPDATES["clipped and decayed"]
    found = Bilevel(student, update, 5.0).unrolled(phi, [lesson], exam)
    truth = finite_differences(lambda p: literal(student, [lesson], exam, p, update, 5.0), phi)
    assert np.allclose(found, truth, rtol=1e-4, atol=1e-4 * np.abs(truth).max())


def test_several_steps_unrolled():
    student, lesson, exam, phi = classroom("bert")
    update = UPDATES["clipped and decayed"]
    found = Bilevel(student, update, 5.0).unrolled(phi, [lesson] * 3, exam).numpy()
    truth = finite_differences(lambda p: literal(student, [lesson] * 3, exam, p, update, 5.0), phi)
    assert np.allclose(found, truth, rtol=1e-3, atol=1e-3 * np.abs(truth).max())


@pytest.mark.parametrize("case", [case for case in TRANSFORMERS if case != "bert"])
def test_every_family_along_one_direction(case):
    student, lesson, exam, phi = classroom(case)
    update = UPDATES["clipped and decayed"]
    found = Bilevel(student, update, 5.0).unrolled(phi, [lesson], exam)
    away = found / found.norm()  # the slope in this direction is the length of the gradient
    # no smaller step: T5's and Llama's norms compute in single precision, whatever the weights are
    after, before = (literal(student, [lesson], exam, phi + step * away, update, 5.0) for step in (1e-3, -1e-3))
    assert found.norm() > 0
    assert (after - before) / 2e-3 == pytest.approx(float(found.norm()), rel=3e-3)


@pytest.mark.parametrize("steps", [1, 2])
def test_dropout_is_that_of_the_seed(steps):
    """With dropout on, real steps with the masks of the seed, others in each step, have the same finite differences."""
    student, lesson, exam, phi = classroom("bert")
    student.train()
    update = UPDATES["clipped"]
    found = [Bilevel(student, update, 5.0).unrolled(phi, [lesson] * steps, exam, seed).numpy() for seed in (1, 2)]
    assert student.training

    def seeded(p):
        with hooks.twice_differentiable():  # the kernels draw their masks in their own ways
            return literal(student, [lesson] * steps, exam, p, update, 5.0, seed=1)

    truth = finite_differences(seeded, phi)
    assert np.allclose(found[0], truth, rtol=1e-4, atol=1e-4 * np.abs(truth).max())
    assert not np.allclose(found[0], found[1], rtol=1e-2)


def test_nothing_to_gain_gives_no_gradient():
    """Without weight on explanations, and without a step, phi cannot matter."""
    student, lesson, exam, phi = classroom("bert")
    assert (Bilevel(student, Update(0.1), 0.0).unrolled(phi, [lesson], exam) == 0).all()
    assert (Bilevel(student, Update(0.0), 5.0).unrolled(phi, [lesson], exam) == 0).all()


def test_the_neumann_series_is_the_inverse_hessian_in_the_limit():
    """On a student of few parameters: rate * sum (I - rate H)^k -> H^-1, built here column by column."""
    student, lesson, exam, phi = classroom("bert")
    both = "bert.encoder.layer.0.attention.self.query.bias"  # moves answers and explanations
    for name, p in student.named_parameters():
        p.requires_grad_(name == "phi" or name.endswith(both))
    beta, rate, decay = 5.0, 0.5, 0.3
    bilevel = Bilevel(student, Update(rate, None, decay), beta)
    learnt = [p for p in student.parameters() if p.requires_grad]
    assert len(learnt) == 2

    def slope(flat, phi):
        with torch.no_grad():
            for p, values in zip(learnt, flat.split([p.numel() for p in learnt]), strict=True):
                p.copy_(values.view_as(p))
        with hooks.twice_differentiable():
            outputs, own = student.explained(lesson.batch)
        loss = simulation_loss(outputs, lesson.gold) + beta * divergence(lesson.explanation(phi), own)
        return torch.cat([g.flatten() for g in torch.autograd.grad(loss, learnt)])

    start = torch.cat([p.detach().flatten().clone() for p in learnt])
    step, n = 1e-5, len(start)

    def columns(function, count):
        ways = torch.eye(count).double()
        return torch.stack([(function(step * e) - function(-step * e)) / (2 * step) for e in ways], 1)

    H = columns(lambda e: slope(start + e, phi), n) + decay * torch.eye(n).double()
    mixed = columns(lambda e: slope(start, phi + e), len(phi))
    slope(start, phi)  # the student as it was
    examined = simulation_loss(student.explained(exam.batch)[0], exam.gold)
    found = torch.autograd.grad(examined, learnt, allow_unused=True)  # phi plays no part without explanations
    pull = torch.cat([torch.zeros(p.numel()).double() if g is None else g for p, g in zip(learnt, found, strict=True)])
    for terms in (0, 4):
        series = sum(torch.linalg.matrix_power(torch.eye(n).double() - rate * H, k) for k in range(terms + 1))
        truth = -(rate * series @ pull) @ mixed
        assert truth.abs().max() > 1e-6, "zeros agree with anything"
        found = bilevel.implicit(phi, lesson, exam, terms=terms)
        assert torch.allclose(found, truth, rtol=1e-4, atol=1e-4 * float(truth.abs().max()))
