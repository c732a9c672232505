"""Decompositions against what they must sum to, the papers term by term, and a frozen network made by hooks."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import assay
from assay.core.types import Target
from assay.explainers.attention_matrices import rollout
from assay.explainers.decomposition import _units, _vectors
from assay.explainers.decomposition._vectors import DecompositionSettings, block_norms, class_vectors, through_blocks
from assay.explainers.decomposition.alti import Alti, contributions
from assay.explainers.decomposition.decompx import Decompx
from assay.explainers.decomposition.globenc import Globenc, block_lengths
from assay.explainers.decomposition.value_norm_attention import ValueNormAttention
from assay.models.target import Targets
from assay.models.trace import replay
from families import CASES, TRANSFORMER_CASES, TRANSFORMERS, fresh, model_of, t5
from oracles import literal_bert
from oracles.frozen import frozen_gradient, in_float64
from stock import example

SHARING = ["absdot", "abssim", "norm", "equal", "cls", "bias_token"]
CAUSAL = ["gpt2", "llama", "mistral", "llama-prompted"]
GATED = ["llama", "mistral"]


@cache
def exact(case):
    model = fresh(case)
    in_float64(model.hf)
    if model.head is not None:
        model.readout.head.double()
    return model


@cache
def batch_of(case):
    model = exact(case)
    return model.batch([model.encode(example(given)) for given in CASES[case].inputs])


@cache
def trace_of(case):
    return exact(case).trace(batch_of(case))


def states(trace):
    return [*(block.inputs for block in trace.blocks[1:]), trace.outputs]


def gap(trace, rules):
    """Largest errors of the sums: hidden states of real positions, and logits."""
    real = trace.mask[..., None]
    with torch.no_grad():
        pairs = zip(through_blocks(trace, rules), states(trace), strict=True)
        hidden = [float(((x.sum(2) - state) * real).abs().max()) for x, state in pairs]
        return max(hidden), float((class_vectors(trace, rules).sum(1) - trace.logits).abs().max())


# --- sums --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", SHARING)
@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_vectors_sum_to_hidden_states_and_logits(case, rule):
    for activation in ("zero_origin", "tangent"):
        for gate in ("up", "gate", "half") if case in GATED else ("up",):
            hidden, logits = gap(
                trace_of(case), DecompositionSettings(rule, activation, gate, inside=rule != "bias_token")
            )
            assert hidden < 1e-9
            assert logits < 1e-9


@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_float32_sums_hold_within_rounding(case):
    model = model_of(case)
    trace = model.trace(model.batch([model.encode(example(given)) for given in CASES[case].inputs]))
    hidden, logits = gap(trace, DecompositionSettings())
    assert hidden <= 1e-4 * max(float(s.abs().max()) for s in states(trace))
    assert logits <= 1e-5 * float(trace.logits.abs().max())


def test_without_biases_nothing_needs_to_sum():
    """The identity can fail: it is the biases, shared, that make it hold."""
    assert gap(trace_of("bert"), DecompositionSettings(None))[1] > 0.01


@pytest.mark.parametrize("rule", SHARING)
@pytest.mark.parametrize("case", [c for c in TRANSFORMER_CASES if c not in ("vit", "dinov2")])
def test_padding_gets_exactly_nothing(case, rule):
    trace = trace_of(case)
    assert not trace.mask.all()
    with torch.no_grad():
        scores = class_vectors(trace, DecompositionSettings(rule, inside=rule != "bias_token"))[
            :, : trace.mask.shape[1]
        ]
    assert (scores[trace.mask == 0] == 0).all()


@pytest.mark.parametrize("case", CAUSAL)
def test_the_future_brings_nothing(case):
    trace = trace_of(case)
    future = torch.ones(trace.mask.shape[1], trace.mask.shape[1]).triu(1).bool()
    real = trace.mask.bool()
    for rule in ("absdot", "equal", "cls"):
        for x in through_blocks(trace, DecompositionSettings(rule)):
            assert all((x[b][future & real[b][:, None]] == 0).all() for b in range(len(x)))
            assert x.abs().max() > 0.1
    for block in trace.blocks:
        for matrix in (contributions(block, 1), block_lengths(block)):
            assert all((matrix[b][future & real[b][:, None]] == 0).all() for b in range(len(matrix)))


@pytest.mark.parametrize("case", ["bert", "llama"])
def test_chunks_and_parts_change_nothing(case, monkeypatch):
    trace = trace_of(case)
    whole = class_vectors(trace, DecompositionSettings())
    parts = [class_vectors(part, DecompositionSettings()) for part in trace.parts(1)]
    assert len(parts) == len(trace.mask)
    for row, part in zip(whole, parts, strict=True):
        assert torch.allclose(row[: part.shape[1]], part[0], atol=1e-12)
    monkeypatch.setattr(_vectors, "CACHED", 1)
    monkeypatch.setattr(_vectors, "MIXED", 300)
    assert torch.allclose(class_vectors(trace, DecompositionSettings()), whole, atol=1e-12)


def test_heads_may_be_narrower_together_than_the_model():
    """As in the small T5s."""
    model = t5(head_width=4)
    trace = model.trace(model.batch([model.encode(example("a modest pleasure"))]))
    assert trace.blocks[0].attention.output.weight.shape == (32, 16)
    for rules in (DecompositionSettings(), DecompositionSettings("norm", inside=False)):
        assert max(gap(trace, rules)) < 1e-4


@pytest.mark.parametrize("case", ["bert", "gpt2", "t5"])
def test_one_map_per_row_is_the_two_layers(case, monkeypatch):
    model = exact(case)
    trace = model.trace(model.batch([model.encode(example(" ".join(["a modest pleasure"] * 10)))]))
    found = []
    for pays in (False, True):
        monkeypatch.setattr(_units, "maps_pay", lambda *sizes, pays=pays: pays)
        found.append(class_vectors(trace, DecompositionSettings()))
        assert gap(trace, DecompositionSettings())[0] < 1e-9
    assert torch.allclose(*found, atol=1e-10)


def test_maps_pay_where_they_take_fewer_products():
    units, width = 1536, 384
    for sources in (100, 219, 220, 500):
        two_layers, one_map = 2 * sources * units * width, units * width**2 + sources * width**2
        assert _units.maps_pay(sources, units, width) == (one_map < two_layers)


# --- the frozen network ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TRANSFORMERS)
def test_without_biases_it_is_input_x_gradient_of_the_frozen_network(case):
    model, batch, trace = exact(case), batch_of(case), trace_of(case)
    hidden, gradient = frozen_gradient(model, batch, label=1)
    expected = (hidden * gradient).sum(-1) * trace.mask
    assert torch.allclose(trace.blocks[0].inputs, hidden)
    with torch.no_grad():
        none = class_vectors(trace, DecompositionSettings(None, inside=False))[..., 1] * trace.mask
        apart = class_vectors(trace, DecompositionSettings("bias_token", inside=False))[..., 1]
    assert torch.allclose(none, expected, atol=1e-10)
    assert torch.allclose(apart[:, :-1] * trace.mask, expected, atol=1e-10)
    assert expected.abs().max() > 0.05


@pytest.mark.parametrize("activation", ["zero_origin", "tangent"])
@pytest.mark.parametrize("case", TRANSFORMERS)
def test_one_backward_pass_gives_the_scores_of_the_bias_token(case, activation):
    model, batch, trace = exact(case), batch_of(case), trace_of(case)
    targets = Targets((Target(0, against=2),) * len(batch), "logit")
    for gate in ("up", "gate", "half") if case in GATED else ("up",):
        fast = Decompx("bias_token", activation, gate).attribute(model, batch, targets)
        with torch.no_grad():
            slow = class_vectors(trace, DecompositionSettings("bias_token", activation, gate, inside=False))
        slow = slow[..., 0] - slow[..., 2]
        assert torch.allclose(fast.scores * trace.mask, slow[:, :-1] * trace.mask, atol=1e-10)
        assert np.allclose(fast.extra["biases"], slow[:, -1], atol=1e-10)


def test_the_frozen_network_is_affine():
    trace = trace_of("gpt2")
    start = trace.blocks[0].inputs
    step = torch.randn(start.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one, two = (replay(trace, start + k * step) - trace.logits for k in (1, 2))
    assert torch.allclose(two, 2 * one, atol=1e-9)


# --- term by term ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text():
    """One short text alone: (model, its classifier for the literal versions, ids, trace)."""
    model = exact("bert")
    batch = model.batch([model.encode(example("a modest pleasure"))])
    return model, copy.deepcopy(model.hf).eval(), batch, model.trace(batch)


@pytest.mark.parametrize("activation", ["zero_origin", "tangent"])
@pytest.mark.parametrize("rule", SHARING[:-1])
def test_decompx_is_the_papers(text, rule, activation):
    _, hf, batch, trace = text
    with torch.no_grad():
        expected, vectors = literal_bert.decompx(hf, batch.ids, rule, activation)
        assert torch.allclose(class_vectors(trace, DecompositionSettings(rule, activation))[0], expected, atol=1e-10)
        for mine, theirs in zip(through_blocks(trace, DecompositionSettings(rule, activation)), vectors, strict=True):
            assert torch.allclose(mine[0], theirs, atol=1e-10)


def test_decompx_scores_sum_to_the_value(text):
    model, _, batch, trace = text
    found = Decompx().attribute(model, batch, Targets((Target(None),), "logit"))
    assert float(found.scores.sum()) == pytest.approx(float(trace.logits.max()), abs=1e-9)
    attribution = assay.explain(model, "a modest pleasure", "decompx")
    total = attribution.scores.sum() + attribution.extra["special"] + attribution.extra["biases"]
    assert total == pytest.approx(attribution.value_full, abs=1e-5)


def test_another_scale_weights_the_classes_by_its_slope(text):
    model, _, batch, trace = text
    found = Decompx().attribute(model, batch, Targets((Target(1, scale="probability"),), "logit")).scores[0]
    p = trace.logits[0].softmax(-1)
    slope = p[1] * (torch.eye(3, dtype=p.dtype)[1] - p)
    assert torch.allclose(found, class_vectors(trace, DecompositionSettings())[0] @ slope, atol=1e-12)


@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_alti_is_the_papers(text, distance):
    model, hf, batch, trace = text
    p = int(distance[1])
    with torch.no_grad():
        expected = literal_bert.alti(hf, batch.ids, p)
        for block, theirs in zip(trace.blocks, expected, strict=True):
            assert torch.allclose(contributions(block, p)[0], theirs, atol=1e-10)
        found = Alti(distance).attribute(model, batch, Targets((Target(0),), "logit")).scores
    assert torch.allclose(found[0], (expected[1] @ expected[0])[0], atol=1e-10)


def test_globenc_is_the_papers(text):
    model, hf, batch, trace = text
    with torch.no_grad():
        expected = literal_bert.globenc(hf, batch.ids)
        for block, theirs in zip(trace.blocks, expected, strict=True):
            assert torch.allclose(block_lengths(block)[0], theirs, atol=1e-10)
        found = Globenc().attribute(model, batch, Targets((Target(0),), "logit")).scores
    assert torch.allclose(found[0], (expected[1] @ expected[0])[0], atol=1e-10)


def test_value_norms_are_the_papers(text):
    model, hf, batch, _ = text
    targets = Targets((Target(0),), "logit")
    with torch.no_grad():
        first, second = literal_bert.value_norms(hf, batch.ids)
    mean = ValueNormAttention().attribute(model, batch, targets).scores[0]
    assert torch.allclose(mean, ((first + second) / 2).mean(0), atol=1e-6)
    row = ValueNormAttention("rollout", "readout").attribute(model, batch, targets).scores[0]
    assert torch.allclose(row, (second @ first)[0], atol=1e-10)


# --- between methods ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_globenc_is_decompx_in_rollout_without_biases_and_feed_forward(case):
    """Values keep their bias; all other biases and the feed-forward layers are off."""
    trace = trace_of(case)
    real = trace.mask[..., None]
    rolled = rollout(block_norms(trace, DecompositionSettings(None, feed_forward=False)))
    product = rollout([block_lengths(block) * real for block in trace.blocks])
    assert torch.allclose(product, rolled, rtol=1e-9, atol=1e-9)
    assert rolled.abs().max() > 0.1


@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_alti_rows_sum_to_one(case):
    trace = trace_of(case)
    matrices = [contributions(block, 1) for block in trace.blocks]
    for matrix in [*matrices, rollout(matrices)]:
        assert (matrix >= 0).all()
        assert torch.allclose(matrix.sum(-1), torch.ones(()).double(), atol=1e-12)
    pads = trace.mask == 0
    assert all((m.transpose(1, 2)[pads] * trace.mask[pads.nonzero()[:, 0]] == 0).all() for m in matrices)


def test_alti_of_a_row_that_nobody_helps_is_its_own_position():
    block = trace_of("gpt2").blocks[0]
    flipped = contributions(_with_middle(block, -block.middle * 1e6), 1)
    alone = (flipped == torch.eye(flipped.shape[-1])).all(-1)
    assert torch.allclose(flipped.sum(-1), torch.ones(()).double(), atol=1e-12)
    assert alone.any()


def _with_middle(block, middle):
    return type(block)(block.attention, block.feed_forward, block.inputs, middle)


# --- what cannot be traced ---------------------------------------------------------------------------------------


class Bent(nn.Linear):
    """A layer that does more than its weights say."""

    def forward(self, x):
        return super().forward(x).tanh()


class NoNorm(nn.Module):
    def forward(self, x):
        return x


def _broken(path, module):
    model = fresh("bert")
    model.hf.set_submodule(path, module)
    return model


@pytest.mark.parametrize("method", ["decompx", "decompx(bias=bias_token)", "alti", "globenc", "value_norm_attention"])
@pytest.mark.parametrize(
    ("path", "module", "words"),
    [
        ("bert.encoder.layer.1.attention.output.LayerNorm", NoNorm(), "block 1 runs its layers in the order LLLALLLN"),
        ("bert.encoder.layer.0.output.dense", Bent(64, 32), "block 0 computes more than its layers show"),
        ("classifier", Bent(32, 3), "its head computes more than its layers show"),
    ],
)
def test_an_unknown_structure_is_refused(method, path, module, words):
    with pytest.raises(assay.UnsupportedError, match=words):
        assay.explain(_broken(path, module), "a modest pleasure", method)


def test_adapters_are_part_of_the_layers():
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(target_modules=["value", "dense"], r=2, init_lora_weights=False)
    model = fresh("bert")
    torch.manual_seed(0)
    wrapped = assay.load_model(peft.get_peft_model(model.hf, config), model.tokenizer)
    trace = wrapped.trace(wrapped.batch([wrapped.encode(example("a modest pleasure"))]))
    assert gap(trace, DecompositionSettings())[1] < 1e-4


@pytest.mark.parametrize(
    "spec", ["decompx(bias=dot)", "decompx(activation=relu)", "decompx(gate=both)", "alti(distance=l3)"]
)
def test_an_unknown_rule_is_a_sentence(spec):
    with pytest.raises(assay.SpecError, match="allowed"):
        assay.explain(model_of("bert"), "a modest pleasure", spec)
