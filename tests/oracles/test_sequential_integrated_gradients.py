"""SIG's two forms against each other, against occlusion, and against a slow literal version of the path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import assay
from assay.explainers.gradient._quadrature import quadrature
from families import CASES, precise
from runs import quiet
from stock import encoded
from toys import bert, closed

NAME = "sequential_integrated_gradients"
REAL = Path("~/.cache/assay-teacher/minilm-sst2").expanduser()
TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin"]


def explain(model, inputs, method, **options):
    with quiet():
        return assay.explain(model, inputs, method, progress=False, **options)


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("llama-few_shot", "bert-regression")])
def test_exact_is_occlusion_of_the_logit(case):
    """For every unit of one position; occlusion removes the several tokens of a unit together."""
    model, inputs = precise(case), list(CASES[case].inputs)[:3]
    ours = explain(model, inputs, NAME, target=assay.Target(scale="logit"))
    theirs = explain(model, inputs, "occlusion", target=assay.Target(scale="logit"))
    for a, b, encoding in zip(ours, theirs, encoded(model, inputs), strict=True):
        single = np.bincount(encoding.unit_of[encoding.unit_of >= 0]) == 1
        assert single.sum() >= 3
        assert a.scores[single] == pytest.approx(b.scores[single], abs=1e-6)
        assert a.extra == {"form": "exact"}


# steps: smooth families need few; a ReLU, or an RMS norm next to a zero or far baseline, has kinks or steep ends
SMOOTH, STEEP = (160, 1e-6), (400, 1e-2)
STEPS = dict.fromkeys(["bert", "roberta", "electra", "mpnet", "gpt2", "vit"], SMOOTH) | {
    "distilbert": STEEP,
    "t5": STEEP,
}


@pytest.mark.parametrize("case", STEPS)
def test_the_path_ends_where_the_short_cut_says(case):
    given = CASES[case].inputs[1]
    exact = explain(precise(case), given, NAME)
    steps, tolerance = STEPS[case]
    path = explain(precise(case), given, f"{NAME}(exact=False, steps={steps})")
    assert np.abs(path.scores - exact.scores).max() < tolerance
    assert np.abs(exact.scores).max() > 0.1
    assert path.extra["form"] == "path"
    assert path.extra["quadrature_error"] == pytest.approx(np.abs(path.scores - exact.scores).max(), abs=1e-6)


def literal(model, text, label, steps, rule):
    """Token by token and node by node through the stock model's inputs_embeds."""
    hf, tokenizer = model.hf.double().eval(), model.tokenizer
    ids = torch.tensor(tokenizer(text)["input_ids"])
    words = hf.get_input_embeddings().weight.detach()
    x, r = words[ids], words[tokenizer.mask_token_id]
    scores = []
    for i in range(1, len(ids) - 1):  # all but [CLS] and [SEP]
        total = torch.zeros_like(r)
        for alpha, weight in zip(*quadrature(rule, steps), strict=True):
            point = x.clone()
            point[i] = r + alpha * (x[i] - r)
            point.requires_grad_()
            hf(inputs_embeds=point[None]).logits[0, label].backward()
            total += weight * point.grad[i]
        scores.append(float((x[i] - r) @ total))
    return scores


@pytest.mark.parametrize("rule", ["gauss_legendre", "left", "right", "middle"])
def test_the_path_is_the_papers(rule):
    """With few nodes, so that quadrature is far from the integral and only the same sum gives the same number."""
    found = explain(bert(seed=3), TEXTS, f"{NAME}(exact=False, steps=3, rule={rule})", target=1)
    for text, a in zip(TEXTS, found, strict=True):
        expected = literal(bert(seed=3), text, 1, 3, rule)
        assert a.scores == pytest.approx(expected, abs=1e-5)
    if rule != "gauss_legendre":
        assert max(a.extra["quadrature_error"] for a in found) > 1e-2


def test_closed_form():
    """v = (b + sum_t <w_t, e_t>)^2: moving one token changes v by a difference of squares."""
    model = closed(power=2)
    a = explain(model, TEXTS[0], NAME, target=2)
    ids = torch.tensor(model.tokenizer(TEXTS[0])["input_ids"])
    words, weight, bias = (p.detach() for p in (model.hf.words.weight, model.hf.weight, model.hf.bias))
    weight = weight[: len(ids), 2]
    linear = float((words[ids] * weight).sum() + bias[2])
    mask = words[model.tokenizer.mask_token_id]
    moved = [linear - float((words[ids[i]] - mask) @ weight[i]) for i in range(1, len(ids) - 1)]
    assert a.scores == pytest.approx([linear**2 - m**2 for m in moved], abs=1e-4)
    path = explain(model, TEXTS[0], f"{NAME}(exact=False, steps=1)", target=2)  # Gauss: exact for a square
    assert path.scores == pytest.approx(a.scores, abs=1e-4)


@pytest.mark.parametrize("baseline", [None, "pad", "zero"])
@pytest.mark.parametrize("scale", ["logit", "probability", "log_odds"])
def test_both_forms_agree_on_every_scale_baseline_and_unit(scale, baseline):
    model, target = precise("bert"), assay.Target(label=1, scale=scale)
    option = "" if baseline is None else f", baseline={baseline}"
    for units in ("token", "word"):
        exact = explain(model, CASES["bert"].inputs[1], f"{NAME}(True{option})", target=target, units=units)
        path = explain(model, CASES["bert"].inputs[1], f"{NAME}(False, 120{option})", target=target, units=units)
        assert path.scores == pytest.approx(exact.scores, abs=1e-4)
    by_removal = explain(model, CASES["bert"].inputs[1], NAME, target=target, units="word", removal=baseline)
    assert by_removal.scores == pytest.approx(exact.scores, abs=1e-6)  # an open baseline follows the removal


def test_a_contrast_is_a_difference():
    model, text = precise("bert"), CASES["bert"].inputs[0]
    both = explain(model, text, NAME, target=assay.Target(0, against=2))
    one, other = (explain(model, text, NAME, target=label) for label in (0, 2))
    assert both.scores == pytest.approx(one.scores - other.scores, abs=1e-5)


def test_it_costs_what_it_says():
    a, b = explain(bert(), TEXTS[1], NAME), explain(bert(), TEXTS[1], f"{NAME}(exact=False, steps=7)")
    n = len(a)
    assert (a.cost.forwards, a.cost.backwards) == (n + 1, 0)
    assert (b.cost.forwards, b.cost.backwards) == (n + 1 + 7 * n, 7 * n)


def test_a_bad_number_of_steps():
    with pytest.raises(assay.SpecError, match="steps must be at least 1"):
        explain(bert(), TEXTS, f"{NAME}(steps=0)")


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the fine-tuned MiniLM classifier is not on this machine")
def test_both_forms_agree_on_a_real_model():
    """Within 1e-4 of the single-token mask effect, in float32; the paper's 50 nodes are too few for the first text."""
    texts = ["one long string of cliches .", "lovely and poignant ."]
    model = assay.load_model(REAL)
    effect = explain(model, texts, "occlusion", target=assay.Target(scale="logit"))
    for steps, tolerance in ((50, 1e-3), (100, 1e-4)):
        for a, b in zip(explain(model, texts, f"{NAME}(exact=False, steps={steps})"), effect, strict=True):
            gap = float(np.abs(a.scores - b.scores).max())
            assert gap < tolerance
            assert a.extra["quadrature_error"] == pytest.approx(gap, abs=2e-5)
            assert np.abs(b.scores).max() > 10 * tolerance, "not only because all scores are small"
