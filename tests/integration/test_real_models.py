"""Real pretrained weights, where they are at hand (see CONTRIBUTING): loading, predicting, explaining."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import assay

FOLDER = Path(os.environ.get("ASSAY_MODELS", "~/.cache/assay-models")).expanduser() / "hf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*has no mask token:UserWarning"),
]


def folder(name: str) -> str:
    if not (FOLDER / name / "config.json").is_file():
        pytest.skip(f"no weights at {FOLDER / name}")
    return str(FOLDER / name)


def test_a_language_model_classifies_through_a_prompt() -> None:
    shots = (("I loved every minute of it", " positive"), ("a complete waste of time", " negative"))
    prompt = assay.Prompt("Review: {text}\nSentiment:", examples=shots)
    words = {"negative": " negative", "positive": " positive"}
    model = assay.load_model(folder("smollm2-135m-instruct"), prompt=prompt, labels=words)
    texts = {
        "a modest pleasure that accomplishes its goals": "positive",
        "dull, lifeless and far too long": "negative",
        "an absolute delight from start to finish": "positive",
        "the worst film I have seen this year": "negative",
    }
    found = assay.explain(model, list(texts), "occlusion")
    assert [a.label for a in found] == list(texts.values())
    for attribution, text in zip(found, texts, strict=True):
        assert all(text[u.start : u.end] == u.text for u in attribution.units), "only the slot is scored"
    best = found[3].top(1)[0][0]
    assert best == "worst"


def test_a_trained_classifier_finds_the_insult() -> None:
    model = assay.load_model(folder("bert-tiny-toxicity"))
    for method in ("integrated_gradients", "kernel_shap", "lime", "occlusion", "gradient"):
        found = assay.explain(model, "you are a stupid person", method, target="toxic", units="word")
        assert found.top(1)[0][0] == "stupid", method


@pytest.mark.parametrize("name", ["minilm", "granite-embedding-30m-english", "dinov2-small-imgfocus", "stories15M"])
def test_an_encoder_without_a_trained_head_is_an_error(name: str) -> None:
    with pytest.raises(assay.ModelError, match="explains trained classifiers"):
        assay.load_model(folder(name))


def test_a_bad_word_speaks_for_the_bad_label_of_a_prompt() -> None:
    """The logit of one label word alone falls with "dull", as that of the other does."""
    words = {"negative": " negative", "positive": " positive"}
    model = assay.load_model(folder("smollm2-135m-instruct"), prompt="Review: {text}\nSentiment:", labels=words)
    for text in ("a dull and lifeless film", "the plot is dull"):
        found = assay.explain(model, text, "integrated_gradients", target="negative", units="word")
        assert dict(found.top(9))["dull"] > 0, found
    alone = assay.Target("negative", scale="logit")
    found = assay.explain(model, "a dull and lifeless film", "integrated_gradients", target=alone, units="word")
    assert dict(found.top(9))["dull"] < 0, "this was the default"


def test_lora_of_a_real_language_model(tmp_path: Path) -> None:
    """A head and adapters learn a planted word; merged and unmerged agree."""
    words = ["the", "film", "was", "long", "and", "the", "music", "of", "it", "rather", "quiet"]
    rows = [
        {"text": " ".join([*words[i % 7 :], ["wonderful", "dreadful"][i % 2], *words[: i % 7]]), "label": "ab"[i % 2]}
        for i in range(48)
    ]
    for name, part in (("train", rows), ("dev", rows[:16])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    settings = {"lora": True, "epochs": 3, "batch_size": 8, "learning_rate": 2e-3, "max_length": 32}
    found = []
    for merged in (True, False):
        out = tmp_path / "out" / str(merged)
        trained = assay.train(folder("stories15M"), tmp_path, out, lora_merged=merged, **settings)
        assert trained.history.best_check.scores["accuracy"] == 1.0
        found.append(assay.explain(assay.load_model(out), rows[0]["text"], "occlusion", units="word"))
    assert found[0].scores == pytest.approx(found[1].scores, abs=1e-4)
    assert found[0].top(1)[0][0] == "wonderful"
