"""`assay run`, `status` and `report` as a user meets them: real processes and the example of docs/runs.md."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from assay.experiments.store import Store

from .conftest import Outcome, invoke

ASSAY = [sys.executable, "-m", "assay"]
ENV = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "HF_HUB_OFFLINE": "1"}
DOCS = Path(__file__).parents[2] / "docs" / "runs.md"

HUNDREDS = """
models:
  ready: builtin
  tiny:
    train: bert(layers=1, width=16, heads=2, vocabulary=120, positions=128)
    on: all
    recipe: recipe(epochs=4, batch_size=8)
    seeds: [0, 1, 2]
studies:
  evaluate: {models: ready, methods: [occlusion, random], metrics: [sufficiency, auprc]}
  own: {kind: evaluate, models: tiny, data: all, methods: [random]}
"""


def assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ASSAY, *arguments], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=900)


def here(*arguments: str) -> Outcome:
    """A command in this process, which has imported everything already."""
    return invoke(*arguments)


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
    assert "first steps: 6 jobs: 6 done" in done.stdout
    looked = here("status", str(folder / "plan.yaml"), "--store", str(folder / "store"))
    assert "first steps: 6 jobs: 6 done" in looked.stdout
    assert re.search(r"own_data +small\(seed=1\) +1", looked.stdout)


def test_its_report(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = ran
    plan, store, output = (str(folder / name) for name in ("plan.yaml", "store", "out"))
    done = here("report", plan, "--store", store, "--output", output, "--figure-format", "svg")
    assert done.exit_code == 0, done.output
    table = list(csv.DictReader(io.StringIO((folder / "out" / "evaluate.csv").read_text())))
    assert {(row["method"], row["metric"]) for row in table} >= {("lime(samples=100)", "auprc")}
    assert len(table) == 12
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in table)
    tidy = json.loads((folder / "out" / "rows.json").read_text())
    mean = [r["value"] for r in tidy if r["study"] == "evaluate" and r["method"] == "random" and r["metric"] == "auprc"]
    (shown,) = [float(r["value"]) for r in table if (r["method"], r["metric"]) == ("random", "auprc")]
    assert abs(sum(mean) / len(mean) - shown) < 1e-12
    assert "first steps" in (folder / "out" / "index.html").read_text()
    assert len(list((folder / "out" / "own_data").glob("*.html"))) == 2
    drawn = {
        study: (folder / "out" / "figures" / study / "by model.svg").read_text() for study in ("evaluate", "own_data")
    }
    assert "each of 2 trainings" in drawn["own_data"]
    assert "trainings" not in drawn["evaluate"]  # of a model from outside


def test_its_pack_is_reported_elsewhere(ran: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """Nothing is run again, and the pages of models trained there are the same though the weights stayed there."""
    folder, _ = ran
    plan, store, file, other = str(folder / "plan.yaml"), str(folder / "store"), tmp_path / "p.xz", str(tmp_path / "s")
    packed = here("pack", plan, "--store", store, "--output", str(file))
    assert f"wrote {file}: 6 of 6 jobs" in packed.output
    assert "6 records, 6 of them new" in here("unpack", str(file), "--store", other).output
    assert "0 of 6 jobs would run" in here("run", plan, "--store", other, "--dry-run").output
    for kept, name in ((store, "a"), (other, "b")):
        assert here("report", plan, "--store", kept, "--output", str(tmp_path / name)).exit_code == 0
    pages = [{p.relative_to(tmp_path / n): p.read_text() for p in (tmp_path / n).rglob("*.csv")} for n in "ab"]
    assert pages[0] == pages[1]
    assert len(list((tmp_path / "b" / "own_data").glob("*.html"))) == 2
    assert here("unpack", plan, "--store", other).exit_code != 0


def test_a_repeated_training_that_gave_other_weights_is_said(
    ran: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Records name a training, not its weights: they may be about two models, as after a move to another machine."""
    folder, _ = ran
    store, index = Store(tmp_path / "store"), tmp_path / "out" / "index.html"
    shutil.copytree(folder / "store", store.folder)
    report = ("report", str(folder / "plan.yaml"), "--store", str(store.folder), "--output", str(tmp_path / "out"))
    records = [store.get(path.stem) for path in store.folder.glob("??/*.json")]
    weights = {r.provenance["weights"]: r for r in records if r is not None and "weights" in r.provenance}
    trained = {r.rows["model"]["fingerprint"] for r in records if r is not None and r.spec["kind"] == "train"}
    assert set(weights) == trained
    assert len(trained) == 2
    assert here(*report).exit_code == 0
    assert "sets of weights" not in index.read_text()
    other = next(iter(weights.values()))
    store.put(replace(other, provenance={**other.provenance, "weights": "others"}))
    plan = (folder / "plan.yaml").read_text().replace("  own_data:", "  more: {kind: evaluate, models: small, data: "
        "trained_on, methods: [gradient]}\n  own_data:")  # fmt: skip
    (tmp_path / "plan.yaml").write_text(plan)
    assert here("run", str(tmp_path / "plan.yaml"), "--store", str(store.folder), "--threads", "1").exit_code == 0
    assert here("report", str(tmp_path / "plan.yaml"), *report[2:]).exit_code == 0
    assert index.read_text().count("its records come from 2 sets of weights") == 1


