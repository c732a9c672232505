"""Scores made elsewhere, in evaluations: from Python, the command line and plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay

from .conftest import Refused, invoke


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def write_texts(path: Path) -> None:
    texts = [{"text": example.text} for example in assay.load_dataset("builtin")]
    path.write_text("".join(json.dumps(row) + "\n" for row in texts))


def write_scores(path: Path, label: str | None = None) -> None:
    rows = [{"text": e.text, "label": label, "words": e.text.split(), "scores": [len(w) for w in e.text.split()]}
            for e in assay.load_dataset("builtin")]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def values(record: dict, method: str) -> list[tuple]:
    return [(r["metric"], r["value"], r["low"], r["high"]) for r in record["table"] if r["method"] == method]


@pytest.mark.filterwarnings("default:The scores")
def test_our_own_file_gives_exactly_our_numbers(folder: Path) -> None:
    """`explain --output x.jsonl`, then `evaluate --scores x.jsonl`."""
    write_texts(folder / "texts.jsonl")
    assert invoke("explain", "--method", "occlusion", "--input", "texts.jsonl", "--output", "x.jsonl").exit_code == 0
    done = invoke("evaluate", "--scores", "x.jsonl", "--scores", "again=x.jsonl", "--methods", "occlusion,random",
                  "--json", "r.json", "--limit", "12")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    record = json.loads((folder / "r.json").read_text())
    assert values(record, "x") == values(record, "again") == values(record, "occlusion") != []
    assert record["agreement"]["x ~ occlusion"] == 1
    assert "given(name=x, digest=" in record["settings"]["methods"]["x"][0]
    page = (folder / "report.html").read_text().replace("&#39;", "'")
    assert "scores={'x': 'x.jsonl', 'again': 'again.jsonl'}" in page
    assert "made elsewhere: x, again" in page
    assert "alone: made elsewhere, cost unknown" in page
    lost = "have none of the gold class for 1 of 12 examples; auprc and token_f1 leave these out, for all methods."
    assert lost in " ".join(done.output.split())
    assert lost in page
    assert {row["n"] for row in record["table"] if row["metric"] == "auprc"} == {11}


def test_other_scores_are_never_served_old_records(folder: Path) -> None:
    data = list(assay.load_dataset("builtin"))[:4]
    texts, words = [e.text for e in data], [e.text.split() for e in data]
    results = []
    for sign in (1, -1):
        scores = [[sign * len(word) for word in row] for row in words]
        given = assay.Attributions.from_words(texts, words, scores, label=None)
        results.append(assay.evaluate(data=data, methods=["random"], scores={"length": given}, store="store"))
    first, second = ([row["value"] for row in r.table() if row["method"] == "length"] for r in results)
    assert first != second


def test_a_plan_takes_scores(folder: Path) -> None:
    write_scores(folder / "length.jsonl")
    (folder / "plan.yaml").write_text(
        "data: {opinions: {source: builtin, limit: 8}}\nmodels: {ready: builtin}\n"
        "studies: {evaluate: {methods: [random], scores: [length.jsonl], metrics: [sufficiency]}}\n"
    )
    assert assay.run("plan.yaml", store="store").ok
    assert {row["method"] for row in assay.results("plan.yaml", store="store")} == {"length", "random"}
    assert assay.report("plan.yaml", "report", store="store")


def test_refusals_name_the_example(folder: Path, refused: Refused) -> None:
    write_scores(folder / "one_class.jsonl", "positive")
    arguments = ("evaluate", "--methods", "random", "--limit", "12", "--scores")
    error = refused(*arguments, "one_class.jsonl", cwd=folder)
    assert "explain 'positive', but 'negative' is evaluated" in error
    assert "input " in error
    (folder / "few.jsonl").write_text('{"text": "a film", "label": null, "scores": [1, 1, 1, 1, 1, 1]}\n')
    assert "the scores 'few' have no entry for the text" in refused(*arguments, "few.jsonl", cwd=folder)
    assert "'lime' is a method of Assay" in refused(*arguments, "lime=few.jsonl", cwd=folder)
    assert "there is no file nowhere.jsonl" in refused(*arguments, "nowhere.jsonl", cwd=folder)


def test_words_that_the_tokenizer_divides_keep_their_total(folder: Path) -> None:
    given = assay.Attributions.from_words(
        ["unbelievably charming"], [["unbelievably", "charming"]], [[3.0, -1.0]], label="positive"
    )
    result = assay.evaluate(data=["unbelievably charming"], methods=["random"], scores={"mine": given}, store="store")
    (shown,) = result.evaluation.shown["mine"]
    by_word = dict.fromkeys(("unbelievably", "charming"), 0.0)
    for unit, score in zip(shown.units, shown.scores, strict=True):
        by_word["charming" if unit.start >= 13 else "unbelievably"] += float(score)
    assert by_word == pytest.approx({"unbelievably": 3.0, "charming": -1.0})
    assert len(shown.units) > 2, "the tokenizer divides a word"
