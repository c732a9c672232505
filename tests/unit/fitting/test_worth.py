"""What a fitted explainer says about itself: its card, doubts about it wherever it is used, and its upload."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pytest

import assay
from assay.explainers.learned.aml import Aml
from assay.explainers.learned.parts.fitted import Fitted
from assay.explainers.learned.parts.worth import doubt
from toys import bert

from .test_fit import planted_texts

pytestmark = pytest.mark.filterwarnings("ignore:.*no validation split")


def card(best, random, error=0.01, better="higher"):
    return {"metric": "m", "better": better, "validation": {"best": best, "random": random, "error": error, "texts": 9}}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (card(0.5, 0.1), ""),
        (card(0.1, 0.5, better="lower"), ""),
        (card(0.0431, 0.05), "is no better than a random order .*0.0431.*0.0500.*do not use it"),
        (card(0.5, 0.1, better="lower"), "is no better than a random order"),
        (card(0.1, 0.1), "is no better"),
        (card(float("nan"), 0.1), "is no better"),
        (card(0.115, 0.1), "is not clearly better than a random order .*standard error of the difference 0.0100"),
        (card(0.12, 0.1, None), ""),
        (card(None, 0.1), "nothing is known about it"),
    ],
)
def test_the_doubt_follows_the_direction_of_the_metric(given, words):
    import re

    assert re.search(words, doubt(given)) if words else doubt(given) == ""


def test_heads_must_clearly_beat_the_most_frequent_answer():
    """Their control has no draws: the error is that of a share, or a correlation, of so many texts."""
    heads = {**card(0.65, 0.6, None), "control": "always giving the most frequent answer", "metric": "accuracy"}
    few, many = ({**heads, "data": {"validation": {"examples": n}}} for n in (60, 2000))
    assert "not clearly better than always giving the most frequent answer" in doubt(few)
    assert f"{(0.65 * 0.35 / 60) ** 0.5:.4f}" in doubt(few)
    assert doubt(many) == ""
    scores = {**card(0.3, 0.0, None), "metric": "pearson"}
    assert "not clearly better" in doubt({**scores, "data": {"validation": {"examples": 20}}})
    assert doubt({**scores, "data": {"validation": {"examples": 200}}}) == ""


def pretending(explainer: Aml, best: float, random: float) -> Aml:
    """The same explainer with other scores in its card."""
    fitted = explainer.loaded
    changed = {**fitted.card, "validation": {"best": best, "random": random, "error": 0.001, "texts": 9}}
    return Aml.of(Fitted(fitted.attributor, changed))


@pytest.fixture(scope="module")
def fitted():
    model = bert(classes=2)
    data = planted_texts(26)
    return model, assay.fit(model, data, "aml(epochs=1, masks=2, learning_rate=1e-9)", progress=False)


def test_fit_warns_and_evaluate_remarks(fitted, tmp_path, monkeypatch):
    model, explainer = fitted
    monkeypatch.setattr("assay.fitting.run.doubt", lambda card: "is no better than a random order: do not use it.")
    with pytest.warns(UserWarning, match=r"The explainer is no better .* do not use it. Fit on more texts"):
        assay.fit(model, planted_texts(26), "aml(epochs=1, masks=2)", progress=False)
    bad, good = pretending(explainer, 0.1, 0.2), pretending(explainer, 0.3, 0.2)
    page = tmp_path / "page.html"
    texts = planted_texts(3, seed=5)
    words = r"in_memory\) is no better than a random order on the texts that chose its checkpoint"
    with pytest.warns(UserWarning, match=words):
        result = assay.evaluate(model, texts, [bad, "random"], ["comprehensiveness"], store=tmp_path / "s")
    result.to_html(page)
    assert "is no better than a random order on the texts that chose its checkpoint" in page.read_text()
    quiet = assay.evaluate(model, texts, [good, "random"], ["comprehensiveness"], store=tmp_path / "s")
    assert not [warning for warning in quiet.warnings if "random order" in warning]


def test_the_model_card_is_complete(fitted, tmp_path):
    _, explainer = fitted
    pretending(explainer, 0.1, 0.2).save_pretrained(tmp_path / "bad")
    text = (tmp_path / "bad" / "README.md").read_text()
    assert "**The explainer is no better than a random order" in text
    pretending(explainer, 0.3, 0.2).save_pretrained(tmp_path / "good")
    text = (tmp_path / "good" / "README.md").read_text()
    assert "is no better" not in text
    for words in ("Texts: 23 of", "Chosen by comprehensiveness (higher is better)", "**0.3000**", "of a random order",
                  "| step | training loss | validation |", "masks=2", "scale=log_odds",
                  "Where it may fail", "torch "):  # fmt: skip
        assert words in text
    assert str(tmp_path) not in text


class Hub:
    """A stand-in for huggingface_hub.HfApi with the same two calls, which keeps what is uploaded."""

    folder: Path
    calls: list[tuple[str, object]]

    def __init__(self, token=None):
        Hub.calls.append(("token", token))

    def create_repo(self, repo_id, *, private=None, exist_ok=False):
        if "/" not in repo_id:
            raise ValueError("401 Client Error\nmore lines")
        Hub.calls.append((repo_id, (private, exist_ok)))
        return f"https://hub.example/{repo_id}"

    def upload_folder(self, *, repo_id, folder_path, commit_message):
        shutil.copytree(folder_path, Hub.folder)


def test_push_to_hub_uploads_a_folder_that_loads(fitted, tmp_path, monkeypatch):
    import inspect

    _, explainer = fitted
    for name in ("create_repo", "upload_folder"):  # the stand-in takes nothing that the real one would refuse
        real = inspect.signature(getattr(huggingface_hub.HfApi, name)).parameters
        assert set(inspect.signature(getattr(Hub, name)).parameters) <= set(real)
    Hub.folder, Hub.calls = tmp_path / "hub", []
    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    assert explainer.push_to_hub("me/mine", private=True, token="t") == "https://hub.example/me/mine"
    assert Hub.calls == [("token", "t"), ("me/mine", (True, True))]
    loaded = assay.load_explainer(Hub.folder)
    assert loaded.digest == explainer.digest
    assert 'load_explainer("me/mine")' in (Hub.folder / "README.md").read_text()
    with pytest.raises(assay.AssayError, match=r"cannot upload the explainer to 'mine': 401 Client Error; log in with"):
        explainer.push_to_hub("mine")


def test_an_ensemble_keeps_folders_out_of_its_key_and_name(fitted, tmp_path):
    from assay.core.user_code import identity
    from assay.explainers.methods import named_methods

    model, explainer = fitted
    saved = explainer.save_pretrained(tmp_path / "mine")
    spec = f"ensemble([aml('{tmp_path}/mine'), random])"
    ((name, method),) = named_methods([spec]).items()
    assert name == "ensemble([aml(mine), random])"
    assert str(tmp_path) not in str(identity(method))
    assert explainer.digest in str(identity(method)), "another explainer in the same folder is another key"
    for study in ("randomise", "attack"):
        from assay.core.spec import Spec
        from assay.experiments.study import STUDIES

        for given in (f"aml('{tmp_path}/mine')", spec):
            key = str(Spec.in_key(STUDIES.get(study)(methods=(given,))))
            assert str(tmp_path) not in key
            assert explainer.digest in key
    texts = planted_texts(2, seed=6)
    one, both = assay.explain(model, texts, saved), assay.explain(model, texts, spec)
    assert len(one) == len(both) == 2
    with pytest.raises(assay.ModelError, match="another model"):
        assay.explain(bert(seed=3), texts, replace(method))
