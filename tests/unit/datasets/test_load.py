"""Sources other than files, ids, limits, and the Dataset itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from assay import AssayError, Example, InputError, SpecError, TargetError
from assay.core.types import Span
from assay.datasets.builtin import builtin
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset

ROWS = [{"text": f"text {i}", "label": i % 2} for i in range(50)]


def test_builtin():
    data = load_dataset("builtin")
    assert len(data) == 30
    assert data.labels == ("negative", "positive")
    assert list(data) == builtin()
    first = data[0]
    assert [first.text[s.start : s.end] for s in first.rationales[0]] == ["superb", "kept me hooked"]


def test_lists():
    assert [(e.text, e.id) for e in load_dataset(["a", "b"])] == [("a", "0"), ("b", "1")]
    given = [Example("a", label="x"), Example("b", id="mine", label="y", rationales=((Span(0, 0, 1),),))]
    data = load_dataset(given)
    assert [e.id for e in data] == ["0", "mine"]
    assert data.labels == ("x", "y")
    assert data[1] is given[1]
    assert load_dataset(data) is data
    assert len(load_dataset(iter(ROWS))) == 50


def test_a_relative_path_has_the_name_of_its_folder(tmp_path, monkeypatch):
    for folder in ("reviews", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / "reviews" / "test.jsonl").write_text('{"text": "a fine film"}\n')
    monkeypatch.chdir(tmp_path / "reviews")
    assert (load_dataset("../reviews/test.jsonl").name, load_dataset(".").name) == ("reviews", "reviews")
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "test.jsonl").write_text('{"text": "a fine film"}\n')
    assert load_dataset("../test.jsonl").name == tmp_path.name


def test_repeated_ids_stay_apart():
    rows = [{"text": t, "id": "x"} for t in "abc"]
    assert [e.id for e in load_dataset(rows)] == ["x", "x#2", "x#3"]


def test_a_nameless_column_is_nothing():
    """pandas writes its index under an empty name."""
    (example,) = load_dataset([{"": "17", "sentence": "a"}])
    assert (example.text, example.id, example.label, example.rationales) == ("a", "0", None, ())


def test_the_datasets_library(tmp_path):
    from datasets import ClassLabel, DatasetDict, Features, Value
    from datasets import Dataset as Table

    features = Features(
        {"sentence": Value("string"), "label": ClassLabel(names=["bad", "good"]), "idx": Value("int32")}
    )
    table = Table.from_dict({"sentence": ["a", "b", "c"], "label": [1, 0, -1], "idx": [5, 6, 7]}, features=features)
    data = load_dataset(table)
    assert [(e.text, e.label, e.id) for e in data] == [("a", 1, "5"), ("b", 0, "6"), ("c", None, "7")]
    assert data.labels == ("bad", "good")
    parts = DatasetDict({"train": table, "validation": table.select([0])})
    assert len(load_dataset(parts, split="dev")) == 1
    assert load_dataset(parts, split="dev").split == "validation"
    with pytest.raises(SpecError, match=r"several splits.*train, validation"):
        load_dataset(parts)
    parts.save_to_disk(str(tmp_path / "saved"))
    again = load_dataset(tmp_path / "saved", split="train")
    assert again.fingerprint == data.fingerprint
    assert (again.name, again.split) == ("saved", "train")


def test_the_hub_out_of_reach_ends_in_a_sentence():
    with pytest.raises(
        AssayError,
        match="'nobody/nothing' is not a file, folder or built-in name, and could not be loaded from the hub",
    ):
        load_dataset("nobody/nothing", split="train")


def test_the_hub(monkeypatch):
    """What the library gives is chosen from and read; the configuration follows a colon."""
    import datasets

    asked = []

    def fake(path, config):
        asked.append((path, config))
        return datasets.DatasetDict({"validation": datasets.Dataset.from_dict({"sentence": ["a"], "label": [0]})})

    monkeypatch.setattr(datasets, "load_dataset", fake)
    data = load_dataset("nyu-mll/glue:sst2", split="dev")
    assert asked == [("nyu-mll/glue", "sst2")]
    assert (data.name, data.split, data[0].text) == ("nyu-mll/glue:sst2", "validation", "a")


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (3, InputError, "unsupported input type int; give texts"),
        ({"text": ["a"], "label": []}, InputError, "needs columns of one length"),
        ([1], InputError, "list, row 1: unsupported input type int"),
        ([Example("a"), "b"], InputError, "list, row 2: unsupported input type str among Examples"),
        ([{"words": 1}], InputError, "list: no text or image among the columns 'words'"),
        ([{"text": "a"}, {"text": 7}], InputError, "list, row 2: text must be a string, not int"),
        ("what is this?", SpecError, "unknown data set 'what is this[?]'"),
        ("augmented", SpecError, "augmented needs another data set; write augmented"),
        ("babi_world(tasks=1)", SpecError, "babi_world has no parameter 'tasks'; did you mean 'task'"),
        ("babi_world(n=many)", SpecError, "wrong type"),
    ],
    ids=str,
)
def test_bad_sources(given, kind, message):
    with pytest.raises(kind, match=message):
        load_dataset(given)


@pytest.mark.parametrize("source", ["builtin", "babi_world(n=3)"])
def test_what_cannot_be_chosen_is_refused(source):
    for option in ({"split": "dev"}, {"columns": {"text": "x"}}):
        with pytest.raises(SpecError, match=r"leave the .* out"):
            load_dataset(source, **option)
    with pytest.raises(SpecError, match="leave the columns out"):
        load_dataset(load_dataset("builtin"), columns={"text": "x"})


def test_specs(tmp_path):
    (tmp_path / "dev.jsonl").write_text('{"review": "a film", "label": 0}\n{"review": "a b", "label": 1}\n')
    data = load_dataset(f"augmented('{tmp_path.as_posix()}', split=dev, position=start)", columns={"text": "review"})
    assert {e.text.split()[0] for e in data} <= {"negative", "positive"}
    assert len(load_dataset("babi_world(task=2, n=7)")) == 7
    assert load_dataset("babi_world(2, 7)").fingerprint == load_dataset("babi_world(task=2, n=7)").fingerprint
    nested = load_dataset("augmented(babi_world(n=5))")
    assert nested.name == "augmented(babi_world(task=1))"


# --- Dataset ---------------------------------------------------------------------------------------------------------


def test_a_dataset_is_a_frozen_sequence():
    data = load_dataset(ROWS)
    assert isinstance(data[3:7], Dataset)
    assert [e.text for e in data[3:7]] == [f"text {i}" for i in range(3, 7)]
    assert data[-1].text == "text 49"
    assert data[3:7].labels == data.labels
    assert data[5] in data
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def test_take_is_random_nested_in_order_and_uniform():
    data = load_dataset(ROWS)
    ten, twenty = data.take(10, seed=1), data.take(20, seed=1)
    assert len(ten) == 10
    assert {e.id for e in ten} < {e.id for e in twenty}
    assert [int(e.id) for e in twenty] == sorted(int(e.id) for e in twenty)
    assert ten.fingerprint == load_dataset(ROWS, limit=10, seed=1).fingerprint
    assert ten.fingerprint != data.take(10, seed=2).fingerprint
    assert data.take(50) is data
    counts = np.bincount([int(e.id) for seed in range(2000) for e in data.take(10, seed)], minlength=50)
    assert abs(counts - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)
    with pytest.raises(SpecError, match="0 examples requested; give a whole number of at least 1"):
        data.take(0)
    for wrong in ("a", 2.5, True):
        with pytest.raises(SpecError, match="give a whole number"):
            load_dataset(ROWS, limit=wrong)


def test_the_fingerprint_is_of_the_contents():
    data = load_dataset(ROWS)
    assert data.fingerprint == load_dataset([dict(row) for row in ROWS]).fingerprint
    assert data.fingerprint == dataclasses.replace(data, name="renamed").fingerprint
    changes = [
        {"text": "text 0."},
        {"label": 1},
        {"id": "other"},
        {"text_pair": ""},
        {"rationale": [[0, 4]]},
    ]
    prints = {load_dataset([{**ROWS[0], **change}, *ROWS[1:]]).fingerprint for change in changes}
    assert len(prints | {data.fingerprint}) == len(changes) + 1


def test_index_of():
    data = load_dataset([{"text": "a", "label": "x"}, {"text": "b", "label": "y"}])
    assert [data.index_of(v) for v in ("x", "y", 0, 1, np.int64(1))] == [0, 1, 0, 1, 1]
    for bad in ("z", 2, -1, None):
        with pytest.raises(TargetError, match="list has no label"):
            data.index_of(bad)


def test_a_dataset_can_be_explained():
    """explain takes any iterable of Examples; here without a model: the inputs it would see."""
    from assay.datasets.examples import as_examples

    data = load_dataset("builtin")
    assert list(as_examples(data)) == list(data)
