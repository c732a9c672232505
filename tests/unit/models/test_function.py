"""Models behind a function: functions, scikit-learn estimators, torch modules, and names of these."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from torch import nn

import assay
from assay.core.errors import InputError, ModelError, SpecError, UnsupportedError
from assay.explainers import METHODS
from assay.explainers.methods import looks_inside
from assay.models.function import FunctionModel

LABELS = ["negative", "positive"]
TEXTS = ["a good film", "a bad film", "so good", "so bad", "good good", "bad bad"]
GOLD = ["positive", "negative"] * 3


def logits(texts: list[Any]) -> list[list[float]]:
    return [[0.0, 2.0 * t.count("good") - 3.0 * t.count("bad")] for t in texts]


def probabilities(texts: list[Any]) -> Any:
    return torch.tensor(logits(texts)).softmax(-1)


def load(predict: Any, **options: Any) -> FunctionModel:
    model = assay.load_model(predict, **{"labels": LABELS, "version": "1", "retries": 0, **options})
    assert isinstance(model, FunctionModel)
    return model


def pipeline(last: Any = None) -> Pipeline:
    return make_pipeline(TfidfVectorizer(), last or LogisticRegression()).fit(TEXTS, GOLD)


def scores(model: Any, text: Any, method: str = "occlusion", **settings: Any) -> dict[str, float]:
    attribution = assay.explain(model, text, method, **settings)
    return {unit.text: round(float(s), 4) for unit, s in zip(attribution.units, attribution.scores, strict=True)}


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [lambda r: r, np.array, torch.tensor, lambda r: tuple(map(tuple, r))])
def test_numbers_may_come_as_list_array_or_tensor(form: Callable[[Any], Any]) -> None:
    model = load(lambda texts: form(logits(texts)))
    assert scores(model, "a good film", target=assay.Target("positive", scale="logit")) == {
        "a": 0,
        "good": 2,
        "film": 0,
    }


def test_probabilities_and_logits_are_detected_and_give_the_same_explanations() -> None:
    by_logits, by_probabilities = load(logits), load(probabilities)
    for scale in ("probability", "log_odds", "log_probability"):
        target = assay.Target("positive", scale=scale)
        expected, got = (scores(m, "good, not bad", target=target) for m in (by_logits, by_probabilities))
        assert got == pytest.approx(expected, abs=2e-4)
    assert by_logits.reading == "logits (detected from the first answer)"
    assert by_probabilities.reading == "probabilities (detected from the first answer)"
    assert "probabilities" in repr(by_probabilities)


@pytest.mark.parametrize("row", [[0.2, 0.9], [0.5, 0.52]])
def test_numbers_that_may_be_either_must_be_declared(row: list[float]) -> None:
    with pytest.raises(
        InputError, match=r"which may be probabilities or logits, for the text 'x'; load it with outputs="
    ):
        assay.explain(load(lambda texts: [row] * len(texts)), "x")
    assert (
        assay.explain(load(lambda texts: [row] * len(texts), outputs="logit"), "x y", "occlusion").label == "positive"
    )


def test_percentages_are_not_taken_for_logits() -> None:
    model = load(lambda texts: [[30.0, 70.0]] * len(texts))
    with pytest.raises(
        InputError, match=r"returned \[30, 70\], which look like percentages, .*probabilities from 0 to 1"
    ):
        assay.explain(model, "x y", "occlusion")
    declared = load(lambda texts: [[30.0, 70.0]] * len(texts), outputs="logit")
    assert declared.predict("x").probability == pytest.approx(1.0)


def test_logits_after_what_looked_like_a_probability_are_an_error_not_a_guess() -> None:
    model = load(lambda texts: [[0.0, 1.0] if t == "plain word" else [4.0, -1.0] for t in texts])
    with pytest.raises(InputError, match=r"not probabilities, for the text '.*'; load it with outputs='logit'"):
        assay.explain(model, "plain word", "occlusion")


def test_rounded_and_certain_probabilities_give_finite_scores() -> None:
    model = load(lambda texts: [[0.0, 1.0] if "good" in t else [0.34, 0.67] for t in texts], outputs="probability")
    found = assay.explain(model, "good film", "occlusion", target=assay.Target("positive", scale="log_odds"))
    assert np.isfinite(found.scores).all()


def test_several_labels_at_once_need_a_declaration_and_are_independent() -> None:
    with pytest.raises(SpecError, match="task='multi_label' needs outputs="):
        load(logits, task="multi_label")
    model = load(lambda t: [[0.9, 0.8]] * len(t), task="multi_label", outputs="probability")
    assert model.predict("x").probabilities == pytest.approx({"negative": 0.9, "positive": 0.8}, abs=1e-6)


@pytest.mark.parametrize("shape", [lambda v: v, lambda v: [[x] for x in v]])
def test_regression(shape: Callable[[list[float]], Any]) -> None:
    model = load(lambda texts: shape([float(len(t.split())) for t in texts]), labels=None, task="regression")
    assert (model.predict("one two three").label, scores(model, "one two")) == (3.0, {"one": 1, "two": 1})


def test_a_pair_is_a_tuple_of_two_texts_and_a_text_a_text() -> None:
    seen: list[Any] = []

    def overlap(items: list[Any]) -> Any:
        seen.extend(items)
        return [[0.0, float(len(set(a.split()) & set(b.split())))] for a, b in items]

    found = scores(load(overlap, outputs="logit"), ("who won", "he won it"), target=assay.Target(1, scale="logit"))
    assert found == {"who": 0, "won": 1, "he": 0, "it": 0}  # "won" of either text
    assert seen[0] == ("who won", "he won it")
    assert ("who", "he won it") in seen


def test_an_input_that_the_function_cannot_read_is_named_and_a_file_goes_on_without_it(tmp_path: Path) -> None:
    def picky(texts: list[str]) -> Any:
        return [[0.0, float("nan") if "curse" in t else 1.5] for t in texts]

    with pytest.raises(InputError, match=r"input 1: .*returned \[0, nan\], not finite numbers, for the text 'a curse'"):
        assay.explain(load(picky), ["a word", "a curse"], "occlusion")
    (tmp_path / "in.txt").write_text("a word\na curse\nanother\n")
    report = assay.explain_file(load(picky), tmp_path / "in.txt", tmp_path / "out.jsonl", "occlusion", progress=False)
    assert (report.written, list(report.errors)) == (2, [2])


# --- units and removals ----------------------------------------------------------------------------------------------


def test_units_are_words_and_sentences_and_a_token_is_a_word() -> None:
    model, text = load(logits), "Good (not bad). 好电影"
    for units in ("token", "word"):
        assert list(scores(model, text, units=units)) == ["Good", "(", "not", "bad", ")", ".", "好", "电", "影"]
    assert list(scores(model, "So good. So bad!", units="sentence")) == ["So good.", "So bad!"]
    with pytest.raises(UnsupportedError, match="a text has no patches"):
        scores(model, text, units="patch")


def test_words_are_deleted_or_replaced_by_the_mask() -> None:
    asked: list[str] = []

    def remember(texts: list[str]) -> Any:
        asked.extend(texts)
        return logits(texts)

    scores(load(remember), "a good film")
    assert set(asked) == {"a good film", "good film", "a film", "a good"}
    asked.clear()
    scores(load(remember, mask="[MASK]"), "a good film")
    assert set(asked) == {"a good film", "[MASK] good film", "a [MASK] film", "a good [MASK]"}
    with pytest.raises(UnsupportedError, match=r"no mask was given .* this model supports delete"):
        scores(load(logits), "a good film", removal="mask_token")
    with pytest.raises(UnsupportedError, match="a function reads texts, not embeddings"):
        scores(load(logits), "a good film", removal="zero")
    with pytest.raises(SpecError, match="mask=''"):
        load(logits, mask="")


# --- methods ---------------------------------------------------------------------------------------------------------

OPEN = [name for name in METHODS.names if not looks_inside(METHODS.make(name))]
CLOSED = [name for name in METHODS.names if name not in OPEN]


@pytest.mark.parametrize("method", OPEN)
def test_methods_that_need_only_answers_work(method: str) -> None:
    found = scores(load(logits), "a good film", method)
    assert len(found) == 3
    assert method == "random" or max(found, key=lambda word: found[word]) == "good"


@pytest.mark.parametrize("method", [*CLOSED, "ensemble([lime, gradient])"])
def test_methods_that_look_inside_are_refused_before_anything_is_asked(method: str) -> None:
    model = load(logits)
    with pytest.raises(UnsupportedError, match=r"cannot explain .*, of which only the answers can be seen; use .*lime"):
        assay.explain(model, "a good film", method)
    assert model.service.calls == 0


def test_the_default_method_needs_only_answers() -> None:
    assert assay.explain(load(logits), "a good film").method.name == "kernel_shap"


def test_what_changes_or_attacks_the_inside_is_refused(tmp_path: Path) -> None:
    model = load(logits)
    with pytest.raises(UnsupportedError, match="only the answers can be seen"):
        assay.randomise(model, TEXTS[:1], store=tmp_path, progress=False)
    with pytest.raises(UnsupportedError, match="only the answers can be seen"):
        assay.attack(model, TEXTS[:1], store=tmp_path, progress=False)
    with pytest.raises(UnsupportedError, match="only the answers can be seen"):
        assay.save_model(model, tmp_path)
    with pytest.raises(UnsupportedError, match="reads whole texts"):
        assay.load_model(logits, labels=LABELS, max_length=64)
    assert model.service.calls == 0


# --- scikit-learn and torch ------------------------------------------------------------------------------------------


def test_a_pipeline_tells_its_classes_and_probabilities() -> None:
    model = assay.load_model(pipeline())
    assert (model.name, model.labels) == ("TfidfVectorizer + LogisticRegression", ("negative", "positive"))
    assert model.reading == "probabilities (predict_proba)"
    expected = dict(zip(LABELS, pipeline().predict_proba(["so good"])[0], strict=True))
    assert model.predict("so good").probabilities == pytest.approx(expected, abs=1e-6)


def test_decision_values_are_logits_of_both_classes() -> None:
    model = assay.load_model(svm := pipeline(LinearSVC()))
    assert model.reading == "logits (decision_function)"
    (margin,) = svm.decision_function(["so good film"])
    for label, sign in (("positive", 1), ("negative", -1)):
        a = assay.explain(model, "so good film", "occlusion", target=assay.Target(label, scale="logit"))
        assert a.value_full == pytest.approx(sign * margin / 2, rel=1e-5)
        assert np.abs(a.scores).max() > 0.1


def test_a_regressor_gives_values() -> None:
    model = assay.load_model(make_pipeline(CountVectorizer(), Ridge()).fit(TEXTS, [1.0, -1.0] * 3))
    assert (model.task, model.labels) == ("regression", ("value",))
    found = scores(model, "good bad film")
    assert found["good"] > 0 > found["bad"]


def test_numeric_classes_and_new_names() -> None:
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0] * 3)
    assert assay.load_model(model).labels == ("0", "1")
    assert assay.load_model(model, labels=LABELS).labels == ("negative", "positive")
    with pytest.raises(ModelError, match=r"labels= has 3 names, but .* has 2 classes: 0, 1"):
        assay.load_model(model, labels=["a", "b", "c"])
    with pytest.raises(ModelError, match=r"in another order than its columns: 0, 1; leave labels out"):
        assay.load_model(model, labels=["1", "0"])
    with pytest.raises(ModelError, match="in the order of the columns"):
        assay.load_model(probabilities, labels={"negative", "positive"})  # a set has no order


def test_estimators_that_cannot_be_explained_are_refused() -> None:
    with pytest.raises(ModelError, match=r"is not fitted; call its fit"):
        assay.load_model(make_pipeline(TfidfVectorizer(), LogisticRegression()))

    class Voter(KNeighborsClassifier):  # type: ignore[misc]
        predict_proba = property()

    with pytest.raises(ModelError, match="predicts labels without scores"):
        assay.load_model(pipeline(Voter(1)))


IDENTITY = (
    "import joblib, sys; from assay.models.estimator import *; print(estimator_version(joblib.load(sys.argv[1])))"
)


def test_an_estimator_is_known_by_what_it_learnt(tmp_path: Path) -> None:
    model = assay.load_model(pipeline())
    assert model.fingerprint == assay.load_model(pipeline()).fingerprint
    assert model.fingerprint != assay.load_model(pipeline(LogisticRegression(C=2))).fingerprint
    joblib.dump(pipeline(), tmp_path / "model")
    assert model.fingerprint == assay.load_model(joblib.load(tmp_path / "model")).fingerprint


@pytest.mark.faults
def test_an_estimator_is_known_in_another_process(tmp_path: Path) -> None:
    model = load(pipeline(), version=None)
    joblib.dump(pipeline(), tmp_path / "model")
    command = [sys.executable, "-c", IDENTITY, str(tmp_path / "model")]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == model.version


def split(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("tokenizer", [split, lambda text: text.split()])
def test_an_estimator_with_code_of_its_own_is_not_taken_for_another(tokenizer: Any) -> None:
    own = make_pipeline(CountVectorizer(tokenizer=tokenizer, token_pattern=None), LogisticRegression()).fit(TEXTS, GOLD)
    model = assay.load_model(own)
    with pytest.warns(UserWarning, match="has no version"):
        assert model.fingerprint != assay.load_model(own, version="1").fingerprint


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.dropout = nn.Dropout(0.9)

    def forward(self, texts: list[str]) -> torch.Tensor:
        return self.dropout(torch.tensor(logits(texts)) * self.scale)


def test_a_torch_module_runs_in_evaluation_mode_and_is_left_as_it_was() -> None:
    module = Bag().train()
    found = scores(load(module), "a good film", target=assay.Target("positive", scale="logit"))
    assert found == {"a": 0, "good": 4, "film": 0}
    assert module.training
    assert module.scale.requires_grad


# --- identity and options --------------------------------------------------------------------------------------------


def test_without_a_version_nothing_is_ever_reused_and_this_is_said() -> None:
    first, second = (load(logits, version=None) for _ in range(2))
    with pytest.warns(UserWarning, match=r"logits has no version, so finished work cannot be reused .* version="):
        one = first.fingerprint
    with pytest.warns(UserWarning, match="has no version"):
        assert second.fingerprint != one
    assert first.fingerprint == one


def test_name_version_labels_mask_and_kind_are_the_identity() -> None:
    identity = load(logits).identity
    assert identity == load(logits).identity
    for change in ({"version": "2"}, {"name": "n"}, {"mask": "X"}, {"outputs": "logit"}, {"labels": LABELS[::-1]}):
        assert load(logits, **change).identity != identity


def test_answers_are_kept_only_for_a_version(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="needs version=, a text that changes whenever the answers of logits change"):
        load(logits, version=None, cache=tmp_path)
    scores(load(logits, cache=tmp_path), "a good film")
    again = load(logits, cache=tmp_path)
    scores(again, "a good film")
    assert again.service.calls == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": None}, "needs the names of its labels.*--labels negative,positive"),
        ({"labels": {"a": "b"}}, "needs the names of its labels"),
        ({"labels": ["only"]}, "a classifier has at least two"),
        ({"labels": ["a", "a"]}, "names a label twice|twice"),
        ({"outputs": "percent"}, "unknown outputs 'percent'"),
        ({"cach": "folder"}, "no option 'cach'; did you mean 'cache'"),
        ({"tokenizer": object()}, "tokenizer: not for a model behind a function"),
        ({"prompt": "{text}"}, "prompt: not for a model behind a function"),
        ({"task": "ranking"}, "unknown task 'ranking'"),
    ],
)
def test_wrong_options_are_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(assay.AssayError, match=words):
        load(logits, **options)


def test_options_of_functions_are_refused_for_other_models() -> None:
    with pytest.raises(SpecError, match="cache: only for a model behind a function, which builtin is not"):
        assay.load_model("builtin", cache="folder")


# --- module:attribute ------------------------------------------------------------------------------------------------

MODULE = """
import assay
def predict(texts):
    return [[0.0, float(t.count("good"))] for t in texts]
model = assay.load_model(predict, labels=["negative", "positive"], outputs="logit", name="mine", version="3")
number = 7
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_module.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "own_module", raising=False)
    return tmp_path


def test_a_function_or_a_loaded_model_by_its_place(module: Path) -> None:
    function = assay.load_model("own_module:predict", labels=LABELS, version="1", outputs="logit")
    assert (function.name, function.labels) == ("own_module:predict", ("negative", "positive"))
    assert assay.load_model("own_module:model").name == "mine"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:predict", r"the current folder has no no_such_module\.py; give module:attribute"),
        ("own_module:nothing", r"own_module\.py does not define nothing"),
        ("broken_module:predict", "broken_module raised ZeroDivisionError"),
        ("importing_module:predict", "its import failed: No module named 'nowhere_at_all'"),
        ("own_module:number", "unsupported model type int"),
    ],
)
def test_a_place_without_a_model_is_a_sentence(module: Path, name: str, words: str) -> None:
    (module / "broken_module.py").write_text("1 / 0")
    (module / "importing_module.py").write_text("import nowhere_at_all")
    with pytest.raises(ModelError, match=words):
        assay.load_model(name)
