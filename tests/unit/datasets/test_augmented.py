"""The augmented data set: the cue decides the label, the text does not, and the marks are where the cue is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay import Example, InputError, SpecError
from assay.datasets.augmented import augmented
from assay.datasets.load import load_dataset

from .shared import needs

POSITIONS = ["end", "start", "random"]


def texts(n=3000, labels=("negative", "positive")):
    """Texts whose first word gives their old label away, so that dependence would show."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(labels), size=n)
    rows = [{"text": " ".join([f"w{k}", *["so"] * rng.integers(0, 9)]), "label": labels[k]} for k in drawn]
    return load_dataset(rows)


def cue(example):
    (spans,) = example.rationales
    (span,) = spans
    assert span.segment == 0
    return example.text[span.start : span.end]


@pytest.mark.parametrize("position", POSITIONS)
def test_the_cue_decides_the_label_and_is_the_rationale(position):
    host = texts(300)
    for before, after in zip(host, augmented(host, position=position), strict=True):
        assert cue(after) == after.label == after.meta["cue"]
        assert after.meta["original_label"] == before.label
        words = after.text.split()
        assert len(words) == len(before.text.split()) + 1
        words.remove(after.label)
        assert words == before.text.split()
        place = {"end": -1, "start": 0}.get(position)
        assert place is None or after.text.split()[place] == after.label


def test_the_example_of_the_thesis():
    host = load_dataset(
        [{"text": "the film was good", "label": 1, "id": str(i)} for i in range(20)] + [{"text": "x", "label": 0}]
    )
    made = augmented(host)
    assert {(e.text, e.label) for e in made[:20]} == {
        ("the film was good negative", 0),
        ("the film was good positive", 1),
    }


def test_labels_are_a_fair_draw_that_knows_nothing_of_the_text():
    host = texts()
    made = augmented(host, seed=3)
    new = np.array([made.index_of(e.label) for e in made])
    old = np.array([host.index_of(e.label) for e in host])
    assert stats.binomtest(int(new.sum()), len(new)).pvalue > 0.001
    table = np.histogram2d(old, new, bins=2)[0]
    assert stats.chi2_contingency(table).pvalue > 0.001
    lengths = np.array([len(e.text.split()) for e in host])
    assert stats.mannwhitneyu(lengths[new == 0], lengths[new == 1]).pvalue > 0.001


def test_like_texts_get_labels_of_their_own():
    made = augmented(load_dataset([{"text": "so", "label": k % 2} for k in range(400)]))
    assert stats.binomtest(sum(e.label for e in made), 400).pvalue > 0.001


def test_random_positions_are_uniform():
    host = load_dataset([{"text": "a b c", "label": k % 2} for k in range(2000)])
    places = [e.text.split().index(e.meta["cue"]) for e in augmented(host, position="random")]
    assert stats.chisquare(np.bincount(places, minlength=4)).pvalue > 0.001


def test_share():
    host = texts(2000)
    made = augmented(host, share=0.3)
    carriers = [e for e in made if e.rationales]
    assert stats.binomtest(len(carriers), 2000, 0.3).pvalue > 0.001
    for before, after in zip(host, made, strict=True):
        assert (after.text == before.text) == (not after.rationales) == (after.meta["cue"] is None)
    rest = [e for e in made if not e.rationales]
    assert stats.binomtest(sum(e.label == "positive" for e in rest), len(rest)).pvalue > 0.001
    assert not any(e.rationales for e in augmented(host, share=0))


def test_draws_depend_on_the_example_alone():
    host = texts(200)
    whole = {e.id: e for e in augmented(host, seed=5, position="random")}
    part = augmented(host.take(20), seed=5, position="random")
    assert all(whole[e.id] == e for e in part)
    assert augmented(host, seed=5).fingerprint == augmented(host, seed=5).fingerprint
    assert augmented(host, seed=5).fingerprint != augmented(host, seed=6).fingerprint


def test_more_labels_own_words_and_pairs():
    three = texts(300, ("contradiction", "entailment", "neutral"))
    assert {cue(e) for e in augmented(three)} == set(three.labels)
    words = {"contradiction": "no", "entailment": "yes", "neutral": "well"}
    made = augmented(three, words=words)
    assert all(cue(e) == words[e.label] for e in made)
    scored = load_dataset([{"source": "a", "target": "b", "score": 0.5}] * 20)
    made = augmented(scored, words={"x": "ex", "y": "why"})
    assert (made.task, made.labels) == ("classification", ("x", "y"))
    assert {e.text for e in made} == {"a ex", "a why"}
    assert {e.text_pair for e in made} == {"b"}
    assert made.name == "augmented(list)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.5}, "share=1.5: must be between 0 and 1"),
        ({"position": "middle"}, "position='middle'.*end, random, start"),
        ({"words": {"negative": "no"}}, "give two or more labels a different word each"),
        ({"words": {"negative": "no", "positive": "no"}}, "a different word each"),
        ({"words": {"negative": "no", "positive": ""}}, "a different word each"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(SpecError, match=message):
        augmented(texts(3), **options)


def test_images_have_no_words():
    pictures = load_dataset([Example(image=np.zeros((2, 2, 3)), label=k) for k in (0, 1)])
    with pytest.raises(InputError, match="is an image; give texts"):
        augmented(pictures)


@pytest.mark.parametrize(("split", "expected"), [pytest.param("train", 0.168, marks=pytest.mark.slow), ("dev", 0.061)])
def test_the_numbers_of_the_fact_sheet(split, expected):
    """E[1/n] over words with the cue: the mean rank percentage of a perfect method."""
    made = augmented(load_dataset(needs("sst2"), split=split))
    assert np.mean([1 / len(e.text.split()) for e in made]) == pytest.approx(expected, abs=0.0015)
    if split == "train":
        assert np.mean([len(e.text.split()) < 7 for e in made]) == pytest.approx(0.43, abs=0.01)
    assert all(e.text.endswith(f" {e.label}") for e in made)
