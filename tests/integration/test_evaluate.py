"""`assay evaluate` as a user meets it: a real process, the built-in model, a page, and a kill in the middle."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from unit.reports.pages import Page

from .conftest import Refused, invoke_in

ASSAY = [sys.executable, "-m", "assay"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "XDG_CACHE_HOME": str(cwd / "cache")}
    command = [*ASSAY, "evaluate", *arguments]
    return subprocess.run(command, cwd=cwd, env=plain, capture_output=True, text=True, timeout=900)


def found(path: Path) -> dict[str, Any]:
    """What a run wrote, without where and how fast."""
    content: dict[str, Any] = json.loads(path.read_text())
    assert content.pop("provenance")["assay"]
    return content


def test_built_in_model_and_data(tmp_path: Path) -> None:
    methods = "integrated_gradients(steps=8),lime(samples=40, seed=3),occlusion,random"
    done = run("--limit", "6", "--methods", methods, "--json", "o.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in ("sufficiency", "lime(samples=40, seed=3)", "auprc", "wrote report.html", "n = 6 is small"):
        assert word in done.stdout
    content = found(tmp_path / "o.json")
    assert {row["method"] for row in content["table"]} == {
        "integrated_gradients(steps=8)", "lime(samples=40, seed=3)", "occlusion", "random",
    }  # fmt: skip
    assert {row["n"] for row in content["table"]} == {6}
    text = (tmp_path / "report.html").read_text()
    read = Page(text)
    assert "assay evaluate --limit 6 --methods" in read.text
    assert not re.search(r"https?:", text)
    assert list((tmp_path / "cache/assay/store").rglob("*.json")), "finished work is kept in the user's cache"


def test_options_reach_the_evaluation(tmp_path: Path) -> None:
    rows = ['{"review": "a fine film", "stars": "positive"}', '{"review": "a dull film", "stars": "negative"}']
    (tmp_path / "mine.jsonl").write_text("\n".join(rows) + "\n")
    done = invoke_in(
        tmp_path,
        *("evaluate", "--data", "mine.jsonl", "--columns", "text=review,label=stars", "--methods", "occlusion,random"),
        *("--metrics", "sufficiency,top_k_mass(k=1)", "--protocol", "thesis", "--removal", "unk", "--units", "word"),
        *("--target", "gold", "--seed", "7", "--store", "s", "--batch-tokens", "64", "--report", "r.html"),
        *("--json", "o.json"),
    )
    assert done.exit_code == 0, done.stderr
    settings = found(tmp_path / "o.json")["settings"]
    assert list(settings["metrics"]) == ["sufficiency(protocol=thesis)", "top_k_mass(k=1)"]
    assert (settings["units"], settings["target"], settings["seed"]) == ("word", "gold", 7)
    assert settings["removal"].endswith("unk")
    assert (tmp_path / "r.html").exists()
    assert list((tmp_path / "s").rglob("*.json"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "lime,occlusio"], ["unknown method 'occlusio'", "did you mean 'occlusion'"]),
        (["--metrics", "sufficency"], ["unknown metric 'sufficency'", "did you mean 'sufficiency'"]),
        (["--protocol", "eraserr"], ["unknown protocol 'eraserr'", "did you mean 'eraser'"]),
        (["--target", "positive"], ["--target", "positive", "predicted", "gold"]),
        (["--data", "nope.jsonl"], ["no file or folder 'nope.jsonl'"]),
        (["--methods", ","], ["methods=[]", "assay list methods"]),
        (["--limit", "0"], ["0 examples requested", "at least 1"]),
        (["--report", "no/such/r.html"], ["cannot write no/such/r.html", "does not exist"]),
        (["--json", "."], ["cannot write .", "Name another file"]),
        (["--labels", "positive"], ["the model has 2 classes (negative, positive), but labels names 1"]),
        (["--columns", "review"], ["cannot read 'review'", "text=review"]),
    ],
)
def test_bad_options_end_in_a_sentence(
    arguments: list[str], words: list[str], refused: Refused, tmp_path: Path
) -> None:
    said = refused("evaluate", "--limit", "2", *arguments, cwd=tmp_path)
    for word in words:
        assert word in said
    assert not (tmp_path / "report.html").exists()


@pytest.mark.kill
def test_a_killed_run_goes_on_and_ends_with_the_identical_table(tmp_path: Path) -> None:
    """Records that were written stay as they are, file by file, and the rest is what an undisturbed run finds."""
    texts = [f"film number {i} is a modest pleasure that accomplishes {i % 7} of its goals" for i in range(200)]
    rows = [json.dumps({"text": text, "label": "positive"}) for text in texts]
    (tmp_path / "data.jsonl").write_text("\n".join(rows) + "\n")
    command = ("--data", "data.jsonl", "--methods", "lime(samples=60),occlusion,random", "--metrics",
               "sufficiency,log_odds", "--store")  # fmt: skip
    victim = subprocess.Popen(
        [*ASSAY, "evaluate", *command, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.time() + 600
    while time.time() < deadline and not _records(tmp_path / "killed") and victim.poll() is None:
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    kept = _records(tmp_path / "killed")
    assert 0 < len(kept) < 4, "the kill must come in the middle"
    assert run(*command, "killed", "--json", "killed.json", cwd=tmp_path).returncode == 0
    assert run(*command, "whole", "--json", "whole.json", cwd=tmp_path).returncode == 0
    after = _records(tmp_path / "killed")
    assert len(after) == 4
    assert {name: after[name] for name in kept} == kept, "what was stored is not computed again"
    assert found(tmp_path / "killed.json") == found(tmp_path / "whole.json")
    assert set(after) == set(_records(tmp_path / "whole"))


def _records(store: Path) -> dict[str, tuple[int, int]]:
    """Finished records; a record written anew would be another file."""
    found = [path for path in store.rglob("*.json") if path.parent.name != "runs"]  # notes of runs are no records
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def test_list_metrics_shows_direction_range_paper_and_weakness(tmp_path: Path) -> None:
    done = invoke_in(tmp_path, "list", "metrics", "--long")
    for word in ("sufficiency", "lower is better", "range -1 .. 1", "paper: DeYoung et al. 2020", "weakness: ",
                 "token_f1", "mean over fractions k of", "top_k_mass"):  # fmt: skip
        assert word in done.stdout
