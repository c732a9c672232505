"""Inputs of every kind mean the same to every verb, and what may have been misread is said wherever a user looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.core.attributions import Attributions

from .test_data import run

TEXTS = ["a fine film", "a dull film"]
LABELS = ["positive", "negative"]
COLUMNS = {"Review": TEXTS, "sentiment": LABELS}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
HELD = [{"document": text, "query": f"is the film good? {i}", "label": LABELS[i % 2]} for i, text in enumerate(TEXTS)]

SEVERAL = {
    "pandas frame": pd.DataFrame(COLUMNS, index=["x", "y"]),
    "pandas frame whose index is the text": pd.DataFrame(COLUMNS).set_index("Review"),
    "pandas frame with an empty label": pd.DataFrame({**COLUMNS, "sentiment": ["positive", np.nan]}),
    "pandas series": pd.Series(TEXTS, index=[7, 9]),
    "series of ids and texts": pd.Series(TEXTS, index=["x", "y"]),
    "polars frame": pl.DataFrame(COLUMNS),
    "polars series": pl.Series(TEXTS),
    "datasets.Dataset": datasets.Dataset.from_dict(COLUMNS),
    "column of a datasets.Dataset": datasets.Dataset.from_dict(COLUMNS)["Review"],
    "Arrow table": datasets.Dataset.from_dict(COLUMNS).data.table,
    "dict of columns": COLUMNS,
    "dict of arrays": {name: np.array(column) for name, column in COLUMNS.items()},
    "list of dicts": ROWS,
    "array of texts": np.array(TEXTS),
    "array of objects": np.array(TEXTS, object),
    "list": TEXTS,
    "Examples": [assay.Example(text) for text in TEXTS],
}
ONE = {
    "dict": ROWS[0],
    "row of a frame": pd.DataFrame(COLUMNS).iloc[0],
    "Example": assay.Example(TEXTS[0]),
    "pair": (TEXTS[0], TEXTS[1]),
}
NEITHER = {
    "set": set(TEXTS),
    "number": 3,
    "nothing": None,
    "bytes": b"a fine film",
    "array of two dimensions": np.array([TEXTS]),
    "lazy frame": pl.DataFrame(COLUMNS).lazy(),
    "columns of two lengths": {"text": TEXTS, "label": ["positive"]},
    "columns of one name": pd.DataFrame([TEXTS], columns=["text", "text"]),
    "frame without a text": pd.DataFrame({"Txt": TEXTS, "Y": [0, 1]}),
    "frame with an empty text": pd.DataFrame({"text": ["a fine film", None]}),
    "series with an empty text": pd.Series(["a fine film", np.nan]),
    "two splits": {"train": datasets.Dataset.from_dict(COLUMNS), "test": datasets.Dataset.from_dict(COLUMNS)},
}


def explained(data: Any) -> Any:
    return assay.explain("builtin", data, "random", units="word", progress=False)


def evaluated(data: Any, folder: Path) -> list[assay.Example]:
    result = assay.evaluate("builtin", data, "random", "top_k_mass", store=folder, progress=False)
    return list(result.evaluation.dataset)


def words(attribution: assay.Attribution) -> str:
    return " ".join(unit.text for unit in attribution.units)


@pytest.mark.parametrize("data", SEVERAL.values(), ids=SEVERAL)
def test_several_inputs(data: Any, tmp_path: Path) -> None:
    found = explained(data)
    assert isinstance(found, Attributions)
    assert [words(attribution) for attribution in found] == TEXTS
    assert [example.text for example in evaluated(data, tmp_path)] == TEXTS


@pytest.mark.parametrize("data", ONE.values(), ids=ONE)
def test_one_input(data: Any, tmp_path: Path) -> None:
    assert words(explained(data)) in (TEXTS[0], " ".join(TEXTS))
    (example,) = evaluated(data, tmp_path)
    assert example.text == TEXTS[0]
    assert example.text_pair == (TEXTS[1] if isinstance(data, tuple) else None)


@pytest.mark.parametrize("data", NEITHER.values(), ids=NEITHER)
def test_anything_else_is_an_error(data: Any, tmp_path: Path) -> None:
    for verb in (explained, lambda data: evaluated(data, tmp_path)):
        with pytest.raises(assay.AssayError):
            verb(data)


def test_columns_may_be_named_in_every_verb(tmp_path: Path) -> None:
    frame = pd.DataFrame({"Txt": TEXTS, "Y": LABELS})
    assert words(assay.explain("builtin", frame, "random", units="word", columns="text=Txt")[1]) == TEXTS[1]
    options: dict[str, Any] = {"columns": "text=Txt,label=Y", "limit": 1, "store": tmp_path, "progress": False}
    assert len(assay.evaluate("builtin", frame, "random", "top_k_mass", **options).evaluation.dataset) == 1
    assert assay.randomise("builtin", frame, "gradient", **options).data.labels == ("negative", "positive")
    assert assay.attack("builtin", frame, "gradient", steps=1, **options).data[0].text in TEXTS


def test_the_name_of_a_file_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reviews.csv").write_text("text,label\na fine film,1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(assay.InputError, match=r"'reviews.csv' is a file, not a text; give it with --input"):
        explained("reviews.csv")


def test_training_on_a_frame(tmp_path: Path) -> None:
    rows = [
        {"Review": f"{text} {i}", "Stars": label} for i in range(10) for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    with pytest.warns(UserWarning, match="table has no validation split: holding out a tenth .* 2 of 20"):
        trained = assay.train(
            "bert(layers=1, width=8, heads=1)",
            pd.DataFrame(rows),
            tmp_path / "m",
            columns="text=Review,label=Stars",
            epochs=1,
        )
    assert trained.history.best_check is not None


# --- where notes are said --------------------------------------------------------------------------------------------

NOTE = "The column 'query' holds text that is not used (text: 'document'); to read it as the second text: "


@pytest.fixture
def eraser(tmp_path: Path) -> Path:
    """A file of the form of ERASER, read as one text because the user says so."""
    path = tmp_path / "multirc.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in HELD * 3))
    return path


def test_in_terminal_report_markdown_and_json(eraser: Path) -> None:
    common = ["--data", str(eraser), "--columns", "text=document,label=label", "--methods", "random,occlusion"]
    files = ["--report", "page.html", "--markdown", "page.md", "--json", "page.json", "--store", "store"]
    done = run("evaluate", *common, "--metrics", "sufficiency", *files, cwd=eraser.parent)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOTE) == 1
    assert "--columns text=document,text_pair=query" in done.stderr
    page = (eraser.parent / "page.html").read_text()
    assert page.count("The column &#39;query&#39; holds text that is not used") == 1
    assert NOTE in (eraser.parent / "page.md").read_text()
    assert any(NOTE in note for note in json.loads((eraser.parent / "page.json").read_text())["notes"])
    shown = run("data", "show", str(eraser), "--examples", "0", cwd=eraser.parent)
    assert "id=" not in shown.stdout
    assert "text=document, text_pair=query, label=label" in shown.stdout
    assert "is a guess; for the other order: --columns text=query,text_pair=document" in shown.stderr


def test_when_a_file_is_explained(eraser: Path) -> None:
    with pytest.warns(assay.DataWarning, match="The column 'query' holds text that is not used") as caught:
        report = assay.explain_file(
            "builtin", eraser, eraser.parent / "out.jsonl", "random", columns="text=document", progress=False
        )
    assert (report.written, len(caught)) == (2 * 3, 1)


def test_on_the_pages_of_other_studies(eraser: Path) -> None:
    options: dict[str, Any] = {"columns": "text=document", "limit": 1, "store": eraser.parent / "s", "progress": False}
    with pytest.warns(assay.DataWarning, match="'query'"):
        results = [
            assay.randomise("builtin", eraser, "gradient", **options),
            assay.attack("builtin", eraser, "gradient", steps=1, **options),
        ]
    for result in results:
        result.to_html(eraser.parent / "page.html")
        assert "The column &#39;query&#39; holds text" in (eraser.parent / "page.html").read_text()
        assert any(NOTE in note for note in result.to_dict()["notes"])
