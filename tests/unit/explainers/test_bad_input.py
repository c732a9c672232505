"""Bad input through the front door: each ends in a sentence that says what was given, what is allowed, what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch

import assay
import toys
from assay import InputError, ModelError, SpecError, Target, TargetError, UnsupportedError
from assay.explainers import METHODS
from assay.explainers.protocols import MethodFacts
from assay.fitting.aml import fit_aml
from assay.fitting.methods.aml import AmlFit
from assay.fitting.run import FitRun
from runs import weighted_heads_of

GOOD = "a modest pleasure"


@pytest.fixture(scope="module")
def model():
    return toys.bert()


@pytest.fixture(scope="module")
def causal():
    return toys.gpt2()


CASES = {
    "empty": (("",), {}, InputError, ["input 0", "the text is empty", "give at least one word"]),
    "spaces": ((" \n\t",), {}, InputError, ["the text is empty"]),
    "one bad item": (([GOOD, "", GOOD],), {}, InputError, ["input 1", "empty"]),
    "not a text": (([GOOD, GOOD, 7],), {}, InputError, ["input 2", "unsupported input type int", "give a text"]),
    "nothing left": (("\u200b",), {}, InputError, ["input 0", "the tokenizer gives no tokens"]),
    "an image": ((np.zeros((4, 4, 3)),), {}, InputError, ["input 0", "reads text", "an image was given"]),
    "method": ((GOOD, "integrated_gradient"), {}, SpecError, ["'integrated_gradient'", "did you mean", "allowed: "]),
    "parameter": (
        (GOOD, "lime(sample=5)"),
        {},
        SpecError,
        ["no parameter 'sample'", "did you mean 'samples'"],
    ),
    "value": ((GOOD, "lime(samples=few)"), {}, SpecError, ["samples=few", "a whole number"]),
    "range": ((GOOD, "integrated_gradients(steps=0)"), {}, SpecError, ["steps must be at least 1"]),
    "choice": ((GOOD, "gradient(reduction=l1)"), {}, SpecError, ["reduction=l1", "one of l2, sum"]),
    "syntax": ((GOOD, "lime(samples=5"), {}, SpecError, ["cannot read 'lime(samples=5'", "write a name such as"]),
    "in an ensemble": ((GOOD, "ensemble([limee])"), {}, SpecError, ["unknown method 'limee'", "did you mean 'lime'"]),
    "no ensemble": ((GOOD, "ensemble(thesis_top4)"), {}, SpecError, ["unknown ensemble 'thesis_top4'", "thesis_top3"]),
    "no method": ((GOOD, 3), {}, SpecError, ["3 is not a method", "assay list methods"]),
    "label": (
        (GOOD,),
        {"target": "LABEL_7"},
        TargetError,
        ["input 0", "unknown label 'LABEL_7'", "LABEL_0", "LABEL_1"],
    ),
    "label index": ((GOOD,), {"target": 2}, TargetError, ["unknown label 2", "LABEL_0 (0)", "LABEL_1 (1)"]),
    "negative": ((GOOD,), {"target": -1}, TargetError, ["unknown label -1"]),
    "against": ((GOOD,), {"target": Target(0, against="x")}, TargetError, ["unknown label 'x'"]),
    "raw": ((GOOD,), {"target": Target(0, scale="raw")}, TargetError, ["'raw' is for regression"]),
    "one bad target": (([GOOD, GOOD],), {"target": [0, "z"]}, TargetError, ["input 1", "unknown label 'z'"]),
    "few targets": (
        ([GOOD] * 3,),
        {"target": [0, 1]},
        InputError,
        ["2 targets were given for 3 inputs"],
    ),
    "units": ((GOOD,), {"units": "words"}, SpecError, ["unknown unit 'words'", "did you mean 'word'"]),
    "patches": ((GOOD,), {"units": "patch"}, UnsupportedError, ["a text has no patches"]),
    "removal": ((GOOD,), {"removal": "masked"}, SpecError, ["unknown removal 'masked'", "mask_token"]),
    "colour": ((GOOD,), {"removal": "mean_colour"}, UnsupportedError, ["a text has no colours", "mask_token"]),
    "scope": ((GOOD,), {"scope": "pair"}, SpecError, ["unknown scope 'pair'", "text_pair (1)"]),
    "empty scope": ((GOOD,), {"scope": "text_pair"}, InputError, ["nothing to explain in scope 'text_pair'"]),
    "budget": ((GOOD,), {"batch_tokens": 0}, SpecError, ["batch_tokens=0", "at least 1"]),
    "baseline": ((GOOD, "integrated_gradients(baseline=delete)"), {}, UnsupportedError, ["delete has no embedding"]),
}


@pytest.mark.parametrize("name", CASES)
def test_each_ends_in_a_sentence(model, name):
    given, options, kind, words = CASES[name]
    with pytest.raises(kind) as error:
        assay.explain(model, *given, **options)
    assert isinstance(error.value, assay.AssayError)
    for word in words:
        assert word in str(error.value)


def test_a_removal_that_the_model_lacks(causal):
    lacks = r"removal 'mask_token': the tokenizer has no mask token; this model supports .*pad"
    with pytest.raises(UnsupportedError, match=lacks):
        assay.explain(causal, GOOD, "occlusion", removal="mask_token")
    with pytest.raises(UnsupportedError, match=lacks):
        assay.explain(causal, GOOD, "integrated_gradients(baseline=mask)", removal="pad")


def test_too_few_targets_for_a_stream(model):
    with pytest.raises(InputError, match="1 targets were given for more inputs; give one for all or one per input"):
        assay.explain(model, iter([GOOD, GOOD]), "random", target=[0])


def test_a_pair_for_a_prompt_without_its_slot():
    llm = assay.load_model(
        (toys.gpt2_hf(lm=True), toys.byte_bpe()), prompt="Review: {text}:", labels={"n": " negative", "p": " positive"}
    )
    with pytest.raises(InputError, match=r"input 1: this prompt needs one text: it has no \{text_pair\}"):
        assay.explain(llm, ["a film", ("a", "b")], "random", removal="pad")


def test_a_causal_model_reads_its_warning(causal):
    with pytest.warns(UserWarning, match="has no mask token; units are removed by 'pad'"):
        assay.explain(causal, GOOD, "occlusion")


# --- models that answer NaN -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def poisoned():
    """One word's embedding is NaN: texts without it are fine."""
    hf = toys.bert_hf()
    with torch.no_grad():
        hf.get_input_embeddings().weight[toys.wordpiece().convert_tokens_to_ids("poem")] = float("nan")
    return assay.load_model((hf, toys.wordpiece()))


