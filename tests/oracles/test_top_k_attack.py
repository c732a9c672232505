"""The top-k attack: second derivatives by finite differences, ball, class, best so far, metrics."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.core.errors import SpecError, UnsupportedError
from assay.core.types import Target
from assay.datasets.examples import as_examples
from assay.evaluation import ATTACK_MEASURES
from assay.evaluation.adversarial._ascent import AscentSettings, AttackProblem, ascend, top_mask
from assay.evaluation.adversarial._top import top_k
from assay.evaluation.adversarial.rank_change import changed_places
from assay.evaluation.adversarial.top_k_attack import TopKAttack, summary
from assay.explainers.methods import named_methods
from assay.explainers.session import Session
from assay.explainers.white_box import batch_with_units
from families import CASES, fresh, model_of, precise
from runs import State, as_a_user_may_have_it, hook_free, quiet

IG = "integrated_gradients(steps=3, rule=gauss_legendre)"
ATTACKED = ["gradient", "gradient(reduction=sum)", "gradient_x_input", IG]


def problem(case, method, scale=None, inputs=2):
    with quiet():
        session = Session.create(precise(case), named_methods([method]))
    chunk = list(enumerate(as_examples(CASES[case].inputs[:inputs])))
    on = session.open(chunk, [Target(scale=scale)] * len(chunk))
    made = next(iter(session.methods.values()))
    return AttackProblem.of(
        session.model,
        made,
        batch_with_units(session.model, on.encodings, budget=session.budget),
        on.requested,
        [e.players for e in on.encodings],
    )


def rule(objective="prediction_kept", **more):
    return AscentSettings(
        **{
            "alpha": 1,
            "beta": 1,
            "step": "gradient",
            "steps": 20,
            "rate": 0.1,
            "halve": 8,
            "tolerance": 1e-5,
            "patience": 20,
            **more,
        },
        objective=objective,
    )


def attack(case, model=None, **fields):
    with quiet():
        return TopKAttack(**{"steps": 12, "shown": 99, **fields}).run(
            model or model_of(case), list(as_examples(CASES[case].inputs))
        )


# --- second derivatives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ATTACKED)
@pytest.mark.parametrize("objective", ["prediction_kept", "probability_matched"])
@pytest.mark.parametrize(("case", "scale"), [("bert", "probability"), ("gpt2", "logit"), ("distilbert", "log_odds")])
def test_gradient_of_the_objective_by_finite_differences(case, scale, method, objective):
    """In float64 along random directions, away from delta = 0. (T5 and Llama norms round to float32 in any model.)"""
    p, climb = problem(case, method, scale), rule(objective, alpha=0.7, beta=30.0)
    rng = torch.Generator().manual_seed(3)
    with torch.enable_grad(), p.model.frozen():
        zero = torch.zeros_like(p.start).requires_grad_()
        look, targets = p.explain(zero)
        labels = targets.labels
        top = top_mask(look.scores.detach(), p.units, [2, 1])
        p0 = p.probability(look.logits, labels).detach()

        def value(delta):
            seen, _ = p.explain(delta)
            d = -(seen.scores * top).sum(-1)
            return climb.value(d, p0 - p.probability(seen.logits, labels)).sum()

        delta = (0.1 * torch.randn(p.start.shape, generator=rng, dtype=torch.float64)).requires_grad_()
        (gradient,) = torch.autograd.grad(value(delta), delta)
        assert not gradient[~p.batch.playing].any()  # special tokens and padding stay
        for _ in range(2):
            way = torch.randn(p.start.shape, generator=rng, dtype=torch.float64)
            h = 1e-5
            slope = (value(delta + h * way) - value(delta - h * way)).detach() / (2 * h)
            assert float((gradient * way).sum()) == pytest.approx(float(slope), rel=1e-5, abs=1e-8)


def test_the_scores_attacked_are_those_that_explain_gives():
    """In float64: in batches of another size a float32 moves by more than its last digit on some machines."""
    texts, model = list(CASES["bert"].inputs), precise("bert")
    for method in ("gradient", "gradient_x_input", IG):
        rows = attack("bert", model, methods=(method,), steps=1, objectives=("prediction_kept",))
        with quiet():
            found = assay.explain(model, texts, method, target=Target(scale="probability"))
        for row, a in zip(rows, found, strict=True):
            assert np.allclose(row["original"]["scores"], a.scores, rtol=1e-6, atol=1e-6 * np.abs(a.scores).max())
            assert row["original"]["target"]["label"] == a.target.label


# --- the promises of an attack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in CASES if c != "bert-regression"])
def test_ball_class_and_best_so_far(case):
    """On every family: within the ball, the class kept, the best value never falls, the original top k loses."""
    model = model_of(case)
    before = State.of(model)
    rows = attack(case, methods=("gradient", IG), epsilon=0.05, rate=1.0, steps=6, step="gradient")
    before.assert_same(State.of(model))
    assert hook_free(model)
    json.dumps(rows)
    for row in rows:
        assert row["delta"] <= row["epsilon"]
        assert np.all(np.diff(row["curve"]) >= 0)
        assert len(row["curve"]) <= 7
        if row["objective"] == "prediction_kept":
            assert row["D_attacked"] >= row["D_original"]
            assert row["within_constraint"]
            assert row["curve"][0] == pytest.approx(row["D_original"], rel=1e-6)
            assert row["curve"][-1] == pytest.approx(row["D_attacked"], rel=1e-6)
        assert row["top_k_sum_change"] == pytest.approx(row["D_attacked"] - row["D_original"], abs=1e-4)
    assert any(row["D_attacked"] > row["D_original"] for row in rows)


def test_the_best_delta_does_what_the_row_says():
    """Put start + best delta into the model by hand: class, probability and scores are those that were reported."""
    p, climb = problem("bert", "gradient_x_input"), rule(steps=15, rate=0.5)
    epsilon = torch.full((2,), 0.3, dtype=torch.float64)
    state = ascend(p, climb, epsilon, [2, 1])
    assert (state.best_delta.abs() <= 0.3).all()
    assert not state.best_delta[~p.batch.playing].any()
    with torch.enable_grad(), p.model.frozen():
        look, _ = p.explain(state.best_delta.clone().requires_grad_())
    assert torch.equal(look.logits.argmax(-1), state.labels)
    assert torch.allclose(look.scores, state.best_scores, atol=1e-9)
    assert torch.allclose(p.probability(look.logits, state.labels), state.best_probability, atol=1e-9)


def test_a_finer_method_may_measure():
    """The attack is the same; before and after are explained by the other method, of the class attacked."""
    rough, fine = "integrated_gradients(steps=1, rule=gauss_legendre)", "integrated_gradients(steps=40, rule=middle)"
    plain, judged = (attack("bert", methods=(rough,), measured=m) for m in (None, (fine,)))
    with quiet():
        exact = assay.explain(model_of("bert"), list(CASES["bert"].inputs), fine, target=Target(scale="probability"))
    by_id = {a.example_id: a for a in exact}
    for a, b in zip(plain, judged, strict=True):
        same = ("example", "objective", "steps", "delta", "D_original", "D_attacked", "probability_change")
        assert {name: a[name] for name in same} == {name: b[name] for name in same}
        np.testing.assert_allclose(b["original"]["scores"], by_id[b["example"]].scores, atol=1e-5)
        assert not np.allclose(a["original"]["scores"], b["original"]["scores"], atol=1e-4)
        assert b["succeeded"] <= (b["top_k_sum_change"] > 0)  # as it is measured
        gone = np.abs(np.subtract(b["attacked"]["scores"], b["original"]["scores"])).max()
        assert gone > 1e-6 or b["delta"] == 0
    twice = attack("bert", methods=(rough,), measured=(rough,))
    assert [row["rank_change"] for row in twice] == [row["rank_change"] for row in plain]
    with pytest.raises(SpecError, match="2 methods and 1 measured"):
        TopKAttack(methods=("gradient", rough), measured=(fine,))


def test_ascent_against_a_literal_loop():
    """One input, plain autograd, no state: the same deltas step by step, rates halved, clipped."""
    p, climb = problem("t5", "gradient_x_input", inputs=1), rule(steps=10, halve=4, rate=0.2, tolerance=0.0)
    state = ascend(p, climb, torch.full((1,), 0.15, dtype=torch.float64), [2])
    with torch.enable_grad(), p.model.frozen():
        delta, best, place = torch.zeros_like(p.start), -np.inf, None
        scores = p.explain(delta.clone().requires_grad_())[0].scores[0]
        top = scores.argsort(descending=True)[:2]
        for step in range(11):
            here = delta.clone().requires_grad_()
            look, _ = p.explain(here)
            d = -look.scores[0, top].sum()
            if float(d.detach()) > best and int(look.logits.argmax()) == int(state.labels):
                best, place = float(d.detach()), delta
            (g,) = torch.autograd.grad(d, here)
            delta = (delta + 0.2 * 0.5 ** (step // 4) * g).clamp(-0.15, 0.15)
    assert float(state.best) == pytest.approx(best, rel=1e-9)
    assert torch.allclose(state.best_delta, place, atol=1e-12)


@pytest.mark.parametrize("method", ["gradient_x_input", IG])
def test_a_batch_equals_one_by_one(method):
    """Each input goes its own way, also when others have stopped before it."""
    climb = rule(steps=40, rate=0.1, tolerance=0.003, patience=1)
    epsilon = torch.full((3,), 0.05, dtype=torch.float64)
    together = problem("roberta", method, inputs=3)
    state = ascend(together, climb, epsilon, [2, 1, 1])
    assert len(set(state.taken.tolist())) > 1
    for i in range(3):
        alone = ascend(together.take([i]), climb, epsilon[:1], [[2, 1, 1][i]])
        assert float(alone.best) == pytest.approx(float(state.best[i]), rel=1e-8)
        assert int(alone.taken) == int(state.taken[i])


def test_probability_matched_moves_the_probability_less():
    """Its reason to be: with a heavy beta the probability stays, whereas the class alone lets it drift."""
    settings = {"methods": ("gradient_x_input",), "scale": "logit", "beta": 1000.0, "rate": 0.02, "steps": 60}
    settings |= {"step": "gradient"}
    rows = attack("t5", **settings)
    drift = {o: np.mean([r["absolute_probability_change"] for r in rows if r["objective"] == o]) for o in OBJECTIVES}
    assert drift["probability_matched"] < 0.5 * drift["prediction_kept"]


OBJECTIVES = ("prediction_kept", "probability_matched")


def test_stands_still_and_stops():
    """A rate too small to move: 20 small steps and no more; nothing succeeded."""
    rows = attack("bert", methods=("gradient",), rate=1e-9, steps=50, step="gradient")
    assert {row["steps"] for row in rows} == {20}
    assert not any(row["rank_change"] or row["succeeded"] for row in rows)


def test_relative_epsilon():
    rows = attack("bert", methods=("gradient",), epsilon=0.5, relative=True, steps=2)
    model = model_of("bert")
    for row, given in zip(rows, CASES["bert"].inputs, strict=False):
        encoding = model.encode(next(as_examples([given])))
        inner = [i for i, span in enumerate(encoding.spans) if span.segment >= 0]
        x = model.embeddings(model.batch([encoding]))[0, inner]
        assert row["epsilon"] == pytest.approx(0.5 * float((x**2).mean().sqrt()), rel=1e-5)
        assert row["epsilon_in_scale"] == pytest.approx(0.5)


def test_the_model_is_left_as_it_was_and_errors_speak():
    model = fresh("bert")
    as_a_user_may_have_it(model)
    before = State.of(model)
    with pytest.raises(UnsupportedError, match="cannot be attacked: its scores"):
        TopKAttack(methods=("average_attention",)).run(model, list(as_examples(CASES["bert"].inputs)))
    with pytest.raises(UnsupportedError, match="it has no gradient"):
        TopKAttack(methods=("lime",)).run(model, list(as_examples(CASES["bert"].inputs)))
    before.assert_same(State.of(model))
    with pytest.raises(SpecError, match="did you mean 'prediction_kept'"):
        TopKAttack(objectives=("prediction",))
    with pytest.raises(SpecError, match="epsilon=0"):
        TopKAttack(epsilon=0)


def test_passes_are_those_needed():
    """A gradient step is one forward, one backward and one backward through it; the last look adds f + b."""
    model, inputs = model_of("bert"), list(as_examples(CASES["bert"].inputs))
    f, b = model.passes.forwards, model.passes.backwards
    TopKAttack(methods=("gradient",), objectives=("prediction_kept",), steps=10, tolerance=0.0).run(model, inputs)
    assert model.passes.forwards - f == 11 * len(inputs)
    assert model.passes.backwards - b == 21 * len(inputs)


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_rank_change_of_the_thesis():
    assert changed_places([12, 3, 7], [3, 15, 7]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (6, 1), (7, 1), (13, 1), (14, 2), (20, 3), (40, 6), (100, 15)])
def test_top_k_is_the_floor(n, k):
    assert top_k(n, 0.15) == k


def test_metrics_by_hand():
    old, _ = assay.explain(model_of("bert"), ["the soup was good", "the soup"], "gradient")

    def made(scores, p):
        return replace(old, scores=np.array(scores, np.float32), extra={"probability": p})

    first, second = made([4, 3, 2, 1], 0.9), made([1, 5, 2, 0], 0.7)
    assert ATTACK_MEASURES.make("rank_change(share=0.5)").compare(first, second) == 1.0  # [0, 1] against [1, 2]
    assert ATTACK_MEASURES.make("rank_change(share=0.75)").compare(first, second) == 1.0
    assert ATTACK_MEASURES.make("rank_change(share=1.0)").compare(first, second) == pytest.approx(3 / 4)
    assert ATTACK_MEASURES.make("top_k_sum_change(share=0.5)").compare(first, second) == pytest.approx(1.0)  # 3 - 2
    assert ATTACK_MEASURES.make("probability_change").compare(first, second) == pytest.approx(0.2)


def test_summary_has_intervals():
    found = summary(attack("bert", methods=("gradient",), steps=3))
    assert [row["objective"] for row in found] == list(OBJECTIVES)
    for row in found:
        value, low, high = row["top_k_sum_change"]
        assert low <= value <= high
