"""Folders of images as data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.core.errors import AssayError
from assay.datasets.load import load_dataset


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    for place in ("train/frog", "train/ship", "test/frog", "test/ship"):
        save(folder / place / "1.png", len(place))
        save(folder / place / "2.JPG", len(place))
    return folder


def save(path: Path, value: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((4, 6, 3), value, np.uint8)).save(path)


def test_a_folder_is_a_class(photos: Path) -> None:
    for data in (load_dataset(photos, split="train"), load_dataset(photos / "train")):
        assert data.inputs == "images"
        assert (data.name, data.split, data.labels) == ("photos", "train", ("frog", "ship"))
        assert [e.id for e in data] == ["frog/1.png", "frog/2.JPG", "ship/1.png", "ship/2.JPG"]
        assert [e.label for e in data] == [0, 0, 1, 1]
        assert data[0].image.size == (6, 4)
    with pytest.raises(AssayError, match="several splits; choose one: test, train"):
        load_dataset(photos)
    with pytest.raises(AssayError, match="no split 'val'; allowed: test, train"):
        load_dataset(photos, split="val")
    with pytest.raises(AssayError, match="no split 'test'"):
        load_dataset(photos / "train", split="test")
    assert assay.list_datasets(photos.parent)["photos"] == "test, train"


def test_names_of_folders_are_names_even_if_they_are_numbers(tmp_path: Path) -> None:
    for name in ("1", "2", "10"):
        save(tmp_path / name / "a.png")
    data = load_dataset(tmp_path)
    assert data.labels is not None
    assert [data.labels[int(e.label or 0)] for e in data] == [e.id.split("/")[0] for e in data]


def test_images_without_classes_have_no_labels(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    data = load_dataset(tmp_path)
    assert (data.labels, data[0].label, data[0].id, data.split) == (None, None, "a.png", None)


@pytest.mark.parametrize("name", ["metadata.csv", "table.jsonl"])
def test_a_table_that_names_files(photos: Path, name: str) -> None:
    rows = {
        "metadata.csv": "file_name,label\nfrog/1.png,green\n",
        "table.jsonl": '{"photo": "frog/1.png", "label": "green"}',
    }
    (photos / "train" / name).write_text(rows[name])
    if name == "table.jsonl":
        with pytest.raises(AssayError, match=r"none of the columns 'photo', 'label' .* --columns image=photo"):
            load_dataset(photos, split="train")
    data = load_dataset(photos, split="train", columns=None if name == "metadata.csv" else "image=photo")
    assert (data.labels, data.name, data.split) == (("green",), "photos", "train")


def test_a_name_of_a_file_beside_a_text_is_not_opened() -> None:
    (example,) = load_dataset([{"text": "a fine film", "file_name": "missing.png"}])
    assert (example.image, example.meta) == (None, {"file_name": "missing.png"})
    (example,) = load_dataset([{"tokens": ["a", "film"], "file_name": "missing.png"}])
    assert example.image is None


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("train/loose.png", r"train holds images \(loose.png\) beside folders \(frog\)"),
        ("train/frog/young/1.png", "frog/young is a folder within a class"),
        ("train/cat/", "the folder cat holds no image"),
        ("masks/1.png", "holds masks beside the split test; give one split"),
    ],
)
def test_what_may_be_a_class_or_not_is_refused(photos: Path, extra: str, words: str) -> None:
    (photos / extra).mkdir(parents=True) if extra.endswith("/") else save(photos / extra)
    with pytest.raises(AssayError, match=words):
        load_dataset(photos, split="train")


def test_a_class_called_train(tmp_path: Path) -> None:
    save(tmp_path / "train" / "1.png")
    save(tmp_path / "ship" / "1.png")
    assert load_dataset(tmp_path).labels == ("ship", "train")


def test_files_that_are_not_read_are_noted(photos: Path) -> None:
    for name in ("3.heic", ".DS_Store", "Thumbs.db"):
        (photos / "train" / "frog" / name).write_bytes(b"")
    with pytest.warns(assay.DataWarning, match=r"1 file is no image and is not read: 3\.heic\."):
        assert len(load_dataset(photos, split="train")) == 4
