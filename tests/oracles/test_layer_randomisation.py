"""Layer randomisation: each architecture's own initialisation, the model back bit by bit, and what the thesis saw."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import assay
from assay.core.errors import SpecError
from assay.datasets.examples import as_examples
from assay.evaluation.sanity.layer_randomisation import LayerRandomisation, correlation, summary
from assay.models import hooks
from assay.models.load import load_model, save_model
from families import CASES, TRANSFORMER_CASES, TRANSFORMERS, fresh, model_of
from runs import State, as_a_user_may_have_it, hook_free, quiet

METHODS = ("gradient", "average_attention")


def study(case, **fields):
    with quiet():
        return LayerRandomisation(methods=METHODS, **fields).run(model_of(case), list(as_examples(CASES[case].inputs)))


# --- the draw --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TRANSFORMERS)
def test_a_block_is_drawn_as_a_new_model_draws_it(case):
    """Spread and mean of every parameter against a freshly constructed model of the same configuration, many draws."""
    hf = model_of(case).hf
    own, new = {}, {}
    for seed in range(12):
        for name, tensor in model_of(case).reinitialised(0, seed).items():
            own.setdefault(name, []).append(tensor.flatten())
        torch.manual_seed(1000 + seed)
        for name, tensor in hooks.blocks(type(hf)(hf.config))[0].named_parameters():
            new.setdefault(name, []).append(tensor.detach().flatten())
    assert set(own) == set(new)
    for name in own:
        mine, theirs = torch.cat(own[name]), torch.cat(new[name])
        noise = 5 * float(theirs.std()) / len(theirs) ** 0.5
        assert float(mine.mean()) == pytest.approx(float(theirs.mean()), abs=noise + 1e-7), name
        assert float(mine.std()) == pytest.approx(float(theirs.std()), abs=noise + 1e-7), name


def test_loaded_weights_are_drawn_too(tmp_path):
    """transformers marks loaded parameters and skips them; a draw that did so would leave the block as it was."""
    save_model(model_of("bert"), tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    drawn = loaded.reinitialised(1, 0)
    old = dict(hooks.blocks(loaded.hf)[1].named_parameters())
    matrices = [name for name, p in old.items() if p.dim() > 1]
    assert matrices
    assert all(not torch.equal(drawn[name], old[name]) for name in matrices)
    assert all(drawn[name].std() == pytest.approx(0.02, rel=0.2) for name in matrices)


def test_a_draw_belongs_to_model_block_and_seed():
    model = model_of("bert")
    first, again, other, next_block = (model.reinitialised(*key) for key in ((0, 0), (0, 0), (0, 1), (1, 0)))
    name = next(n for n, t in first.items() if t.dim() > 1)
    assert torch.equal(first[name], again[name])
    assert not torch.equal(first[name], other[name])
    assert not torch.equal(first[name], next_block[name])
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    model.reinitialised(0, 3)
    assert torch.equal(before, torch.rand(1))  # the caller's own generator has not moved


def test_t5s_position_bias_can_be_kept():
    model = model_of("t5")
    (bias,) = model.family.shared_parameters
    assert bias in model.reinitialised(0, 0)
    assert set(model.reinitialised(0, 0)) - set(model.reinitialised(0, 0, shared_parameters=False)) == {bias}
    assert bias not in model.reinitialised(1, 0)


# --- the model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_the_blocks_change_and_come_back(case):
    """Within: these blocks and no other parameter differ, and so do the outputs. After: every tensor is the old one."""
    model = fresh(case)
    as_a_user_may_have_it(model)
    before, batch = State.of(model), model.batch([model.encode(e) for e in as_examples(CASES[case].inputs[:1])])
    with torch.no_grad():
        whole = model.logits(batch)
    weights = {k: v.clone() for k, v in model.hf.state_dict().items()}
    with pytest.raises(KeyError), model.with_blocks({1: model.reinitialised(1, 0)}):  # noqa: PT012
        inside = {id(p) for p in hooks.blocks(model.hf)[1].parameters()}
        for name, p in model.hf.named_parameters():
            if p.dim() > 1 or id(p) not in inside:
                assert torch.equal(p, weights[name]) == (id(p) not in inside), name
        with torch.no_grad():
            assert not torch.allclose(model.logits(batch), whole, atol=1e-3)
        raise KeyError
    before.assert_same(State.of(model))
    with torch.no_grad():
        assert torch.equal(model.logits(batch), whole)


@pytest.mark.parametrize("case", TRANSFORMER_CASES)
def test_every_family_and_the_model_is_left_as_it_was(case):
    model = model_of(case)
    before = State.of(model)
    rows = study(case, seeds=(0, 1))
    before.assert_same(State.of(model))
    assert hook_free(model)
    n = len(CASES[case].inputs)
    assert len(rows) == n * len(METHODS) * 2 * 2 * 2  # modes, blocks, seeds
    assert all(row["spearman"] is None or -1 <= row["spearman"] <= 1 for row in rows)
    assert np.mean([abs(row["spearman"] or 0) for row in rows if row["mode"] == "cascading"]) < 0.99


# --- the numbers -----------------------------------------------------------------------------------------------------


def test_rows_against_a_literal_loop():
    """Copy the drawn weights into a second model by hand, explain it, correlate: no shared code but explain."""
    model, texts = model_of("bert"), list(CASES["bert"].inputs)
    rows = {(r["method"], r["mode"], r["block"], r["example"]): r["spearman"] for r in study("bert")}
    for mode, block, gone in (("cascading", 1, [1]), ("cascading", 0, [0, 1]), ("independent", 0, [0])):
        broken = fresh("bert")
        with torch.no_grad():
            for layer in gone:
                for name, p in hooks.blocks(broken.hf)[layer].named_parameters():
                    p.copy_(model.reinitialised(layer, 0)[name])
        for method in METHODS:
            old = assay.explain(model, texts, method)
            new = assay.explain(broken, texts, method, target=[a.target.label for a in old])
            for i, (a, b) in enumerate(zip(old, new, strict=True)):
                assert rows[method, mode, block, str(i)] == pytest.approx(spearmanr(a.scores, b.scores).statistic)


def test_the_first_step_is_shared_and_passes_are_those_needed():
    """2 blocks, two modes: 3 different broken models, not 4; a gradient is one forward and one backward each."""
    model, inputs = model_of("bert"), list(as_examples(CASES["bert"].inputs))
    forwards, backwards = model.passes.forwards, model.passes.backwards
    LayerRandomisation(methods=("gradient",)).run(model, inputs)
    assert model.passes.forwards - forwards == 4 * len(inputs)
    assert model.passes.backwards - backwards == 4 * len(inputs)


def test_a_method_that_never_looks_keeps_its_scores():
    rows = LayerRandomisation(methods=("random",)).run(model_of("bert"), list(as_examples(CASES["bert"].inputs)))
    assert all(row["spearman"] == pytest.approx(1) for row in rows)


def test_causal_attention_stays():
    """The thesis's fact: on GPT-2 both attention methods stay near 1, because the mask alone orders the positions."""
    both = LayerRandomisation(methods=("average_attention", "attention_rollout(residual=False)"))
    with quiet():
        rows = both.run(model_of("gpt2"), list(as_examples(CASES["gpt2"].inputs[:1])))
    assert np.mean([row["spearman"] for row in rows]) > 0.85


