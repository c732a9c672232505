"""The BiLSTM against a bare, unbatched PyTorch version of the paper; its measures against literal formulas."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import assay
from assay.core.types import Example, Target
from assay.explainers.gradient import weighted_integrated_gradients as published
from assay.explainers.gradient.gradient import _root
from assay.masking.units import divide
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.target import Targets
from families import CASES, precise
from runs import explain
from stock import example, ours


def bare(hf: nn.Module, ids: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """(C,) logits and (T,) attention of one unpadded text, cell by cell (section 4 of the fact sheet)."""
    w = hf.state_dict()
    first = ids.index(2) + 1 if hf.config.paired else len(ids)

    def run(prefix, rows):
        h = c = rows.new_zeros(hf.config.hidden_size)
        states = []
        for x in rows:
            gates = w[f"{prefix}.weight_ih_l0"] @ x + w[f"{prefix}.bias_ih_l0"]
            gates = gates + w[f"{prefix}.weight_hh_l0"] @ h + w[f"{prefix}.bias_hh_l0"]
            i, f, g, o = gates.chunk(4)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            states.append(h)
        return torch.stack(states)

    def both(prefix, rows):
        return torch.cat([run(f"{prefix}.onward", rows), run(f"{prefix}.back", rows.flip(0)).flip(0)], -1)

    hidden = hf.config.hidden_size
    states = both("encoder", w["words.primary.weight"][ids[:first]])
    u = states @ w["attention.0.key.weight"].T + w["attention.0.key.bias"]
    if hf.config.paired:
        q = both("auxiliary", w["words.auxiliary.weight"][ids[first:]])
        q = torch.cat([q[-1, :hidden], q[0, hidden:]])
        u = u + w["attention.0.query.weight"] @ q + w["attention.0.query.bias"]
    scores = u.tanh() @ w["attention.0.score.weight"][0]
    words = torch.tensor([t not in (1, 2) for t in ids[:first]])
    alpha = torch.zeros(first, dtype=states.dtype)
    alpha[words] = scores[words].softmax(0)
    context = alpha @ states
    if hf.config.paired:
        context = (
            w["from_context.weight"] @ context
            + w["from_context.bias"]
            + w["from_summary.weight"] @ q
            + w["from_summary.bias"]
        ).tanh()
    return w["classifier.weight"] @ context + w["classifier.bias"], alpha


@pytest.mark.parametrize("case", ["bilstm_attention", "bilstm_attention-paired"])
def test_logits_and_attention_are_the_papers(case):
    model = precise(case)
    encodings = [model.encode(example(given)) for given in CASES[case].inputs]
    found = ours(model, model.batch(encodings))
    attention = explain(model, list(CASES[case].inputs), "average_attention")
    for row, encoding, a in zip(found, encodings, attention, strict=True):
        logits, alpha = bare(model.hf, encoding.ids.tolist())
        assert torch.allclose(row, logits, atol=1e-12)
        words = alpha[[t for t in range(len(alpha)) if encoding.spans[t].segment >= 0]]
        assert np.allclose(a.scores[: len(words)], words, atol=1e-6)
        assert a.scores[: len(words)].sum() == pytest.approx(1, abs=1e-5)
        assert not a.scores[len(words) :].any()  # the auxiliary text is never attended to


def test_the_auxiliary_text_has_its_own_table():
    """... and the primary one is what the vocabulary's norm runs over."""
    hf = precise("bilstm_attention-paired").hf
    ids = torch.tensor([[1, 7, 2, 1, 7, 2]])
    rows = hf.words(ids)[0]
    assert torch.equal(rows[1], hf.words.primary.weight[7])
    assert torch.equal(rows[4], hf.words.auxiliary.weight[7])
    assert hf.words.weight is hf.words.primary.weight


def test_a_pair_model_refuses_a_single_text():
    with pytest.raises(assay.AssayError, match="give \\(text, text_pair\\)"):
        explain(precise("bilstm_attention-paired"), "the soup was good", "gradient")


# --- the paper's measures ----------------------------------------------------------------------------------------

TEXT = "the film is bright and funny"


def gradients(model, text, scale=1.0):
    """(T,D) gradients of the first class's logit at scale x embeddings of words, specials unscaled, and embeddings."""
    batch = model.batch([model.encode(Example(text=text))])
    words = torch.tensor([[s.segment >= 0 for s in model.encode(Example(text=text)).spans]])
    e = model.embeddings(batch).detach()
    at = torch.where(words.unsqueeze(-1), scale * e, e).requires_grad_()
    with model.frozen():
        (g,) = torch.autograd.grad(model.logits(replace(batch, embeddings=at))[0, 0], at)
    return g[0][words[0]], e[0][words[0]]


@pytest.mark.parametrize("case", ["bilstm_attention", "bert", "roberta", "llama"])
def test_the_gradient_over_the_vocabulary(case):
    """||E g||: the literal V-wide vector of the gradient with respect to the one-hot input."""
    model = precise(case)
    text = "the film is bright" if case == "bilstm_attention" else "good bad"
    found = explain(model, text, "gradient(reduction=vocabulary)", target=0)
    batch = model.batch([model.encode(Example(text=text))])
    table = hooks.word_table(model.hf, model.family).detach()
    one_hot = torch.nn.functional.one_hot(batch.ids, len(table)).to(table).requires_grad_()  # (1,T,V)
    with model.frozen():
        logit = model.logits(replace(batch, embeddings=one_hot @ table))[0, 0]
        (wide,) = torch.autograd.grad(logit, one_hot)
    spans = model.encode(Example(text=text)).spans
    unit_of = divide(model.encode(Example(text=text))).unit_of
    for unit in range(len(found.units)):
        rows = [t for t in range(len(spans)) if unit_of[t] == unit]
        assert found.scores[unit] == pytest.approx(float(wide[0, rows].sum(0).norm()), rel=1e-5)


