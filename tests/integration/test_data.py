"""`assay data`, and `assay explain --input` on formats it shares with load_dataset: on real files."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import invoke_in

ROWS = [
    {"id": "a", "review": "a fine film", "stars": "good", "rationale": [[2, 6]]},
    {"id": "b", "review": "a dull film", "stars": "bad", "rationale": [[2, 6]]},
    {"id": "c", "review": "no words for it", "stars": "bad", "rationale": []},
]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(command, cwd=cwd, env=plain, capture_output=True, text=True, timeout=300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "all" / "reviews").mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    for split in ("train", "dev"):
        (tmp_path / "all" / "reviews" / f"{split}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "all" / "notes.csv").write_text("text,label\nfine,1\n")
    (tmp_path / "all" / "empty").mkdir()
    return tmp_path


def test_list(folder: Path) -> None:
    own = invoke_in(folder, "data", "list")
    assert own.exit_code == 0, own.stderr
    names = [line.split()[0] for line in own.stdout.splitlines()]
    assert names == ["augmented(DATA)", "babi_world", "builtin", "planted(DATA)", "repeated(DATA)"]
    found = invoke_in(folder, "data", "list", "all").stdout
    assert [line.split() for line in found.splitlines()] == [["reviews", "dev,", "train"], ["notes.csv", "one", "file"]]


def test_show(folder: Path) -> None:
    done = run("data", "show", "all/reviews", "--split", "validation", "--columns", "label=stars", cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = dict(line.split("  ", 1) for line in done.stdout.split("\n\n")[0].splitlines())
    facts = {key: value.strip() for key, value in facts.items()}
    assert facts["name"] == "reviews"
    assert facts["split"] == "dev"
    assert facts["task"] == "classification"
    assert facts["examples"] == "3"
    assert facts["labels"] == "bad 2, good 1"
    assert facts["with rationales"] == "67% (1 per example)"
    assert facts["mean length"] == "3.3 words"
    assert "a  good\na «fine» film\n" in done.stdout
    named = ("--columns", "label=stars", "--label-map", "good=positive,bad=")
    mapped = run("data", "show", "all/reviews", "--split", "dev", *named, cwd=folder)
    assert re.search(r"labels +positive 1 *\n", mapped.stdout), mapped.stderr
    assert "b  bad\na «dull» film\n" in done.stdout
    assert "no words for it" in done.stdout


def test_show_a_generator(folder: Path) -> None:
    done = invoke_in(folder, "data", "show", "babi_world(task=2, n=20)", "--examples", "1")
    assert done.exit_code == 0, done.stderr
    assert "babi_world(task=2)" in done.stdout
    assert done.stdout.count("«") in (1, 2)  # two sentences side by side are one mark each
    assert "Where is the " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show"], "DATA needs a value. Run `assay data show --help`"),
        (["show", "all/reviews"], "reviews has several splits; choose one: dev, train"),
        (["show", "all/reviews", "--split", "test"], "reviews has no split 'test'"),
        (["show", "all/review"], "no file or folder 'all/review'"),
        (["show", "all/notes.csv", "--columns", "label"], "write name=value,..., such as text=review,label=stars"),
        (["show", "nobody/nothing"], "is not a file, folder or built-in name, and could not be loaded from the hub"),
        (["list", "nowhere"], "nowhere is not a folder"),
        (["list", "all/empty"], "has no data sets"),
    ],
)
def test_bad_input_ends_in_a_sentence(arguments: list[str], words: str, folder: Path) -> None:
    done = invoke_in(folder, "data", *arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert words in done.stderr


def test_explain_reads_the_same_files(folder: Path) -> None:
    """Columns are guessed alike, bad rows are named by their number, a faulty rationale is no reason to refuse."""
    (folder / "in.csv").write_text('text,label,rationale\na fine film,1,"[[0, 99]]"\na,dull,film,0\n"a dull film",0,\n')
    (folder / "in.json").write_text('[{"context": "a fine film", "question": "is it?", "id": "x"}, {"context": 3}]')
    bad = invoke_in(folder, "explain", "--method", "occlusion", "--input", "in.csv", "--output", "csv.jsonl")
    assert bad.exit_code == 1
    assert "line 2: 4 cells, but the header has 3" in bad.stderr
    rows = [json.loads(line) for line in (folder / "csv.jsonl").read_text().splitlines()]
    assert [row["example_id"] for row in rows] == ["1", "3"]
    pair = invoke_in(folder, "explain", "--method", "occlusion", "--input", "in.json", "--output", "json.jsonl")
    assert pair.exit_code == 1
    assert "line 2: text (the column 'context') must be a string, not int" in pair.stderr
    (row,) = [json.loads(line) for line in (folder / "json.jsonl").read_text().splitlines()]
    assert row["example_id"] == "x"
    assert {unit["segment"] for unit in row["units"]} == {0, 1}