def test_rollout_forgets_late_layers():
    """12 random row-stochastic layers, later ones on the left: Spearman 1, 1, about 0 for last, middle, first."""
    rng = np.random.default_rng(0)
    layers = [rng.dirichlet(np.ones(20), 20) for _ in range(12)]

    def rollout(mats):
        out = np.eye(20)
        for m in mats:
            out = m @ out
        return out.mean(0)

    def reinitialised(layer):
        rhos = []
        for _ in range(20):
            other = [rng.dirichlet(np.ones(20), 20) if i == layer else m for i, m in enumerate(layers)]
            rhos.append(spearmanr(rollout(layers), rollout(other)).statistic)
        return np.mean(rhos)

    assert reinitialised(11) > 0.999
    assert reinitialised(6) > 0.999
    assert abs(reinitialised(0)) < 0.3


def test_summary_and_undefined():
    a, b = assay.explain(model_of("bert"), ["a modest pleasure", "soup"], "gradient")
    assert correlation(a, a) == pytest.approx(1)
    assert correlation(b, b) is None  # one unit: nothing to rank
    row = {"method": "m", "mode": "cascading", "block": 0}
    rows = [{**row, "example": e, "spearman": s} for e, s in (("a", 0.0), ("a", 1.0), ("b", -0.5), ("c", None))]
    (found,) = summary(rows)
    assert (found["spearman"], found["n"]) == (0.0, 2)


def test_bad_settings():
    with pytest.raises(SpecError, match=r"unknown mode 'cascade'.*did you mean 'cascading'"):
        LayerRandomisation(modes=("cascade",))
    with pytest.raises(SpecError, match="at least one method"):
        LayerRandomisation(methods=())