def test_the_vocabulary_is_looked_at_again_when_it_has_changed():
    """Its root is kept from batch to batch, and made anew after an edit, also one that torch does not count."""
    table = torch.nn.Parameter(torch.randn(7, 3, dtype=torch.float64))

    def right() -> bool:
        return torch.allclose(_root(table) @ _root(table), table.detach().T @ table.detach())

    assert right()
    assert _root(table) is _root(table)
    table.data[2, 1] += 1.0
    assert right()
    with torch.no_grad():
        table.mul_(2.0)
    assert right()


def test_a_picture_has_no_vocabulary():
    with pytest.raises(assay.UnsupportedError, match="no vocabulary"):
        explain(precise("vit"), CASES["vit"].inputs[0], "gradient(reduction=vocabulary)")


def test_the_papers_integrated_gradients():
    """1/50 sum <e, g(i/50 e)> literally; with many points complete."""
    model = precise("bilstm_attention")
    found = explain(model, TEXT, "integrated_gradients(steps=50, baseline=zero, rule=right)", target=0)
    terms = [gradients(model, TEXT, i / 50) for i in range(1, 51)]
    literal = sum((g * e).sum(-1) for g, e in terms) / 50
    assert np.allclose(found.scores, literal, atol=1e-6)
    fine = explain(model, TEXT, "integrated_gradients(steps=800, baseline=zero, rule=right)", target=0)
    gain = fine.value_full - fine.value_empty
    assert fine.scores.sum() == pytest.approx(gain, abs=2e-2 * abs(gain))


def test_the_published_integrated_gradients_carry_one_more_factor():
    """d/d e of f(i/50 e), which is what the published code differentiates; and not the paper's formula."""
    model = precise("bilstm_attention")
    found = explain(model, TEXT, "weighted_integrated_gradients(steps=50)", target=0)
    terms = [gradients(model, TEXT, i / 50) for i in range(1, 51)]
    literal = sum(i / 50 * (g * e).sum(-1) for i, (g, e) in enumerate(terms, 1)) / 50
    assert np.allclose(found.scores, literal, atol=1e-6)
    limit = explain(model, TEXT, "weighted_integrated_gradients(steps=2000)", target=0)
    few = explain(model, TEXT, "weighted_integrated_gradients(steps=32, rule=gauss_legendre)", target=0)
    assert np.abs(few.scores - limit.scores).max() < 0.2 * np.abs(found.scores - limit.scores).max()
    paper = explain(model, TEXT, "integrated_gradients(steps=50, baseline=zero, rule=right)", target=0)
    assert np.abs(found.scores - paper.scores).max() > 0.1 * np.abs(paper.scores).max()


def test_the_factor_for_a_linear_model(monkeypatch):
    """The gradient w is the same along the path, so that only the mean of i/k is left: (k+1)/2k of the gain."""
    x, w = torch.arange(1.0, 7).double().view(1, 3, 2), torch.tensor([[[1.0, -2], [0.5, 3], [2, 1]]]).double()
    zeros = torch.zeros(1, 3, dtype=torch.long)
    batch = Batch(zeros, zeros + 1, zeros, zeros, zeros[:, 0])
    model = SimpleNamespace(
        hf=precise("bilstm_attention").hf,
        full_logits=lambda batch: None,
        embeddings=lambda batch: x,
        gradients=lambda batch, targets: SimpleNamespace(gradient=w.expand_as(batch.embeddings)),
    )
    targets = SimpleNamespace(take=lambda rows: None, resolve=lambda logits: targets)
    monkeypatch.setattr(published, "baseline_embeddings", lambda *args: torch.zeros_like(x))
    found = published.WeightedIntegratedGradients(steps=50).attribute(model, batch, targets)
    assert torch.allclose(found.scores, 51 / 100 * (w * x).sum(-1))


def test_its_gradient_has_a_gradient():
    """Attacks need one; the fused LSTM kernel has none, so it is switched off there. Against central differences."""
    model = precise("bilstm_attention")
    batch = model.batch([model.encode(example("the film is bright")), model.encode(example("good soup"))])
    targets = Targets((Target(0), Target(1)), "logit")
    start = model.embeddings(batch).detach()
    step = torch.randn(start.shape, generator=torch.Generator().manual_seed(0), dtype=start.dtype)

    def slope(point):
        return model.gradients(replace(batch, embeddings=point), targets).gradient

    found = start.clone().requires_grad_()
    (second,) = torch.autograd.grad((slope(found) * step).sum(), found)
    expected = (slope(start + 1e-5 * step) - slope(start - 1e-5 * step)) / 2e-5  # H step, and H is symmetric
    torch.testing.assert_close(second, expected, atol=1e-6, rtol=1e-4)
