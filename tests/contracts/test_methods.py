"""Every method on every family: shape, batching, seeds, targets, declared properties, the state of the model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

import assay
from assay.core.spec import Spec
from assay.explainers import METHODS
from assay.masking.removal import removal_for
from assay.models.families import FAMILIES as NAMES
from assay.models.readout import AssayHead, LabelWords
from families import CASES, FAMILIES, TEXT_CASES, fresh, model_of, precise
from runs import (
    ENSEMBLES,
    PROMPTED,
    SAMPLED,
    SPECS,
    UNSUPPORTED,
    BlownError,
    State,
    as_a_user_may_have_it,
    assert_close,
    declared,
    distance,
    explain,
    explained,
    for_each,
    given_to,
    hook_free,
    method_for,
    spec,
    tried_on,
    with_fuse,
    works_on,
)
from stock import encoded, example

every_method_and_case = for_each()
COMPLETE = [method for method in METHODS.names if declared(method).complete]
UNSIGNED = [method for method in METHODS.names if not declared(method).signed and method != "random"]

# --- the models --------------------------------------------------------------------------------------------------


def test_every_family_has_a_tiny_model():
    assert sorted(FAMILIES) == sorted(NAMES.names)
    assert {model_of(name).family.name for name in FAMILIES} == set(NAMES.names)


@pytest.mark.parametrize("case", CASES)
def test_removing_one_unit_moves_the_output(case):
    """Otherwise every contract below would hold for a model that ignores its input."""
    target = None if model_of(case).task == "regression" else assay.Target(scale="logit")
    for a in explain(model_of(case), list(CASES[case].inputs), "occlusion", target=target):
        assert np.sort(np.abs(a.scores))[-1] > 0.1


def test_budgets_and_exceptions_name_real_methods():
    assert {*SPECS, *SAMPLED, *(method for method, _ in UNSUPPORTED)} <= set(METHODS.names)
    assert {family for _, family in UNSUPPORTED} <= set(FAMILIES)


@pytest.mark.parametrize(
    ("case", "method"), [(case, method) for case in CASES for method in METHODS.names if not works_on(method, case)]
)
def test_a_method_that_does_not_work_on_a_family_says_why(case, method):
    with pytest.raises(assay.UnsupportedError, match=UNSUPPORTED[method, CASES[case].family]):
        explain(model_of(case), list(CASES[case].inputs), method)


# --- shape -------------------------------------------------------------------------------------------------------


@every_method_and_case
def test_one_finite_score_per_unit(case, method):
    for given, a in zip(given_to(method, case), explained(case, method), strict=True):
        assert a.scores.shape == (len(a.units),)
        assert a.scores.dtype == np.float32
        assert np.isfinite(a.scores).all()
        assert np.abs(a.scores).max() > 1e-6
        assert a.method == Spec.of(made(method_for(method, model_of(case))))
        texts = (given,) if isinstance(given, str) else given
        if isinstance(given, str | tuple):
            assert all(u.text == texts[u.segment][u.start : u.end] and u.text.strip() == u.text for u in a.units)
            assert {u.segment for u in a.units} == set(range(len(texts)))
        else:
            assert [u.box for u in a.units] == [(x, y, x + 8, y + 8) for y in range(0, 32, 8) for x in range(0, 32, 8)]


@pytest.mark.parametrize("case", TEXT_CASES)
def test_all_of_a_text_is_scored(case):
    """Units cover every visible character of the input, in order and without overlap."""
    for given, a in zip(CASES[case].inputs, explained(case, "random"), strict=True):
        for segment, text in enumerate((given,) if isinstance(given, str) else given):
            covered = "".join(u.text for u in a.units if u.segment == segment)
            assert covered.replace(" ", "") == text.replace(" ", "")


def made(method):
    return METHODS.make(method) if isinstance(method, str) else method


# --- batching ----------------------------------------------------------------------------------------------------


@every_method_and_case
def test_a_batch_equals_one_by_one(case, method):
    alone = [explain(precise(case), given, method) for given in given_to(method, case)]
    assert_close(explained(case, method, double=True), alone)


@every_method_and_case
def test_order_batch_size_and_padding_side_do_not_matter(case, method):
    model, tokenizer = precise(case), precise(case).tokenizer
    before = getattr(tokenizer, "padding_side", None)
    inputs, whole = given_to(method, case), explained(case, method, double=True)
    try:
        for side, batch_tokens, order in (("left", 160, [2, 0, 1]), ("right", 100_000, [1, 2, 0])):
            order = [*order, *range(3, len(inputs))]
            if tokenizer is not None:
                tokenizer.padding_side = side
            attributions = explain(model, [inputs[i] for i in order], method, batch_tokens=batch_tokens)
            assert_close(attributions, [whole[i] for i in order])
    finally:
        if tokenizer is not None:
            tokenizer.padding_side = before


@every_method_and_case
def test_rounding_stays_rounding(case, method):
    """In float32, rounding depends on the batch size; no method may amplify it."""
    attributions = explain(model_of(case), given_to(method, case), method, batch_tokens=160)
    assert_close(attributions, explained(case, method), 1e-4)
    assert_close(explained(case, method, double=True), explained(case, method), 1e-3)


@for_each(["bert", "llama-few_shot"])
def test_out_of_memory_halves_the_batch(case, method):
    model, fuse = with_fuse(fresh(case), CASES[case].head, rows=2)
    assert_close(explain(model, given_to(method, case), method), explained(case, method), 1e-4)
    assert fuse.seen > 0
    assert hook_free(model)


# --- seeds -------------------------------------------------------------------------------------------------------


@for_each(["bert", "llama-few_shot", "vit"])  # a seed does not depend on the family
def test_seed(case, method):
    model, inputs = model_of(case), [given_to(method, case)[0], given_to(method, case)[-1]]
    first, again, other = (explain(model, inputs, method, seed=seed) for seed in (0, 0, 1))
    for a, same, different in zip(first, again, other, strict=True):
        assert np.array_equal(a.scores, same.scores)
        if method not in SAMPLED:
            assert np.array_equal(a.scores, different.scores)
    if method in SAMPLED:  # the long input: a short one may be enumerated, or sampled alike
        assert distance(first[0], other[0]) > 1e-3


@pytest.mark.parametrize("method", sorted(SAMPLED - ENSEMBLES))
def test_a_methods_own_seed_counts_too(method):
    inputs = CASES["bert"].inputs[0]
    name, _, rest = spec(method).rstrip(")").partition("(")
    seeded = f"{name}({rest + ', ' if rest else ''}seed=5)"
    assert distance(explain(model_of("bert"), inputs, seeded), explained("bert", method)[0]) > 1e-3


def test_a_seed_belongs_to_the_content_not_to_the_place():
    text = CASES["bert"].inputs[0]
    twice = explain(model_of("bert"), [text, "the soup was good", text], "random")
    assert np.array_equal(twice[0].scores, twice[2].scores)


# --- targets -----------------------------------------------------------------------------------------------------


@for_each(case for case in CASES if case != "bert-regression")
def test_target(case, method):
    model, inputs = model_of(case), list(CASES[case].inputs)[1:3]
    first, second = (explain(model, inputs, method, target=label) for label in (0, 1))
    for a, b in zip(first, second, strict=True):
        assert (a.target.label, a.label) == (0, model.labels[0])
        assert (b.target.label, b.label) == (1, model.labels[1])
        assert a.target.scale == default_scale(method, case)
        if a.target.scale != "log_odds" or declared(method).signed:  # the odds of two labels differ only in sign
            assert (distance(a, b) > 1e-3) == declared(method).class_dependent
    mixed = explain(model, inputs, method, target=[model.labels[1], 0])  # one per input, names and numbers alike
    assert_close(mixed, [second[0], first[1]])
    assert [a.label for a in mixed] == [model.labels[1], model.labels[0]]


@pytest.mark.parametrize("method", [method for method in METHODS.names if works_on(method, "bert-regression")])
def test_the_target_of_a_regression(method):
    case = "bert-regression"
    for a in explain(model_of(case), given_to(method, case)[:2], method):
        assert (a.target, a.label) == (assay.Target(0, None, "raw"), "score")
    with pytest.raises(assay.TargetError, match="regression"):
        explain(model_of(case), list(CASES[case].inputs)[1:3], method, target=1)


@every_method_and_case
def test_no_target_is_the_predicted_class(case, method):
    model = model_of(case)
    batch = model.batch([model.encode(example(given)) for given in given_to(method, case)])
    with torch.no_grad():
        logits = model.logits(batch).double()
    for a, row in zip(explained(case, method), logits, strict=True):
        label = int(row.argmax())
        assert (a.target.label, a.label) == (label, model.labels[label])
        assert a.value_full == pytest.approx(on_scale(row, a.target), abs=1e-5)


def on_scale(logits, target):
    """The value of a class from its logits (C,)."""
    p, logit = logits.softmax(-1)[target.label], logits[target.label]
    return float({"probability": p, "log_odds": p.log() - (1 - p).log(), "logit": logit, "raw": logit}[target.scale])


def default_scale(method, case):
    """The declared scale; label words of a prompt are held against each other instead of one by one."""
    scale = declared(method).scale
    return "log_odds" if case.endswith(("prompted", "few_shot")) and scale == "logit" else scale


@pytest.mark.parametrize("method", [method for method in METHODS.names if works_on(method, "bert")])
def test_contrast_explains_the_difference(method):
    """Target(against=) of a method that is linear in the value is the difference of two explanations."""
    model, inputs = model_of("bert"), list(CASES["bert"].inputs)[1:3]
    scale = declared(method).scale
    contrasts = explain(model, inputs, method, target=assay.Target("calm", against="stormy"))
    calm, stormy = (explain(model, inputs, method, target=name) for name in ("calm", "stormy"))
    for contrast, a, b in zip(contrasts, calm, stormy, strict=True):
        assert contrast.target == assay.Target(0, 2, scale)
        assert contrast.value_full == pytest.approx(a.value_full - b.value_full, abs=1e-5)
        if method in ("occlusion", "kernel_shap", "gradient_x_input", "deep_lift"):
            assert np.allclose(contrast.scores, a.scores - b.scores, atol=1e-4 * np.abs(a.scores).max())


# --- declared properties -----------------------------------------------------------------------------------------


@for_each(methods=UNSIGNED)
def test_unsigned_scores_are_not_negative(case, method):
    for a in explained(case, method):
        assert (a.scores >= 0).all()


@pytest.mark.parametrize("case", CASES)
def test_random_scores_are_a_permutation(case):
    for a in explained(case, "random"):
        assert sorted(a.scores) == list(range(1, len(a) + 1))


@pytest.mark.parametrize("method", METHODS.names)
def test_signed_methods_do_give_both_signs(method):
    """A method that never scores below 0 should not call itself signed."""
    cases = [family for family in FAMILIES if tried_on(method, family)] or PROMPTED
    scores = np.concatenate([a.scores for case in cases for a in explained(case, method)])
    assert (scores < 0).any() == declared(method).signed


# Integrated gradients are complete up to quadrature: kinks (ReLU) and steep starts (a zero embedding before an RMS
# norm, the only removal Llama 3 has) need more steps or leave a larger error. {family: (steps, tolerance)}
QUADRATURE = {"distilbert": (128, 0.05), "t5": (128, 0.02), "llama": (1024, 0.01)}


@for_each(methods=COMPLETE)
def test_complete_methods_sum_to_full_minus_empty(case, method):
    inputs, attributions, tolerance = given_to(method, case), explained(case, method), 1e-5
    if method == "integrated_gradients":
        steps, tolerance = QUADRATURE.get(CASES[case].family, (128, 1e-3))
        inputs = inputs[1:2] if steps > 128 else inputs[1:3]
        attributions = explain(model_of(case), inputs, f"integrated_gradients(steps={steps})")
    for given, a in zip(inputs, attributions, strict=True):
        gap = a.scores.sum(dtype=np.float64) - (a.value_full - a.value_empty)
        assert abs(gap) < tolerance
        assert a.value_empty == pytest.approx(_emptied(case, given, a.target), abs=1e-5)
        if "completeness_error" in a.extra:
            assert a.extra["completeness_error"] == pytest.approx(abs(gap), abs=1e-4)
    assert max(abs(a.value_full - a.value_empty) for a in attributions) > 3 * tolerance  # else the sum is trivial


@pytest.mark.parametrize("case", FAMILIES)
def test_the_completeness_error_is_reported(case):
    """With few steps the error is large, and the reported error is the actual one."""
    for a in explained(case, "integrated_gradients"):
        gap = a.scores.sum(dtype=np.float64) - (a.value_full - a.value_empty)
        assert a.extra["completeness_error"] == pytest.approx(abs(gap), abs=1e-4)


def test_tolerance_adds_steps_until_completeness_holds():
    inputs = list(CASES["deberta_v2"].inputs)
    attributions = explain(model_of("deberta_v2"), inputs, "integrated_gradients(steps=2, tolerance=0.001)")
    assert all(a.extra["completeness_error"] <= 1e-3 and a.extra["steps"] > 2 for a in attributions)
    assert len({a.extra["steps"] for a in attributions}) > 1  # each input stops on its own


@pytest.mark.parametrize("method", ["gradient", "smooth_grad"])
def test_a_signed_reduction_says_so(method):
    (a,) = explain(model_of("bert"), [CASES["bert"].inputs[0]], f"{method}(reduction=sum)")
    assert METHODS.make(f"{method}(reduction=sum)").facts.signed == bool((a.scores < 0).any())


def _emptied(case, given, target):
    """The target's value with every unit removed, computed from the removal itself."""
    model = model_of(case)
    (encoding,) = encoded(model, [given])
    removal = removal_for(model, None, warn=False)
    rows = removal.rows(model, encoding, (encoding.unit_of < 0)[None])
    with torch.no_grad():
        logits = model.logits(model.batch([rows]))[0].double()
    return on_scale(logits, target)


