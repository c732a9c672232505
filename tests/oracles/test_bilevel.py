"""The meta-gradient against finite differences and against itself computed in another way, in float64."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch.nn.utils import clip_grad_norm_

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


def literal(student, lessons, exam, phi, update, beta):
    """The exam's loss after real steps on a copy of the student, as torch's own clipping and SGD take them."""
    copied = copy.deepcopy(student)
    optimiser = torch.optim.SGD(copied.parameters(), update.rate, weight_decay=update.decay)
    for lesson in lessons:
        optimiser.zero_grad()
        outputs, own = copied.explained(lesson.batch)
        (simulation_loss(outputs, lesson.gold) + beta * divergence(lesson.explanation(phi), own)).backward()
        if update.clip is not None:
            clip_grad_norm_(copied.parameters(), update.clip)
        optimiser.step()
    with torch.no_grad():
        return float(simulation_loss(copied.explained(exam.batch)[0], exam.gold))


def finite_differences(loss, phi, step=1e-4):
    return np.array([(loss(phi + step * e) - loss(phi - step * e)) / (2 * step) for e in torch.eye(len(phi)).double()])


@pytest.mark.parametrize("name", UPDATES)
def test_one_step_is_the_finite_difference_of_real_training(name):
    """Through clipping and weight decay."""
    student, lesson, exam, phi = classroom("bert")
    update, beta = UPDATES[name], 5.0
    found = Bilevel(student, update, beta).gradient(phi, lesson, exam).numpy()
    truth = finite_differences(lambda p: literal(student, [lesson], exam, p, update, beta), phi)
    assert np.allclose(found, truth, rtol=1e-4, atol=1e-4 * np.abs(truth).max())
    assert np.abs(truth).max() > 1e-6


@pytest.mark.parametrize("normaliser", ["softmax", "entmax15", "none"])
def test_every_normaliser(normaliser):
    student, lesson, exam, phi = classroom("bert", normaliser)
    update = UPDATES["clipped and decayed"]
    bilevel = Bilevel(student, update, 5.0)
    found = bilevel.gradient(phi, lesson, exam)
    truth = finite_differences(lambda p: literal(student, [lesson], exam, p, update, 5.0), phi)
    assert np.allclose(found, truth, rtol=1e-4, atol=1e-4 * np.abs(truth).max())
    assert torch.allclose(bilevel.unrolled(phi, [lesson], exam), found, rtol=1e-6)


def test_several_steps_unrolled():
    student, lesson, exam, phi = classroom("bert")
    update = UPDATES["clipped and decayed"]
    found = Bilevel(student, update, 5.0).unrolled(phi, [lesson] * 3, exam).numpy()
    truth = finite_differences(lambda p: literal(student, [lesson] * 3, exam, p, update, 5.0), phi)
    assert np.allclose(found, truth, rtol=1e-3, atol=1e-3 * np.abs(truth).max())


@pytest.mark.parametrize("case", [case for case in TRANSFORMERS if case != "bert"])
def test_one_step_without_second_derivatives_equals_the_unrolled_one(case):
    student, lesson, exam, phi = classroom(case)
    bilevel = Bilevel(student, UPDATES["clipped and decayed"], 5.0)
    found, unrolled = bilevel.gradient(phi, lesson, exam), bilevel.unrolled(phi, [lesson], exam)
    assert torch.allclose(found, unrolled, rtol=1e-5, atol=1e-7 * float(unrolled.abs().max()))
    assert unrolled.abs().max() > 0


def test_the_same_dropout_in_both_passes():
    """With dropout on, the shortcut still equals the unrolled step: both see the masks of the seed."""
    student, lesson, exam, phi = classroom("bert")
    student.train()
    bilevel = Bilevel(student, UPDATES["clipped"], 5.0)
    found = [bilevel.gradient(phi, lesson, exam, seed) for seed in (1, 2)]
    assert torch.allclose(found[0], bilevel.unrolled(phi, [lesson], exam, 1), rtol=1e-6)
    assert not torch.allclose(found[0], found[1], rtol=1e-2)
    assert student.training


def test_nothing_to_gain_gives_no_gradient():
    """Without weight on explanations, and without a step, phi cannot matter."""
    student, lesson, exam, phi = classroom("bert")
    assert (Bilevel(student, Update(0.1), 0.0).gradient(phi, lesson, exam) == 0).all()
    assert (Bilevel(student, Update(0.0), 5.0).gradient(phi, lesson, exam) == 0).all()
    assert (Bilevel(student, Update(0.0), 5.0).unrolled(phi, [lesson], exam) == 0).all()


def test_the_neumann_series_is_the_inverse_hessian_in_the_limit():
    """On a student of few parameters: rate * sum (I - rate H)^k -> H^-1, built here column by column."""
    student, lesson, exam, phi = classroom("bert")
    for name, p in student.named_parameters():
        p.requires_grad_(name == "phi" or name.endswith("classifier.bias"))
    beta, rate = 5.0, 0.5
    bilevel = Bilevel(student, Update(rate, None, 0.0), beta)

    def total(flat, phi):
        with torch.no_grad():
            params = dict(student.named_parameters())
            params["hf.classifier.bias"].copy_(flat[:3])
            params["phi"].copy_(flat[3:])
        outputs, own = student.explained(lesson.batch)
        return simulation_loss(outputs, lesson.gold) + beta * divergence(lesson.explanation(phi), own)

    start = torch.cat([student.hf.classifier.bias.detach(), student.phi.detach()])
    wanted = [student.hf.classifier.bias, student.phi]

    def slope(flat, phi):
        return torch.cat(torch.autograd.grad(total(flat, phi), wanted)).detach()

    step, n = 1e-5, len(start)
    H = torch.stack(
        [(slope(start + step * e, phi) - slope(start - step * e, phi)) / (2 * step) for e in torch.eye(n).double()]
    )
    mixed = torch.stack(
        [
            (slope(start, phi + step * e) - slope(start, phi - step * e)) / (2 * step)
            for e in torch.eye(len(phi)).double()
        ],
        1,
    )
    total(start, phi)  # the student as it was
    examined = simulation_loss(student.explained(exam.batch)[0], exam.gold)
    (on_bias,) = torch.autograd.grad(examined, wanted[:1])  # phi plays no part without explanations
    pull = torch.cat([on_bias, torch.zeros(len(student.phi)).double()])
    for terms in (0, 4):
        series = sum(torch.linalg.matrix_power(torch.eye(n).double() - rate * H, k) for k in range(terms + 1))
        truth = -(rate * series @ pull) @ mixed
        found = bilevel.implicit(phi, lesson, exam, terms=terms)
        assert torch.allclose(found, truth, rtol=1e-3, atol=1e-3 * float(truth.abs().max()) + 1e-12)
