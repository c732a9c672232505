"""Inputs of every supported type as Examples, and errors for the others."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from assay import Example, InputError
from assay.datasets.examples import as_examples, is_single
from assay.datasets.load import load_dataset

PICTURE = Image.new("RGB", (4, 4))
ARRAY = np.zeros((4, 4, 3), np.uint8)


def fields(example):
    return example.text, example.text_pair, example.id, example.label


@pytest.mark.parametrize(
    ("given", "single", "expected"),
    [
        ("a text", True, [("a text", None, "0", None)]),
        (("a", "b"), True, [("a", "b", "0", None)]),
        (["a", "b"], False, [("a", None, "0", None), ("b", None, "1", None)]),
        ([("a", "b"), ["c", "d"], "e"], False, [("a", "b", "0", None), ("c", "d", "1", None), ("e", None, "2", None)]),
        (("a", "b", "c"), False, [("a", None, "0", None), ("b", None, "1", None), ("c", None, "2", None)]),
        (Example("a", label=1), True, [("a", None, "0", 1)]),
        (Example("a", "b", id="x"), True, [("a", "b", "x", None)]),
        ([Example("a"), Example("b", id="mine")], False, [("a", None, "0", None), ("b", None, "mine", None)]),
        ([{"text": "a", "label": 1}], False, [("a", None, "0", 1)]),
        ([{"sentence": "a", "idx": 7}], False, [("a", None, "7", None)]),
        ([{"premise": "a", "hypothesis": "b", "id": "p3"}], False, [("a", "b", "p3", None)]),
        ([{"sentence1": "a", "sentence2": "b"}], False, [("a", "b", "0", None)]),
        ([{"text": None, "review": "r"}], False, [("r", None, "0", None)]),
        ([], False, []),
        (iter(["a", "b"]), False, [("a", None, "0", None), ("b", None, "1", None)]),
    ],
)
def test_texts(given, single, expected):
    assert is_single(given) == single
    assert [fields(e) for e in as_examples(given)] == expected


@pytest.mark.parametrize("image", [PICTURE, ARRAY])
def test_images(image):
    assert is_single(image)
    assert not is_single([image])
    for given in (image, [image], [{"image": image}], [Example(image=image)]):
        (example,) = as_examples(given)
        assert example.image is image
        assert example.text is None


def test_a_dataset():
    from datasets import Dataset

    data = Dataset.from_dict({"sentence": ["a", "b"], "label": [1, 0], "idx": [10, 11]})
    assert not is_single(data)
    assert [fields(e) for e in as_examples(data)] == [("a", None, "10", 1), ("b", None, "11", 0)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a", 3], "input 1: unsupported input type int; give a text"),
        (["a", "b", None], "input 2: there is no text: the cell is empty"),
        ([("a", "b", "c")], "input 0: unsupported input type tuple"),
        ([("a", 1)], "input 0: unsupported input type tuple"),
        (
            [{"words": "a", "n": 1}],
            "input 0: no text or image among the columns 'words', 'n'; choose one, such as --columns text=words",
        ),
        ([{"text": ["a", "b"]}], "input 0: text must be a string, not list; if they are tokens: --columns tokens=text"),
        ([{"text": "a", "text_pair": 7}], "input 0: text_pair must be a string, not int"),
        (["a", np.zeros(4)], "input 1: unsupported input type ndarray"),
        (3, "unsupported input type int; give texts"),
        (None, "unsupported input type NoneType"),
        ({"text": ["a", "b"], "label": [1]}, "needs columns of one length, but has these: text 2, label 1"),
        ({"a", "b"}, "unsupported input type set"),
        (b"a text", "unsupported input type bytes"),
        (np.array([["a", "b"]]), "an array of 2 dimensions"),
        ([{"text": None}], "input 0: there is no text: the column 'text' is empty"),
        ([{"text": float("nan")}], "input 0: text must be a string, not float; an empty cell is None"),
        (["half \ud800"], r"input 0: the text contains \\ud800, half of a character"),
        ([Example("a", "half \udfff")], r"input 0: the text_pair contains \\udfff"),
    ],
)
def test_bad_items_name_their_index(given, message):
    with pytest.raises(InputError, match=message) as error:
        list(as_examples(given))
    place = message.split(":")[0].removeprefix("input ")
    assert error.value.index == (int(place) if place.isdigit() else None)


def test_load_dataset_reads_the_same_inputs():
    for given in (["a", "b"], [("a", "b"), ("c", "d")], [{"sentence": "a", "idx": 7}], [ARRAY, ARRAY]):
        loaded, explained = list(load_dataset(given)), list(as_examples(given))
        assert [fields(e) for e in loaded] == [fields(e) for e in explained]
        assert all(x.image is y.image for x, y in zip(loaded, explained, strict=True))
