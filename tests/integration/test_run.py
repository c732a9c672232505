"""`assay run`, `status` and `report` as a user meets them: real processes and the example of docs/runs.md."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ASSAY = [sys.executable, "-m", "assay"]
ENV = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "HF_HUB_OFFLINE": "1"}
DOCS = Path(__file__).parents[2] / "docs" / "runs.md"


def assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ASSAY, *arguments], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=900)


def rows(store: Path) -> dict[str, object]:
    return {path.name: json.loads(path.read_text())["rows"] for path in store.glob("??/*.json")}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The plan of the user's guide, run."""
    folder = tmp_path_factory.mktemp("run")
    (found,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (folder / "plan.yaml").write_text(found)
    return folder, assay("run", "plan.yaml", "--store", "store", "--threads", "1", cwd=folder)


def test_the_example_of_the_guide(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = ran
    assert done.returncode == 0, done.stderr
    assert "first steps: 5 jobs: 5 done" in done.stdout
    looked = assay("status", "plan.yaml", "--store", "store", cwd=folder)
    assert "first steps: 5 jobs: 5 done" in looked.stdout
    assert re.search(r"own_data +small\(seed=1\) +1", looked.stdout)


def test_its_report(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = ran
    done = assay("report", "plan.yaml", "--store", "store", "--output", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    table = list(csv.DictReader((folder / "out" / "evaluate.csv").open()))
    assert {(row["method"], row["metric"]) for row in table} >= {("lime(samples=100)", "auprc")}
    assert len(table) == 9
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in table)
    tidy = json.loads((folder / "out" / "rows.json").read_text())
    mean = [r["value"] for r in tidy if r["study"] == "evaluate" and r["method"] == "random" and r["metric"] == "auprc"]
    (shown,) = [float(r["value"]) for r in table if (r["method"], r["metric"]) == ("random", "auprc")]
    assert abs(sum(mean) / len(mean) - shown) < 1e-12
    assert "first steps" in (folder / "out" / "index.html").read_text()
    assert len(list((folder / "out" / "own_data").glob("*.html"))) == 2


def test_a_bad_plan_ends_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("data: [builtin]\nmodels: [builtin]\nstudies: {evaluate: {metrcs: [auprc]}}\n")
    done = assay("run", "plan.yaml", "--store", "s", cwd=tmp_path)
    assert done.returncode == 2
    assert "plan.yaml, studies.evaluate: there is no 'metrcs' here; did you mean 'metrics'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_run_of_hundreds_of_real_jobs_killed_ten_times_ends_with_the_same_table(tmp_path: Path) -> None:
    """Small evaluations of the built-in model and trainings, each process killed (SIGKILL) at a random moment."""
    data = [f"  d{i}: {{source: builtin, limit: 2, seed: {i}}}" for i in range(220)]
    text = (
        "data:\n  all: builtin\n"
        + "\n".join(data)
        + """
models:
  ready: builtin
  tiny:
    train: bert(layers=1, width=16, heads=2, vocabulary=120, positions=128)
    on: all
    recipe: recipe(epochs=4, batch_size=8)
    seeds: [0, 1, 2]
studies:
  evaluate: {methods: [occlusion, random], metrics: [sufficiency, auprc]}
"""
    )
    (tmp_path / "plan.yaml").write_text(text.replace("studies:\n  evaluate: {", "studies:\n  evaluate: {models: ready, ")
                                        + "  own: {kind: evaluate, models: tiny, data: all, methods: [random]}\n")  # fmt: skip
    command = ["run", "plan.yaml", "--threads", "1", "--store"]
    whole = assay(*command, "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    moments, seen = random.Random(3), [0]
    for _ in range(10):
        victim = subprocess.Popen([*ASSAY, *command, "killed"], cwd=tmp_path, env=ENV, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)  # fmt: skip
        deadline, want = time.time() + 300, seen[-1] + moments.randint(0, 12)
        while time.time() < deadline and len(rows(tmp_path / "killed")) <= want and victim.poll() is None:
            time.sleep(moments.uniform(0.005, 0.1))
        assert victim.poll() is None, "it was still running"
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        seen.append(len(rows(tmp_path / "killed")))
    assert assay(*command, "killed", cwd=tmp_path).returncode == 0
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    assert len(rows(tmp_path / "whole")) > 150
