"""`assay randomise` and `assay attack` as a newcomer runs them: a table, a verdict, a page, JSON."""

from __future__ import annotations

import json

import pytest

import assay

from .conftest import invoke


def run(*words):
    outcome = invoke(*words)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.output


def test_randomise(tmp_path):
    page, rows = tmp_path / "r.html", tmp_path / "r.json"
    files = ["--report", str(page), "--json", str(rows)]
    out = run("randomise", "--limit", "3", "--methods", "gradient,average_attention", "--seeds", "2", *files)
    assert "cascading" in out
    assert "With all blocks re-initialised" in out
    record = json.loads(rows.read_text())
    assert len(record["rows"]) == 3 * 2 * 2 * 2 * 2  # examples, methods, modes, blocks, seeds
    text = page.read_text(encoding="utf-8")
    assert text.count('class="plot"') == 2
    assert text.count("the model's output<br>") == 2  # of each mode, to compare correlations with
    where = ("gradient", "cascading", 0)
    broken = [r["value"] for r in record["rows"] if (r["method"], r["mode"], r["block"]) == where]
    row = text.partition("the model's output<br>")[2].partition("</tr>")[0]
    assert row.endswith(f">{sum(broken) / len(broken):.3g}</td>")
    assert "http" not in text.split("</style>")[1]


def test_attack(tmp_path):
    page, rows = tmp_path / "a.html", tmp_path / "a.json"
    files = ["--report", str(page), "--json", str(rows)]
    out = run("attack", "--limit", "2", "--steps", "3", "--methods", "gradient", *files)
    assert "rank change" in out
    record = json.loads(rows.read_text())
    assert {row["objective"] for row in record["rows"]} == {"prediction_kept", "probability_matched"}
    assert page.read_text(encoding="utf-8").count('<p class="heat"') == 2 * 3  # original and two objectives per example


def test_what_measures_an_attack(tmp_path):
    """By default IG is measured by nodes enough; --measured says otherwise, one spec for each method."""
    assert assay.attack(limit=1, steps=1).study.measured[2] == "integrated_gradients(tolerance=0.05)"
    assert assay.attack(limit=1, steps=1, methods=["gradient"]).study.measured is None
    rows = tmp_path / "a.json"
    rough, fine = "integrated_gradients(steps=1, rule=left)", "integrated_gradients(steps=64)"
    files = ["--report", str(tmp_path / "a.html"), "--json", str(rows)]
    run("attack", "--limit", "1", "--steps", "1", "--methods", rough, "--measured", fine, *files)
    told = f"Scores before and after the attack are those of {fine} instead of {rough}, which was attacked."
    assert told in (tmp_path / "a.html").read_text(encoding="utf-8")
    row = json.loads(rows.read_text())["rows"][0]
    text = next(example for example in assay.load_dataset("builtin") if example.id == row["example"])
    (alone,) = assay.explain("builtin", [text], fine, target=assay.Target(scale="probability"))
    assert row["original"]["scores"] == pytest.approx(alone.scores.tolist(), abs=1e-5)


def test_bad_names_end_in_a_sentence():
    with pytest.raises(assay.SpecError, match="did you mean 'probability_matched'"):
        assay.attack(objectives=["probability_match"])
    with pytest.raises(assay.SpecError, match="unknown mode"):
        assay.randomise(modes=("all",))