def test_a_failed_job_is_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    """An empty text cannot be explained; the other data set is done all the same."""
    (tmp_path / "bad.jsonl").write_text('{"text": "", "label": "positive"}\n')
    plan = f"data: {{good: {{source: builtin, limit: 2}}, bad: {tmp_path / 'bad.jsonl'}}}\nmodels: [builtin]\n"
    (tmp_path / "plan.yaml").write_text(plan + "studies: {evaluate: {methods: [random], metrics: [sufficiency]}}\n")
    arguments = (str(tmp_path / "plan.yaml"), "--store", str(tmp_path / "s"))
    done = here("run", *arguments)
    assert done.exit_code == 1
    assert "plan: 2 jobs: 1 done, 1 failed" in done.output
    assert re.search(r"failed: evaluate builtin bad 0-1: input 0: .*traceback in .*/failed/\w+\.json", done.output)
    looked = here("status", *arguments)
    assert looked.exit_code == 0
    assert "failed: evaluate builtin bad 0-1" in looked.output
    assert "1 of 2 jobs would run" in here("run", *arguments, "--dry-run").output


@pytest.mark.kill
def test_a_run_of_hundreds_of_real_jobs_killed_ten_times_ends_with_the_same_table(tmp_path: Path) -> None:
    """Small evaluations of the built-in model and trainings, each process killed (SIGKILL) at a random moment."""
    data = [f"  d{i}: {{source: builtin, limit: 2, seed: {i}}}" for i in range(220)]
    (tmp_path / "plan.yaml").write_text("data:\n  all: builtin\n" + "\n".join(data) + HUNDREDS)
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


TRAININGS = """
data: {cues: {source: augmented(builtin), limit: 4, seed: 0}}
models:
  small:
    train: bert(layers=1, width=32, heads=2, vocabulary=300, positions=128)
    on: cues
    recipe: recipe(epochs=EPOCHS, learning_rate=1e-3, batch_size=4)
    seeds: [0, 1]
studies:
  evaluate: {models: small, methods: [occlusion, random], metrics: [sufficiency]}
"""


@pytest.mark.kill
def test_a_training_killed_inside_a_plan_goes_on_and_ends_with_the_same_table(tmp_path: Path) -> None:
    """SIGKILL in the middle of the second training: the first is not repeated, the second goes on."""
    (tmp_path / "plan.yaml").write_text(TRAININGS.replace("EPOCHS", "60"))
    command = ["run", "plan.yaml", "--threads", "1", "--store"]
    assert assay(*command, "whole", cwd=tmp_path).returncode == 0
    folder = tmp_path / "killed"
    victim = subprocess.Popen([*ASSAY, *command, "killed"], cwd=tmp_path, env=ENV, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and victim.poll() is None:
        if rows(folder) and list(folder.glob("artifacts/*.part/checkpoint.pt")):  # one trained, the other has begun
            break
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL, "it was still at work"
    before = {path: path.stat().st_mtime_ns for path in folder.glob("??/*.json")}
    (begun,) = folder.glob("artifacts/*.part")
    again = assay(*command, "killed", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert f"plan: 4 jobs: 4 done, {len(before)} of them before this run" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what was done was not done again"
    assert not begun.exists(), "the folder of the killed training became that of the finished one"
    assert rows(folder) == rows(tmp_path / "whole")
