"""Presets on the command line: what is given takes precedence, and terminal, page and JSON say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Refused, invoke

Command = Callable[..., str]


@pytest.fixture
def assay_cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """What a command prints; it must succeed."""

    def run(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "200")
        outcome = invoke(*arguments)
        assert outcome.exit_code == 0, outcome.stderr
        return outcome.stdout

    return run


def test_an_attack_with_a_preset(assay_cli: Command, tmp_path: Path) -> None:
    assay_cli(
        *("attack", "--preset", "thesis", "--methods", "gradient", "--steps", "2", "--limit", "1", "--store", "s"),
        *("--json", "a.json"),
    )
    preset = json.loads((tmp_path / "a.json").read_text())["preset"]
    assert preset["name"] == "thesis"
    assert preset["given"] == {"methods": ["gradient"], "steps": 2, "limit": 1}
    settings = json.loads((tmp_path / "a.json").read_text())["settings"]["study"]
    assert "epsilon=2.0, relative=False" in settings
    assert "step=gradient, steps=2, rate=0.1, halve=200" in settings
    assert "<h2>Preset</h2>" in (tmp_path / "attack.html").read_text()


def test_an_evaluation_prints_what_was_changed(assay_cli: Command) -> None:
    said = assay_cli(
        *("evaluate", "--preset", "aml", "--methods", "occlusion,random", "--target", "gold", "--limit", "2"),
        *("--store", "s"),
    )
    words = " ".join(said.split())
    assert "Preset aml (Attributive Masking Learning), with" in words
    assert "target=gold (instead of predicted)" in words
    assert "limit=2 (not part of the preset)" in words


def test_an_unknown_preset(refused: Refused, tmp_path: Path) -> None:
    said = refused("evaluate", "--preset", "rore", cwd=tmp_path)
    assert "unknown preset 'rore'; did you mean 'roar'" in said


def test_presets_are_listed(assay_cli: Command) -> None:
    said = " ".join(assay_cli("list", "presets", "thesis", "--long").split())
    assert "epsilon=2.0. Stated in the paper." in said
    assert "scale=probability. Left open by the paper:" in said
