"""The step rules of the attack: closed forms, torch's Adam, the published steps and their keys, and when each stops."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import torch
from scipy.stats import binomtest

from assay.core.errors import SpecError
from assay.core.spec import Spec
from assay.core.types import Target
from assay.evaluation.adversarial._ascent import AscentSettings, AttackProblem, Explained, ascend
from assay.evaluation.adversarial._steps import begin_steps
from assay.evaluation.adversarial._steps.adam import FLOOR
from assay.evaluation.adversarial.top_k_attack import TopKAttack, summary
from assay.statistics.proportion import proportion
from assay.studies.attack.study import Attack

EPSILON, TOP = 0.3, 2
PUBLISHED = (  # the spec of a study of the plans in the keys of records, as it was before there were step rules
    "attack(methods=['gradient(reduction=sum)'], measured=None, objectives=[prediction_kept, probability_matched], "
    "epsilon=2.0, relative=False, share=0.15, alpha=1.0, beta=1.0, steps=150, rate=0.1, halve=200, tolerance=1e-05, "
    "patience=20, matched=0.05, scale=probability, units=token, removal=None, shown=8, seed=0, batch_tokens=None)"
)


@dataclass(frozen=True)
class Known(AttackProblem):
    """Scores a_u - <w, delta> + c |delta|^2 / 2 of three units: D = const + 2 <w, delta> - c |delta|^2."""

    weights: torch.Tensor | None = None  # (B,T,D)
    curve: float = 0.0

    @staticmethod
    def make(weights, curve=0.0):
        model = SimpleNamespace(frozen=nullcontext, passes=SimpleNamespace(backwards=0))
        n = len(weights)
        return Known(model, None, Rows(n), (Target(0),) * n, weights * 0, torch.full((n,), 3), 3, weights, curve)

    def take(self, rows):
        return Known.make(self.weights[rows], self.curve)

    def explain(self, delta):
        common = self.curve / 2 * (delta**2).sum((1, 2)) - (self.weights * delta).sum((1, 2))
        scores = torch.tensor([3.0, 2.0, 1.0], dtype=delta.dtype) + common.unsqueeze(-1)
        logits = torch.tensor([1.0, 0.0], dtype=delta.dtype).repeat(len(delta), 1)
        labels = torch.zeros(len(delta), dtype=torch.long)
        return Explained(scores, logits), SimpleNamespace(labels=labels, resolved=self.asked)

    def probability(self, logits, labels):
        return logits.softmax(-1)[:, 0]


@dataclass(frozen=True)
class Rows:
    n: int

    def __len__(self):
        return self.n


def climb(problem, step, **more):
    settings = TopKAttack(step=step, **more)
    rule = AscentSettings(
        "prediction_kept", 1, 1, step, settings.steps, settings.rate, settings.halve, 1e-5, settings.patience
    )
    n = len(problem.weights)
    return ascend(problem, rule, torch.full((n,), EPSILON, dtype=torch.float64), [TOP] * n)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- where the maximum is known --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e-6])
@pytest.mark.parametrize("step", ["sign", "adam"])
def test_the_maximum_of_a_linear_explanation_is_a_corner_of_the_ball(step, size):
    """D = -5 + 2 <w, delta>: the best delta is epsilon sign(w), its value -5 + 2 epsilon |w|_1, however small w is."""
    w = size * normal(2, 4, 5)
    state = climb(Known.make(w), step)
    assert torch.allclose(state.best_delta, EPSILON * w.sign(), atol=1e-9, rtol=0)
    assert torch.allclose(state.best + 5, 2 * EPSILON * w.abs().sum((1, 2)), rtol=1e-6)
    assert (state.best_delta.abs() <= EPSILON).all()


def test_the_published_steps_stand_still_where_the_gradient_is_small():
    """Why they are not the default: the same corner, and they do not leave the start."""
    w = 1e-6 * normal(2, 4, 5)
    state = climb(Known.make(w), "gradient")
    assert (state.best_delta.abs() < 1e-3 * EPSILON).all()
    assert state.taken.tolist() == [20, 20]


def test_signs_stop_at_the_corner():
    """Ten steps of epsilon / 10, and twenty that raise nothing."""
    state = climb(Known.make(normal(2, 4, 5)), "sign")
    assert all(30 <= taken <= 32 for taken in state.taken.tolist())


@pytest.mark.parametrize("step", ["sign", "adam"])
def test_steps_that_shrink_find_a_maximum_inside_the_ball(step):
    """D = -5 + 2 <w, delta> - c |delta|^2 is largest at w / c. Halved steps come close; constant ones go to and fro."""
    w, c = normal(2, 4, 5).clamp(-0.9, 0.9) * EPSILON, 1.0
    best = -5 + (w**2).sum((1, 2)) / c
    found = {halve: climb(Known.make(w, c), step, halve=halve) for halve in (None, 10_000)}
    gap, constant = ((best - state.best).max().item() for state in found.values())
    assert 0 <= gap < 1e-3 * (best + 5).min()
    assert (found[None].best_delta - w / c).abs().max() < 0.1 * EPSILON / 2
    assert gap <= constant


# --- Adam ------------------------------------------------------------------------------------------------------------


def test_adam_against_torch_step_by_step():
    """Three inputs of which two stop on the way: each goes as torch's own optimiser would take it alone."""
    start, lr = normal(3, 4, 5), 0.01
    steps, mine = begin_steps("adam", start), start.clone()
    theirs = [start[i].clone().requires_grad_() for i in range(3)]
    optimisers = [torch.optim.Adam([x], lr=lr, eps=FLOOR, maximize=True) for x in theirs]
    for t in range(30):
        rows = torch.tensor([i for i in range(3) if t < (30, 7, 19)[i]])
        gradient = normal(3, 4, 5, seed=t + 1) * 10.0 ** (t % 5 - 8)
        mine[rows] += lr * steps.direction(gradient[rows], rows)
        for i in rows.tolist():
            theirs[i].grad = gradient[i].clone()
            optimisers[i].step()
        for i in range(3):
            assert torch.allclose(mine[i], theirs[i].detach(), atol=1e-12)


