"""`assay randomise` and `assay attack` as a newcomer runs them: a table, a verdict, a page, JSON."""

from __future__ import annotations

import json
import re

import pytest

import assay
from assay.studies.attack.study import Attack

from .conftest import invoke


def run(*words):
    outcome = invoke(*words)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.output


def test_randomise(tmp_path):
    page, rows = tmp_path / "r.html", tmp_path / "r.json"
    files = ["--report", str(page), "--json", str(rows)]
    out = run("randomise", "--limit", "3", "--methods", "gradient,random", "--seeds", "2", *files)
    assert "cascading" in out
    assert "With all blocks re-initialised" in out
    assert "gradient passes the check: its correlation" in " ".join(out.split())
    assert "random fails the check: its correlation stays above 0.5" in " ".join(out.split())
    assert "intact" in out
    record = json.loads(rows.read_text())
    assert len(record["rows"]) == 3 * 2 * 2 * 2 * 2  # examples, methods, modes, blocks, seeds
    text = page.read_text(encoding="utf-8")
    assert text.count('class="plot"') == 2
    assert text.count("the model's output<br>") == 2  # of each mode, to compare correlations with
    where = ("gradient", "cascading", 0)
    broken = [r["value"] for r in record["rows"] if (r["method"], r["mode"], r["block"]) == where]
    row = text.partition("the model's output<br>")[2].partition("</tr>")[0]
    assert row.endswith(f">{sum(broken) / len(broken):.3g}</td>")
    intact = [r["value_intact"] for r in record["rows"] if (r["method"], r["mode"], r["block"]) == where]
    assert row.partition('class="n">')[2].startswith(f"{sum(intact) / len(intact):.3g}</td>")
    assert "http" not in text.split("</style>")[1]


def test_randomise_of_a_single_word_has_no_order_to_compare(tmp_path):
    result = assay.randomise("builtin", ["wonderful"], "gradient", store=tmp_path / "s", progress=False)
    assert result.verdict == ["No input has two units or more, so there is no order of scores to compare."]
    assert "no order of scores" in repr(result)
    result.to_html(tmp_path / "r.html")
    assert "no order of scores" in (tmp_path / "r.html").read_text()
    assert "no order of scores" in result._repr_html_()


def test_attack(tmp_path):
    page, rows = tmp_path / "a.html", tmp_path / "a.json"
    files = ["--report", str(page), "--json", str(rows)]
    out = run("attack", "--limit", "2", "--steps", "3", "--methods", "gradient", *files)
    assert "rank change" in out
    assert "size of the move" in out
    assert "times their own size" in " ".join(out.split())
    record = json.loads(rows.read_text())
    assert {row["objective"] for row in record["rows"]} == {"prediction_kept", "probability_matched"}
    assert page.read_text(encoding="utf-8").count('<p class="heat"') == 2 * 3  # original and two objectives per example


def test_an_attack_says_what_it_costs_before_it_starts(tmp_path):
    files = ["--report", str(tmp_path / "a.html"), "--store", str(tmp_path / "store")]
    words = ["attack", "--limit", "2", "--steps", "3", "--methods", "gradient", *files]
    first, again = invoke(*words), invoke(*words)
    assert "2 attacks on each of 2 inputs, up to 3 steps each: up to " in first.stderr
    assert re.search(r"passes, roughly \d+ s", first.stderr)
    assert "passes" not in again.stderr, "nothing is left to do"


def test_the_cost_of_an_attack_is_what_it_runs():
    model = assay.load_model("builtin")
    study = Attack(methods=("gradient",), steps=10, tolerance=0.0, shown=0)
    data = assay.load_dataset("builtin")[:3]
    cost = study.cost(model, data)
    before = model.passes.forwards + model.passes.backwards
    study.run(model, data)
    assert cost.passes == pytest.approx(model.passes.forwards + model.passes.backwards - before, rel=0.25)


def test_an_attack_that_moves_words_further_than_their_size_says_so_first():
    near, far = (assay.attack(limit=2, steps=4, methods=["gradient"], relative=relative, epsilon=2.0, rate=9.0)
                 for relative in (True, False))  # fmt: skip
    for result in (near, far):
        assert result.verdict[0].startswith("Epsilon lets embeddings move by up to")
        assert all("times their own size" in sentence for sentence in result.verdict)
    assert "28 times" in far.verdict[0]
    default = assay.attack(limit=2, steps=4, methods=["gradient"])
    assert not default.verdict[0].startswith("Epsilon lets")
    assert all(row["moved"] <= row["epsilon_in_scale"] + 1e-6 for row in default.rows)
    assert [row["epsilon_in_scale"] for row in default.rows] == pytest.approx([0.5] * 4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": float("inf")}, "epsilon=inf"),
        ({"epsilon": float("nan")}, "epsilon=nan"),
        ({"epsilon": -1.0}, r"epsilon=-1\.0: give a number, above 0"),
        ({"share": 2.0}, r"share=2\.0: give a number, above 0 and at most 1"),
        ({"steps": 0}, "steps=0: give a whole number, at least 1"),
        ({"tolerance": -1.0}, r"tolerance=-1\.0"),
        ({"batch_tokens": 0}, "batch_tokens=0"),
    ],
)
def test_numbers_that_an_attack_cannot_have(settings, words):
    with pytest.raises(assay.SpecError, match=words):
        assay.attack(**settings)
    name, value = next(iter(settings.items()))
    with pytest.raises(assay.SpecError, match=name):
        Attack(**{name: value})


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
