"""Fits on full and write-protected disks, and files of explainers that are none: a sentence, and nothing lost."""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.errors import AssayError
from assay.core.locks import only_writer
from assay.explainers.learned.parts.fitted import Fitted
from toys import bert
from unit.fitting.test_fit import planted_texts

from .disks import small_disk

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore:.*no validation split")]
SPEC = "aml(epochs=2, masks=2)"


def fit(folder: Path, spec: str = SPEC, **more: Any) -> Any:
    return assay.fit(bert(), planted_texts(30), spec, folder, progress=False, **more)


def test_a_disk_that_is_full_when_the_explainer_is_saved_loses_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fit(tmp_path / "whole")
    save, steps = Fitted.save, list[int]()
    with small_disk(tmp_path / "disk", "32m") as disk:

        def fill_and_save(self: Fitted, folder: Path) -> None:
            with suppress(OSError), (disk / "ballast").open("wb") as out:
                out.write(b"0" * 2**26)
            save(self, folder)

        with monkeypatch.context() as patch:
            patch.setattr(Fitted, "save", fill_and_save)
            with pytest.raises(AssayError, match=r"cannot save the explainer in .*No space left.* free space"):
                fit(disk / "e")
        assert not (disk / "e" / "explainer.json").exists()
        (disk / "ballast").unlink()
        again = fit(disk / "e", on_check=lambda check, best: steps.append(check.step))
        assert steps == [], "the same command saves what was fitted, without another step"
        assert again.digest == whole.digest


def test_a_disk_that_is_full_for_a_checkpoint_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.training.checkpoint.SPACING", 0)
    with small_disk(tmp_path / "disk", "48k") as disk, pytest.raises(AssayError, match=r"cannot write .*free space"):
        fit(disk / "e", save_seconds=0.0)


def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("it read the data first")

    with small_disk(tmp_path / "disk", "64k", "ro") as disk, pytest.raises(AssayError, match="Read-only"):
        fit(disk / "e", on_start=never)
    (tmp_path / "file").write_text("")
    with pytest.raises(AssayError, match="is a file"):
        fit(tmp_path / "file", on_start=never)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(AssayError, match=r"not empty \(it holds thesis\.tex\)"):
        fit(tmp_path / "full", on_start=never)


def test_two_fits_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    with (
        only_writer(tmp_path / "e" / "training.lock", "a training"),
        pytest.raises(AssayError, match=r"a training in .* is being written by process"),
    ):
        fit(tmp_path / "e")


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


def test_a_pickle_in_the_place_of_weights_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fit(tmp_path / "e")
    for name in ("explainer.safetensors", "explainer.json"):
        content = (tmp_path / "e" / name).read_bytes()
        (tmp_path / "e" / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(AssayError, match=r"damaged|cannot be read"):
            assay.load_explainer(tmp_path / "e")
        (tmp_path / "e" / name).write_bytes(content)
    assert not (tmp_path / "exploded").exists()
    assay.load_explainer(tmp_path / "e")


def test_a_damaged_checkpoint_and_one_of_other_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(AssayError, match=r"cannot read the checkpoint .*delete it"):
        fit(tmp_path / "e")
    monkeypatch.setattr("assay.training.checkpoint.SPACING", 0)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "f", "aml(epochs=3, masks=2, validate_every=2)", save_seconds=0.0, on_check=interrupt)
    with pytest.raises(AssayError, match=r"unfinished training run with a different recipe, data or model"):
        fit(tmp_path / "f", "aml(epochs=3, masks=4, validate_every=2)")