@pytest.mark.parametrize("step", ["sign", "adam"])
def test_a_batch_equals_one_by_one(step):
    """Also after some inputs have stopped: what Adam remembers belongs to its input."""
    w = torch.stack([normal(4, 5), 0.05 * EPSILON * normal(4, 5, seed=1), 0.4 * EPSILON * normal(4, 5, seed=2)])
    together = climb(Known.make(w, 1.0), step, steps=60, patience=3)
    assert len(set(together.taken.tolist())) > 1
    for i in range(3):
        alone = climb(Known.make(w[i : i + 1], 1.0), step, steps=60, patience=3)
        assert torch.allclose(alone.best_delta[0], together.best_delta[i], atol=1e-12)
        assert int(alone.taken) == int(together.taken[i])


# --- settings and keys -----------------------------------------------------------------------------------------------


def test_the_published_reading_keeps_its_records():
    """step=gradient is what records without a step meant; no other step can be taken for it."""
    settings = {"methods": ("gradient(reduction=sum)",), "epsilon": 2.0, "relative": False, "steps": 150}
    assert str(Spec.in_key(Attack(**settings, step="gradient"))) == PUBLISHED
    assert "step=gradient" in str(Spec.of(Attack(**settings, step="gradient")))  # the page says it
    keys = {str(Spec.in_key(Attack(**settings, step=step))) for step in ("gradient", "sign", "adam")}
    assert len(keys) == 3
    assert str(Spec.in_key(Attack(**settings))) == str(Spec.in_key(Attack(**settings, step="sign")))


def test_rates_by_step():
    assert [(a.rate, a.halve) for a in (TopKAttack(step=s, steps=150) for s in ("gradient", "sign", "adam"))] == [
        (0.1, 200), (0.1, 30), (0.1, 30)
    ]  # fmt: skip
    assert TopKAttack(halve=7).halve == 7
    assert replace(TopKAttack(), steps=2).halve == 20  # as it was made
    with pytest.raises(SpecError, match="did you mean 'sign'"):
        TopKAttack(step="signs")


# --- the rate of success ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hits", "n"), [(0, 16), (1, 16), (8, 16), (16, 16), (3, 7), (1, 1)])
def test_wilson_against_scipy(hits, n):
    theirs, mine = binomtest(hits, n).proportion_ci(method="wilson"), proportion(hits, n)
    assert (mine.value, mine.low, mine.high) == pytest.approx((hits / n, theirs.low, theirs.high), abs=1e-12)


def test_no_success_at_all_is_not_certain():
    numbers = dict.fromkeys(
        ("rank_change", "top_k_sum_change", "probability_change", "absolute_probability_change"), 0.0
    )
    row = {"method": "gradient", "objective": "prediction_kept", "moved": 0.1, "succeeded": False, **numbers}
    (found,) = summary([row] * 16)
    assert found["succeeded"] == pytest.approx([0.0, 0.0, 0.1936], abs=1e-4)