@pytest.mark.parametrize("removal", [None, "pad", "zero"])
def test_the_parts_of_an_ensemble_follow_the_removal(removal):
    """An ensemble of one method is that method, normalised, with the caller's removal as its baseline."""
    model, text = model_of("bert"), CASES["bert"].inputs[0]
    for part in ("integrated_gradients(steps=4)", "occlusion"):
        alone = explain(model, text, part, removal=removal).scores
        ensemble = explain(model, text, f"ensemble([{part}])", removal=removal).scores
        assert np.allclose(ensemble, alone / np.abs(alone).sum(), atol=1e-6)


# --- the user's model --------------------------------------------------------------------------------------------


def _as_given(model):
    """What a user passes: model and tokenizer, or a Model where the read-out is our own."""
    own = isinstance(model.readout, AssayHead | LabelWords)
    return model if own else (model.hf, model.tokenizer or model.encoder.processor)


@every_method_and_case
def test_the_model_is_left_as_it_was_also_after_an_error(case, method):
    """First no forward pass fails, then the first or the last: every open context must close."""
    model, fuse = with_fuse(fresh(case), CASES[case].head)
    as_a_user_may_have_it(model)
    before = State.of(model)
    inputs = given_to(method, case)[:2]
    explain(_as_given(model), inputs, method)
    before.assert_same(State.of(model))
    assert hook_free(model)
    calls = fuse.seen
    assert calls > 0
    for last in {0, calls - 1}:
        fuse.calls, fuse.seen = last, 0
        with pytest.raises(BlownError):
            explain(_as_given(model), inputs, method)
        fuse.calls, fuse.seen = np.inf, 0
        before.assert_same(State.of(model))
        assert hook_free(model)


@pytest.mark.parametrize("case", [c for c in FAMILIES if c not in ("mpnet", "deberta_v2", "bilstm_attention")])
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_the_attention_implementation_comes_back(case, implementation):
    model = fresh(case)
    model.hf.set_attn_implementation(implementation)
    explain(model, [CASES[case].inputs[0]], "average_attention")
    implementations = {m.config._attn_implementation for m in model.hf.modules() if isinstance(m, PreTrainedModel)}
    assert implementations == {implementation}


# --- warnings ----------------------------------------------------------------------------------------------------


@every_method_and_case
def test_one_warning_where_there_is_no_mask_token(case, method):
    chosen = method_for(method, model_of(case))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assay.explain(model_of(case), [CASES[case].inputs[1]], chosen)
    messages = [str(w.message) for w in caught]
    assert len(messages) == int(CASES[case].warns), messages
    assert all("has no mask token" in message for message in messages)
