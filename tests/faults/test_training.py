"""Trainings: refused before the first step where they could not be saved, and never two in one folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

import assay
from assay.core.errors import AssayError, SpecError
from assay.core.files import check_folder_writable
from assay.core.locks import only_writer
from assay.models.load import load_model
from assay.training import classifier
from assay.training.checkpoint import NAME
from assay.training.classifier import train_classifier
from assay.training.recipe import Recipe
from assay.training.run_folder import save_run
from assay.training.scratch import parse_size
from unit.training.test_classifier import SCRATCH, texts

from .disks import small_disk

ONCE = Recipe(epochs=1, batch_size=16)


def train(folder: Path, recipe: Recipe = ONCE, **more: Any) -> Any:
    return train_classifier(SCRATCH, texts(16, 0), texts(8, 1), recipe, output=folder, progress=False, **more)


def never(*_: Any) -> None:
    raise AssertionError("it was trained before the folder was found to be write-protected")


def test_a_folder_that_cannot_be_written_is_refused_before_training(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k", "ro"), pytest.raises(AssayError, match=r"cannot write .*Read-only"):
        train(tmp_path / "disk" / "model", on_check=never)
    (tmp_path / "file").write_text("")
    with pytest.raises(AssayError, match="cannot write"):
        train(tmp_path / "file" / "model", on_check=never)


def test_a_full_disk_at_the_end_keeps_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the model is saved; with more room the training is saved without another step."""
    with small_disk(tmp_path / "disk", "8m") as disk:

        def fill_and_save(*args: Any) -> None:
            with suppress(OSError), (disk / "ballast").open("wb") as out:
                out.write(b"0" * 2**24)
            save_run(*args)

        with monkeypatch.context() as patch:
            patch.setattr(classifier, "save_run", fill_and_save)
            with pytest.raises(AssayError, match=r"cannot save the model in .*free space and run the same command"):
                train(disk / "model")
        (disk / "ballast").unlink()
        assert train(disk / "model", on_check=never).history.steps == 1
        assert load_model(disk / "model").labels == ("bright", "calm")


def test_two_trainings_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with only_writer(tmp_path / "model" / "training.lock", "x"), pytest.raises(AssayError) as caught:
        train(tmp_path / "model", on_check=never)
    assert f"a training in {tmp_path / 'model'} is being written by process {os.getpid()} on " in str(caught.value)
    (tmp_path / "model" / "training.lock").write_text("of a dead process")
    assert train(tmp_path / "model").history.steps == 1
    assert not (tmp_path / "model" / "training.lock").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"PK\x03\x04", [], 3, {}, {"identity": 1}, {"identity": None, "model": 3}],
    ids=str,
)
def test_a_checkpoint_of_another_form_is_a_sentence(tmp_path: Path, content: Any) -> None:
    path = tmp_path / NAME
    path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
    with pytest.raises(AssayError, match=r"checkpoint|different recipe"):
        train(tmp_path, on_check=never)


def test_a_checkpoint_whose_parts_are_damaged_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(classifier, "save_run", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path)
    good = torch.load(tmp_path / NAME, weights_only=True)
    changes: list[dict[str, Any]] = [{"model": {}}, {"optimiser": 3}, {"checks": [3]}, {"losses": None}, {"step": None}]
    for change in changes:
        torch.save({**good, **change}, tmp_path / NAME)
        with pytest.raises(AssayError, match="damaged"):
            train(tmp_path, on_check=never)
    torch.save({k: v for k, v in good.items() if k != "best"}, tmp_path / NAME)
    with pytest.raises(AssayError, match="damaged"):
        train(tmp_path, on_check=never)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "settings",
    [
        {"save_seconds": -1}, {"save_seconds": float("nan")}, {"learning_rate": float("nan")},
        {"learning_rate": float("inf")}, {"epochs": 10**12}, {"clip": float("nan")}, {"warmup": float("inf")},
        {"batch_size": 0}, {"base": "bert(layers=100000, width=100000)"}, {"base": "bert(width=1000000000000)"},
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=r"=|parameters"):
        assay.train(**{"base": SCRATCH, "data": "builtin", "output": tmp_path / "m", **settings})


def test_sizes_are_checked_before_anything_is_allocated() -> None:
    assert parse_size("bert(layers=24, width=1024, heads=16)")[1].layers == 24  # type: ignore[union-attr]
    with pytest.raises(SpecError, match="more than 20,000,000,000 parameters"):
        parse_size("bert(layers=1000, width=50000)")


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    check_folder_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
