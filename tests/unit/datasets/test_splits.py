"""Which file of a folder a split means."""

from __future__ import annotations

import json

import pytest

from assay import AssayError, SpecError
from assay.datasets.load import load_dataset

MLQE = [f"{pair}.{split}.jsonl" for pair in ("en-de", "ne-en") for split in ("dev", "train")]
BABI = [f"task{n}_{split}.jsonl" for n in (1, 2) for split in ("dev", "train")]
FOLDERS = {
    "plain": ["train.csv", "dev.csv", "test.csv", "README.md", "LICENSE.txt", ".hidden.csv", "dataset_info.json"],
    "long": ["train.jsonl", "validation.jsonl"],
    "mnli": ["train.jsonl", "train_no_full_stops.jsonl", "dev_matched.jsonl"],
    "one": ["everything.tsv"],
    "mlqe": MLQE,
    "babi": BABI,
    "twice": ["train.csv", "train.jsonl"],
    "shards": ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "data/test-00000-of-00001.jsonl"],
    "empty": ["README.md"],
}


@pytest.fixture
def folder(tmp_path):
    """Each file holds one row: its own name."""

    def make(kind):
        for name in FOLDERS[kind]:
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            table = name.endswith((".csv", ".tsv"))
            path.write_text(f"text\n{name}\n" if table else json.dumps({"text": name}) + "\n")
        return tmp_path / kind

    return make


@pytest.mark.parametrize(
    ("kind", "split", "file"),
    [
        ("plain", "train", "train.csv"),
        ("plain", "dev", "dev.csv"),
        ("plain", "validation", "dev.csv"),
        ("plain", "val", "dev.csv"),
        ("long", "dev", "validation.jsonl"),
        ("long", "valid", "validation.jsonl"),
        ("mnli", "train", "train.jsonl"),
        ("mnli", "dev", "dev_matched.jsonl"),
        ("mnli", "no_full_stops", "train_no_full_stops.jsonl"),
        ("one", None, "everything.tsv"),
        ("mlqe", "en-de.dev", "en-de.dev.jsonl"),
        ("mlqe", "ne-en/validation", "ne-en.dev.jsonl"),
        ("mlqe", "train en-de", "en-de.train.jsonl"),
        ("babi", "task2_dev", "task2_dev.jsonl"),
        ("babi", "task1 train", "task1_train.jsonl"),
        ("twice", "train.csv", "train.csv"),
        ("shards", "test", "data/test-00000-of-00001.jsonl"),
    ],
)
def test_a_split_is_found(folder, kind, split, file):
    data = load_dataset(folder(kind), split=split)
    assert [e.text for e in data] == [file]
    assert data.name == kind


def test_shards_are_read_in_order(folder):
    data = load_dataset(folder("shards"), split="train")
    assert [e.text for e in data] == FOLDERS["shards"][:2]
    assert data.split == "train"


@pytest.mark.parametrize(
    ("kind", "split", "message"),
    [
        ("plain", None, r"plain has several splits; choose one: dev, test, train"),
        ("plain", "tset", "plain has no split 'tset'; did you mean 'test'.*allowed: dev, test, train"),
        ("mlqe", "dev", "mlqe has several splits that match 'dev'; choose one of en-de.dev, ne-en.dev"),
        ("mlqe", "fr-en.dev", "mlqe has no split 'fr-en.dev'.*en-de.dev, en-de.train, ne-en.dev, ne-en.train"),
        ("babi", None, "task1_dev, task1_train, task2_dev, task2_train"),
        ("twice", "train", "several splits that match 'train'; choose one of train.csv, train.jsonl"),
        ("empty", None, "empty contains no readable data"),
    ],
)
def test_what_is_unclear_lists_what_there_is(folder, kind, split, message):
    with pytest.raises(SpecError, match=message):
        load_dataset(folder(kind), split=split)


def test_a_file_has_no_splits(folder):
    path = folder("plain") / "dev.csv"
    data = load_dataset(path)
    assert (data.name, data.split) == ("plain", "dev")
    with pytest.raises(SpecError, match=r"dev.csv is a single file and has no split 'dev'"):
        load_dataset(path, split="dev")
    other = load_dataset(folder("one") / "everything.tsv")
    assert (other.name, other.split) == ("everything", None)


def test_a_missing_path_names_what_is_beside_it(folder):
    path = folder("plain") / "devv.csv"
    with pytest.raises(AssayError, match=r"no file or folder .*in plain: did you mean 'dev.csv'"):
        load_dataset(path)