def fitted_to_a_healthy_model(texts):
    data = assay.load_dataset(texts * 5)
    settings = AmlFit(epochs=1, masks=2)
    return replace(fit_aml(toys.bert(), data, data, settings, FitRun(progress=False)), any_model=True)


@pytest.mark.parametrize("method", [m for m in METHODS.names if m not in ("random", "self_ranking")])
def test_nan_names_its_input(poisoned, method):
    """In any batch, at any place, for every method that asks the model anything."""
    texts = ["a film is not a bad film , not a sad film", "a film", "a slow poem", "bad", "it is a good plot"]
    healthy = {"aml": fitted_to_a_healthy_model, "scaffold": lambda _: weighted_heads_of(poisoned)}
    method = healthy[method](texts) if method in healthy else method
    with pytest.raises(InputError) as error:
        assay.explain(poisoned, texts, method)
    assert error.value.index == 2
    for word in ("input 2", "returned", "nan", "scores would be meaningless", "check its weights"):
        assert word in str(error.value)
    assert assay.explain(poisoned, texts[:2], method)  # the others can be explained


def test_nan_everywhere():
    hf = toys.bert_hf()
    with torch.no_grad():
        hf.classifier.weight[0, 0] = float("nan")
    with pytest.raises(InputError, match=r"input 0: .*returned \[nan"):
        assay.explain(assay.load_model((hf, toys.wordpiece())), GOOD)


def test_infinite_logits():
    hf = toys.bert_hf()
    with torch.no_grad():
        hf.classifier.bias[1] = float("inf")
    with pytest.raises(InputError, match="inf"):
        assay.explain(assay.load_model((hf, toys.wordpiece())), GOOD, "occlusion")


def test_scores_that_are_not_finite_name_their_input(model):
    """A method of a user's own that divides by zero for one input of a batch."""

    @dataclass(frozen=True)
    class Broken:
        facts: ClassVar[MethodFacts] = MethodFacts(
            scale="logit", signed=False, complete=False, class_dependent=False, passes="", memory=""
        )

        def attribute(self, model, batch, targets):
            scores = batch.ids.float()
            hit = (batch.ids == toys.wordpiece().convert_tokens_to_ids("poem")).any(1, keepdim=True)
            return scores / (~hit).float()

    texts = ["a film is not a bad film , not a sad film", "a film", "bad", "a slow poem", "it is a good plot"]
    with pytest.raises(InputError, match="input 3: broken gave NaN or infinite scores"):
        assay.explain(model, texts, Broken())


def test_a_method_that_does_not_say_what_it_is(model):
    class Silent:
        def flow(self, n, rng):
            return iter(())

    with pytest.raises(SpecError, match=r"is not a method\. It does not declare its facts; .* MethodFacts\(scale="):
        assay.explain(model, GOOD, Silent())
    with pytest.raises(SpecError, match=r"is not a method\. Give a name from `assay list methods`"):
        assay.explain(model, GOOD, object())


# --- models that cannot be explained --------------------------------------------------------------------------------


def test_models_that_are_none(tmp_path):
    with pytest.raises(ModelError, match="no tokenizer was given"):
        assay.explain(toys.bert_hf(), GOOD)
    with pytest.raises(ModelError, match="unsupported model type int; give a folder, a hub id"):
        assay.explain(3, GOOD)
    with pytest.raises(ModelError, match=r"cannot load .*nowhere.*give a folder or a hub id"):
        assay.load_model(str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="unknown task 'clasification'; did you mean 'classification'"):
        assay.load_model((toys.bert_hf(), toys.wordpiece()), task="clasification")
    with pytest.raises(ModelError, match=r"the model has 2 classes .*, but labels names 3"):
        assay.load_model((toys.bert_hf(), toys.wordpiece()), labels=["a", "b", "c"])


def test_an_encoder_without_a_head(tmp_path):
    bare = toys.bert_hf().bert
    headless = "BertModel,? (which )?has no classification head; Assay explains trained classifiers: fine-tune one"
    with pytest.raises(ModelError, match=headless):
        assay.load_model((bare, toys.wordpiece()))
    bare.save_pretrained(tmp_path)
    toys.wordpiece().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=headless):
        assay.load_model(str(tmp_path))


def test_a_regression_model_has_one_output():
    model = toys.bert(classes=1)
    assert model.task == "regression"
    with pytest.raises(TargetError, match="a regression model has a single raw output; omit the target"):
        assay.explain(model, GOOD, target=1)
    a = assay.explain(model, GOOD, "occlusion")
    assert a.target == Target(0, None, "raw")
