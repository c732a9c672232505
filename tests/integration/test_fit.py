"""`assay fit` from the command line to an evaluation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import invoke

WORDS = "a the film plot story slow dull charming moving funny sad warm weak clever".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for split, count in (("train", 40), ("dev", 8), ("test", 6)):
        texts = [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 7)) for i in range(1, count + 1)]
        lines = [json.dumps({"text": f"{text} {i}", "label": "positive"}) for i, text in enumerate(texts)]
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    return folder


def test_fit_explain_and_evaluate(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "explainer"
    options = ("--model", "builtin", "--data", str(data), "--output", str(output), "--epochs", "2", "--masks", "4")
    fitted = invoke("fit", "aml", *options)
    assert fitted.exit_code == 0, fitted.stderr
    assert "40 texts to learn from, 8 to choose the checkpoint by" in fitted.stdout
    assert "of a random order" in fitted.stdout
    assert f"saved in {output}" in fitted.stdout.replace("\n", "")
    again = invoke("fit", "aml", *options)
    assert again.exit_code != 0
    assert "finished explainer" in again.stderr
    explained = invoke("explain", "--model", "builtin", "--method", f"aml('{output}')", "a charming film")
    assert explained.exit_code == 0, explained.stderr
    assert "charming" in explained.stdout
    page, table = tmp_path / "page.html", tmp_path / "table.md"
    judged = invoke(
        "evaluate", "--model", "builtin", "--data", str(data), "--split", "test", "--metrics", "comprehensiveness",
        "--methods", f"aml('{output}'), aml('{output}', steps=2), random", "--store", str(tmp_path / "store"),
        "--report", str(page), "--markdown", str(table),
    )  # fmt: skip
    assert judged.exit_code == 0, judged.stderr
    assert "aml(explainer, steps=2)" in table.read_text()
    shown = invoke(
        "randomise", "--model", "builtin", "--data", str(data), "--split", "test", "--methods", f"aml('{output}')",
        "--store", str(tmp_path / "store"), "--report", str(tmp_path / "randomise.html"),
    )  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    said = " ".join(shown.stdout.split())
    assert "aml(explainer) was fitted to the intact model and not again to the randomised ones" in said
    pages = page.read_text() + (tmp_path / "randomise.html").read_text() + table.read_text()
    assert str(tmp_path) not in pages
    attacked = invoke(
        "attack", "--model", "builtin", "--data", str(data), "--split", "test", "--methods", f"aml('{output}')",
        "--store", str(tmp_path / "store"), "--report", str(tmp_path / "attack.html"), "--limit", "2",
    )  # fmt: skip
    assert attacked.exit_code == 2
    assert "cannot be attacked" in attacked.stderr


def test_no_explainer_is_one_sentence() -> None:
    outcome = invoke("explain", "--model", "builtin", "--method", "aml", "a film")
    assert outcome.exit_code == 2
    assert "aml needs a fitted explainer" in outcome.stderr
