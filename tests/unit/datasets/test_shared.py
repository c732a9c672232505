"""The real data sets load as they are: counts and labels as their READMEs say, and marks on the words meant."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

from assay.datasets.load import load_dataset

from .shared import needs

SENTIMENT = ("negative", "positive")
NLI = ("contradiction", "entailment", "neutral")
CIFAR = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FILES = [  # folder, split, rows, labels, examples with rationales
    ("sst2", "dev", 872, SENTIMENT, 0),
    ("sst2", "test", 1821, SENTIMENT, 0),
    ("sst2_sentences", "train", 6920, SENTIMENT, 0),
    ("sst2_sentences", "validation", 872, SENTIMENT, 0),
    ("rotten_tomatoes", "dev", 1066, SENTIMENT, 0),
    ("imdb", "test", 3000, SENTIMENT, 0),
    ("emotion", "dev", 2000, ("anger", "fear", "joy", "love", "sadness", "surprise"), 0),
    ("snli", "dev", 9842, NLI, 0),
    ("multinli", "dev", 9815, NLI, 0),
    ("multinli", "train", 10467, NLI, 0),
    ("esnli", "dev", 9842, NLI, 9842),
    ("eraser_movies", "train", 1600, SENTIMENT, 1599),
    ("eraser_movies", "test", 199, SENTIMENT, 199),
    ("hatexplain", "train", 15383, ("hatespeech", "normal", "offensive"), 0),
    ("hatexplain", "dev", 1922, ("hatespeech", "normal", "offensive"), 1922 - 781),
    ("sst_rationales", None, 263, SENTIMENT, 263),
    ("mlqe_pe", "en-de.train", 7000, None, None),
    ("babi", "task3_train", 1925, ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office"), 1925),
    ("mnist", "test", 2000, tuple("0123456789"), 0),
    ("cifar10", "test", 1000, CIFAR, 0),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "split", "rows", "labels", "marked"), FILES, ids=lambda v: str(v)[:20])
def test_as_the_readme_says(folder, split, rows, labels, marked):
    data = load_dataset(needs(folder), split=split)
    assert len(data) == rows
    assert data.labels == labels
    assert data.task == ("regression" if labels is None else "classification")
    assert all(e.label is not None for e in data)
    assert len({e.id for e in data}) == rows
    assert marked is None or sum(bool(e.rationales) for e in data) == marked
    for example in data:  # every span lies in its text and marks something
        texts = example.text, example.text_pair
        assert all(texts[s.segment][s.start : s.end].strip() for spans in example.rationales for s in spans)


def raw(folder, split):
    with gzip.open(needs(folder) / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def both(folder, split):
    return zip(raw(folder, split), load_dataset(needs(folder), split=split), strict=True)


def cut(example, spans, segment=0):
    text = (example.text, example.text_pair)[segment]
    return [text[s.start : s.end] for s in spans if s.segment == segment]


def majority(example):
    """Which words between blanks at least half of the annotators marked."""
    places = [m.span() for m in re.finditer(r"\S+", example.text)]
    votes = np.array(
        [[any(s.start < b and a < s.end for s in spans) for a, b in places] for spans in example.rationales]
    )
    return (2 * votes.sum(0) >= len(votes)).astype(int).tolist()


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_eraser_movies(split):
    """Character spans against the token offsets of the source, which the file gives too."""
    for row, example in both("eraser_movies", split):
        tokens = row["text"].split()
        found = [piece.split() for spans in example.rationales for piece in cut(example, spans)]
        assert found == [tokens[start:end] for start, end in sorted(row["rationale_tokens"])]


def test_eraser_movies_by_token_offsets_and_the_exhaustive_marks():
    folder = needs("eraser_movies")
    chars = load_dataset(folder, split="test")
    tokens = load_dataset(folder, split="test", columns={"rationale": "rationale_tokens"})
    assert [e.rationales for e in tokens] == [e.rationales for e in chars]
    exhaustive = load_dataset(folder, split="dev", columns={"rationale": "rationale_comprehensive"})
    assert sum(bool(e.rationales) for e in exhaustive) == 50


@pytest.mark.parametrize("split", ["dev", "test"])
def test_esnli(split):
    """Three annotators who clicked whole words; neutral pairs are marked in the hypothesis only."""
    for row, example in both("esnli", split):
        assert len(example.rationales) == 3
        words = [{m.span() for m in re.finditer(r"\S+", text)} for text in (example.text, example.text_pair)]
        for given, spans in zip(row["rationales"], example.rationales, strict=True):
            assert all((s.start, s.end) in words[s.segment] for s in spans)
            marked = [[s for s in spans if s.segment == segment] for segment in (0, 1)]
            assert [len(m) for m in marked] == [len(given["premise"]), len(given["hypothesis"])]
            assert bool(marked[0]) == (row["label"] != "neutral")


def test_esnli_by_hand():
    example = load_dataset(needs("esnli"), split="dev")[0]
    assert [cut(example, spans) for spans in example.rationales] == [[], [], []]
    assert [cut(example, spans, 1) for spans in example.rationales][:2] == [
        ["lunch."],
        ["sisters", "hugging", "goodbye"],
    ]
    assert "explanations" in example.meta


@pytest.mark.parametrize("split", ["dev", "test"])
def test_hatexplain(split):
    """0/1 lists over tokens; at least half of the annotators gives the `rationale` of the file."""
    for row, example in both("hatexplain", split):
        for given, spans in zip(row["rationales"], example.rationales, strict=any(map(any, row["rationales"]))):
            assert cut(example, spans) == [t for t, mark in zip(row["tokens"], given, strict=True) if mark]
        assert (majority(example) if example.rationales else [0] * len(row["tokens"])) == row["rationale"]


def test_sst_rationales():
    """Only annotators who agree with the label justify it: their majority is the `rationale` of the file."""
    fewer = 0
    for row, example in both("sst_rationales", "test"):
        agreeing = [
            r for r, label in zip(row["rationales"], row["annotator_labels"], strict=True) if label == row["label"]
        ]
        assert [cut(example, spans) for spans in example.rationales] == [
            [t for t, mark in zip(row["tokens"], given, strict=True) if mark] for given in agreeing
        ]
        assert majority(example) == row["rationale"]
        fewer += len(agreeing) < 6
    assert fewer == 111


PLAIN = str.maketrans(
    {
        **dict.fromkeys('“”„"', "''"),
        **dict.fromkeys("‘’`", "'"),
        **dict.fromkeys("–—", "-"),
        "\u200d": "",
        "\u200c": "",
        "\u200b": "",
    }
)


@pytest.mark.parametrize("pair", ["en-de", "en-zh", "et-en", "ne-en", "ro-en", "ru-en"])
def test_mlqe_pe(pair):
    """Tags over the tokens of both sides; what the tokeniser changed is found at its place."""
    for row, example in both("mlqe_pe", f"{pair}.dev"):
        assert (example.text, example.text_pair, example.label) == (row["source"], row["target"], row["score"])
        spans = example.rationales[0] if example.rationales else ()
        for segment, side in enumerate(("source", "target")):
            bad = [t for t, tag in zip(row[f"{side}_tokens"], row[f"{side}_tags"], strict=True) if tag]
            assert [p.translate(PLAIN) for p in cut(example, spans, segment)] == [t.translate(PLAIN) for t in bad]


def test_mlqe_pe_tokens_that_the_text_lacks():
    """The tokens of this row begin and end with quotation marks that its text does not have."""
    data = {e.id: e for e in load_dataset(needs("mlqe_pe"), split="en-de.test")}
    example = data["en-de-test-980"]
    assert example.text_pair.startswith("Nichtlineares Verhalten von Tanks unter")
    expected = ["Nichtlineares", "Verhalten", "von", "unter", "Axisymmetrischer", "Anregung"]
    assert cut(example, example.rationales[0], 1) == expected


def test_mlqe_pe_other_scores():
    folder = needs("mlqe_pe")
    data = load_dataset(folder, split="ru-en.dev", columns={"score": "hter", "rationale_pair": "target_tags"})
    assert all(0 <= e.label <= 1.5 for e in data)
    assert {s.segment for e in data for spans in e.rationales for s in spans} == {1}


@pytest.mark.parametrize("name", ["task1_dev", "task2_dev", "task3_test"])
def test_babi(name):
    for row, example in both("babi", name):
        said = [s.strip() for s in re.findall(r"[^.]+\.", row["context"])]
        assert [cut(example, spans) for spans in example.rationales] == [[said[i] for i in sorted(row["support"])]]
        assert (example.text, example.text_pair) == (row["context"], row["question"])


def test_images():
    digits, things = load_dataset(needs("mnist"), split="test"), load_dataset(needs("cifar10"), split="train")
    assert digits[0].image.shape == (28, 28, 1)
    assert things[0].image.shape == (32, 32, 3)
    with np.load(needs("mnist") / "test.npz") as arrays:
        assert (np.stack([e.image[..., 0] for e in digits]) == arrays["images"]).all()
        assert [e.label for e in digits] == arrays["labels"].tolist()
    assert np.bincount([e.label for e in things]).tolist() == [500] * 10
