"""Which examples train and which validate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from datasets import Dataset as Table

from assay.core.errors import DataWarning, SpecError
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset
from assay.training.splits import hold_out, training_data


def write(path: Path, count: int, mark: str = "") -> None:
    rows = [{"text": f"text {i} {mark}", "label": ["no", "yes"][i % 2]} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def texts(data: Dataset) -> set[str | None]:
    return {example.text for example in data}


@pytest.mark.parametrize("name", ["dev", "validation", "dev_matched"])
def test_train_goes_with_dev(tmp_path: Path, name: str) -> None:
    write(tmp_path / "train.jsonl", 20)
    write(tmp_path / f"{name}.jsonl", 7, "held")
    train, held = training_data(tmp_path, limit=10, validation_limit=5)
    assert (train.split, len(train), held.split, len(held)) == ("train", 10, name, 5)


def test_a_part_goes_with_its_own_dev(tmp_path: Path) -> None:
    for part in ("task1", "task2"):
        for split in ("train", "dev"):
            write(tmp_path / f"{part}_{split}.jsonl", 6, part)
    train, held = training_data(tmp_path, "task2_train")
    assert (train.split, held.split) == ("task2_train", "task2_dev")
    _, held = training_data(tmp_path, "task2_train", "task1_dev")
    assert held.split == "task1_dev"


def test_without_dev_a_tenth_is_held_out(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", 50)
    with pytest.warns(UserWarning, match="no validation split: holding out a tenth of .* 5 of 50"):
        train, held = training_data(tmp_path)
    assert (len(train), len(held)) == (45, 5)
    assert not texts(train) & texts(held)
    with pytest.warns(UserWarning, match="holding out"):
        assert texts(training_data(tmp_path, seed=1)[1]) != texts(held)


def test_one_file_is_split_too(tmp_path: Path) -> None:
    write(tmp_path / "all.jsonl", 30)
    with pytest.warns(UserWarning, match="holding out"):
        train, held = training_data(tmp_path / "all.jsonl", limit=9)
    assert (len(train), len(held)) == (9, 3)


def test_inputs_of_both_splits_are_noted(tmp_path: Path) -> None:
    """Also where a tenth is held out of a file with the same text twice."""
    write(tmp_path / "train.jsonl", 20)
    write(tmp_path / "dev.jsonl", 5)
    with pytest.warns(
        DataWarning, match=r"5 of 5 inputs to judge the model by \(dev\) are also among those it is trained"
    ):
        _, held = training_data(tmp_path)
    assert "scores on them are too good" in held.notes[-1]
    lines = (tmp_path / "train.jsonl").read_text()
    (tmp_path / "all.jsonl").write_text(lines + lines)
    with pytest.warns(UserWarning, match=r"\d of 4 inputs to judge the model by \(all, held out\)|holding out|repeat"):
        assert any("also among those" in note for note in training_data(tmp_path / "all.jsonl")[1].notes)


def test_training_on_a_test_split_is_said(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", 20)
    with pytest.warns(UserWarning, match="holding out"), pytest.warns(DataWarning, match="trained on the split 'test'"):
        training_data(tmp_path / "test.jsonl")


def test_several_splits_for_validation_are_an_error(tmp_path: Path) -> None:
    """They were taken for none, and a tenth was held out instead."""
    for name in ("train", "dev_matched", "dev_mismatched"):
        write(tmp_path / f"{name}.jsonl", 10, name)
    with pytest.raises(SpecError, match="several splits that match 'dev'; choose one of dev_matched, dev_mismatched"):
        training_data(tmp_path)


def test_a_table_of_the_datasets_library_is_not_both_splits() -> None:
    table = Table.from_dict({"text": [f"text {i}" for i in range(20)], "label": [0, 1] * 10})
    with pytest.warns(UserWarning, match="holding out"):
        train, held = training_data(table)
    assert (len(train), len(held)) == (18, 2)


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    write(tmp_path / "dev.jsonl", 5)
    write(tmp_path / "test.jsonl", 5)
    with pytest.raises(SpecError, match="several splits"):
        training_data(tmp_path)
    write(tmp_path / "train.jsonl", 5)
    with pytest.raises(SpecError, match="no split 'dve'"):
        training_data(tmp_path, "train", "dve")
    with pytest.raises(SpecError, match="too few"):
        hold_out(load_dataset(["a text"]))
