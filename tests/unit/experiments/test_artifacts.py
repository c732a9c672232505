"""Artefacts: whole or not there, gone on with after a kill, and never written by two at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.experiments.artifacts import Artifacts


def test_it_takes_its_name_when_all_went_well(tmp_path: Path) -> None:
    kept = Artifacts(tmp_path / "new")
    with kept.making("k") as folder:
        (folder / "a").write_text("1")
        assert not kept.has("k")
    assert kept.has("k")
    assert [p.name for p in kept.folder.iterdir()] == ["k"], "nothing is left beside it"


def test_a_second_try_finds_what_the_first_left(tmp_path: Path) -> None:
    """A training goes on from its checkpoint."""
    kept = Artifacts(tmp_path)
    with pytest.raises(ZeroDivisionError), kept.making("k") as folder:
        (folder / "checkpoint").write_text(f"half{1 // len(list(folder.iterdir()))}")
    (tmp_path / "k.part" / "checkpoint").write_text("half")
    assert not kept.has("k")
    with kept.making("k") as folder:
        assert (folder / "checkpoint").read_text() == "half"


def test_two_at_once_write_apart_and_one_result_stays(tmp_path: Path) -> None:
    kept = Artifacts(tmp_path)
    with kept.making("k") as first:
        with kept.making("k") as second:
            assert first != second
            (second / "a").write_text("same")
        assert kept.has("k")
        (first / "a").write_text("same")
    assert (kept.path("k") / "a").read_text() == "same"
    assert [p.name for p in tmp_path.iterdir()] == ["k"]


def test_an_error_of_the_job_is_not_the_stores(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), Artifacts(tmp_path).making("k"):
        (tmp_path / "nothing").read_text()


def test_discard_keeps_what_a_report_needs(tmp_path: Path) -> None:
    kept = Artifacts(tmp_path)
    with kept.making("k") as folder:
        (folder / "model.safetensors").write_text("large")
        (folder / "config.json").write_text("{}")
    kept.discard("k", ("*.json",))
    assert not kept.has("k")
    assert [p.name for p in kept.kept_files("k").iterdir()] == ["config.json"]
    kept.discard("k")  # there is none any more
