"""The scales of a target against numpy and scipy, at their extremes, and mixed in one batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit, log_softmax, softmax

from assay import Target
from assay.models.target import Targets, scaled

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(scale=3, size=(6, 4))


def literal(row, label, scale):
    """One number by the book."""
    p = softmax(row)
    return {
        "logit": row[label],
        "probability": p[label],
        "log_probability": log_softmax(row)[label],
        "log_odds": np.log(p[label]) - np.log(sum(p[c] for c in range(len(p)) if c != label)),
    }[scale]


SCALES = ["logit", "probability", "log_probability", "log_odds"]


@pytest.mark.parametrize("scale", SCALES)
def test_one_class(scale):
    out = scaled(torch.from_numpy(LOGITS), scale).numpy()
    truth = [[literal(row, c, scale) for c in range(4)] for row in LOGITS]
    assert np.allclose(out, truth, atol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_against(scale):
    asked = tuple(Target(i % 4, against=(i + 1) % 4, scale=scale) for i in range(6))
    values = Targets(asked, "logit").values(torch.from_numpy(LOGITS)).numpy()
    truth = [literal(r, i % 4, scale) - literal(r, (i + 1) % 4, scale) for i, r in enumerate(LOGITS)]
    assert np.allclose(values, truth, atol=1e-12)


def test_sigmoids_of_a_multi_label_model():
    logits = torch.from_numpy(LOGITS)
    assert np.allclose(scaled(logits, "probability", independent=True), expit(LOGITS))
    assert np.allclose(scaled(logits, "log_probability", independent=True), np.log(expit(LOGITS)))
    assert np.allclose(scaled(logits, "log_odds", independent=True), np.log(expit(LOGITS) / (1 - expit(LOGITS))))


def test_where_probability_rounds_to_one():
    """float32, a logit 60 ahead: p is 1 to the last digit, but log p and the log odds keep theirs, and their slopes."""
    logits = torch.tensor([[60.0, 0.0, -1.0]], requires_grad=True)
    exact = np.array([60.0, 0.0, -1.0])
    odds = exact[0] - np.log(np.exp(exact[1]) + np.exp(exact[2]))
    assert scaled(logits, "probability")[0, 0].item() == 1.0
    assert np.isclose(scaled(logits, "log_odds")[0, 0].item(), odds, rtol=1e-6)
    assert np.isclose(scaled(logits, "log_probability")[0, 1].item(), log_softmax(exact)[1], rtol=1e-6)
    (slope,) = torch.autograd.grad(scaled(logits, "log_odds")[0, 0], logits)
    assert np.allclose(slope, [[1, -softmax([0.0, -1.0])[0], -softmax([0.0, -1.0])[1]]], atol=1e-6)
    far = torch.tensor([[1e4, -1e4]])
    assert torch.isfinite(scaled(far, "log_odds")).all()
    assert scaled(far, "log_odds")[0].tolist() == [2e4, -2e4]
    assert scaled(far, "log_probability")[0].tolist() == [0, -2e4]


def test_mixed_scales_labels_and_repeats_in_one_batch():
    """Rows repeat the batch: value k*B + i belongs to target i, whatever the others ask for."""
    asked = (
        Target(0, scale="probability"),
        Target(None),  # the predicted class on the method's scale
        Target(3, against=1, scale="log_odds"),
        Target(2, scale="log_probability"),
        Target(1, against=0, scale="logit"),
        Target(2),
    )
    logits = torch.from_numpy(LOGITS)
    targets = Targets(asked, "logit").resolve(logits)
    predicted = LOGITS.argmax(1)
    more = torch.from_numpy(np.vstack([LOGITS, LOGITS + RNG.normal(size=LOGITS.shape)]))

    def truth(row, t, i):
        label = predicted[i] if t.label is None else t.label
        first = literal(row, label, t.scale or "logit")
        return first - (0 if t.against is None else literal(row, t.against, t.scale or "logit"))

    expected = [truth(more[k * 6 + i].numpy(), t, i) for k in range(2) for i, t in enumerate(asked)]
    assert np.allclose(targets.values(more), expected, atol=1e-12)
    assert [t.label for t in targets.resolved] == [0, predicted[1], 3, 2, 1, 2]
    assert [t.scale for t in targets.resolved][1] == "logit"
    picked = targets.take([3, 1])
    assert np.allclose(picked.values(more[[3, 1]]), [expected[3], expected[1]])


def test_the_first_logits_decide_the_predicted_class():
    targets = Targets((Target(),), "logit")
    with pytest.raises(RuntimeError, match="resolve"):
        _ = targets.labels
    targets = targets.resolve(torch.tensor([[0.0, 2.0]])).resolve(torch.tensor([[5.0, 0.0]]))
    assert targets.labels.tolist() == [1]
    assert targets.values(torch.tensor([[7.0, 3.0]])).tolist() == [3.0]  # fixed, though class 0 is now ahead


def test_gradients_of_mixed_scales_are_those_of_each_alone():
    asked = tuple(Target(i % 4, scale=s) for i, s in enumerate([*SCALES, "probability", "log_odds"]))
    logits = torch.from_numpy(LOGITS).requires_grad_()
    (together,) = torch.autograd.grad(Targets(asked, "logit").values(logits).sum(), logits)
    for i, t in enumerate(asked):
        row = torch.from_numpy(LOGITS[i : i + 1]).requires_grad_()
        (alone,) = torch.autograd.grad(scaled(row, t.scale)[0, t.label], row)
        assert torch.allclose(together[i], alone[0])
