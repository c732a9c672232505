"""The results page: runs of a store, their states while they run, and two evaluations side by side."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.experiments.runs import Run, RunJob, all_runs, is_running, noted
from assay.experiments.store import Record, Store
from assay.web.results import numbers
from assay.web.results.part import results_part
from assay.web.results.state import state_of
from toys import bert
from unit.web.clients import Client, application, seen

METHODS, METRICS = ["occlusion", "random"], ["sufficiency", "comprehensiveness"]
TEXTS = ["a good film", "a slow , sad poem", "the plot is thin", "not bad", "it is a good poem", "see it again"]
PLAN = """
name: small plan
models: {tiny: builtin}
data: {few: "rows.jsonl"}
studies:
  faithful: {kind: evaluate, methods: [occlusion, random], metrics: [sufficiency]}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "store"
    for seed in (0, 1):
        assay.evaluate(bert(seed), TEXTS, METHODS, METRICS, store=folder, progress=False)
    return folder


@pytest.fixture
def client(store: Path, tmp_path: Path) -> Client:
    return Client(application(tmp_path, results_part(store)))


def test_runs_are_listed_newest_first_and_a_repeated_one_once(client: Client, store: Path) -> None:
    before = [run.id for run in all_runs(Store(store))]
    assay.evaluate(bert(0), TEXTS, METHODS, METRICS, store=store, progress=False)  # again: computes nothing
    runs = all_runs(Store(store))
    assert sorted(run.id for run in runs) == sorted(before)
    assert [run.started for run in runs] == sorted((run.started for run in runs), reverse=True)
    page = client.get("/results")
    assert page.text.count('name="run"') == 2
    assert [page.text.index(run.id) for run in runs] == sorted(page.text.index(run.id) for run in runs)
    assert "belong" not in seen(page)


def test_a_run_shows_the_means_of_the_library(client: Client, store: Path) -> None:
    result = assay.evaluate(bert(1), TEXTS, METHODS, METRICS, store=store, progress=False)
    run = all_runs(Store(store))[0]
    text = seen(client.get(f"/results/{run.id}"))
    rows = list(csv.DictReader(io.StringIO(client.get(f"/results/{run.id}/table.csv").text)))
    assert len(rows) == len(result.table())
    for row in result.table():
        found = next(r for r in rows if (r["method"], r["metric"]) == (row["method"], row["metric"]))
        for ours, theirs in (("mean", "value"), ("low", "low"), ("high", "high")):
            assert float(found[ours]) == pytest.approx(row[theirs], abs=1e-9)
        assert found["better"] == row["better"]
        assert row["method"] in text
    every = list(csv.DictReader(io.StringIO(client.get(f"/results/{run.id}/rows.csv").text)))
    assert len(every) == len(METHODS) * len(METRICS) * len(TEXTS)
    assert client.get(f"/results/{run.id}/figure.svg").text.lstrip().startswith("<?xml")
    assert client.get(f"/results/{run.id}/report").status_code == 404  # no command wrote one


def test_two_evaluations_side_by_side(client: Client, store: Path) -> None:
    second, first = all_runs(Store(store))
    page = client.get("/results/compare", params={"run": [first.id, second.id]})
    assert "paired" in seen(page)
    turned = client.get("/results/compare", params={"run": [second.id, first.id]})  # as the list has them: newest first
    assert seen(turned) == seen(page)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/results/compare.csv?run={first.id}&run={second.id}").text)))
    a, b = (numbers.columns(numbers.records_of(run, Store(store))) for run in (first, second))
    for row in rows:
        name = row["metric"], row["method"]
        assert float(row["difference_value"]) == pytest.approx((b[name].values - a[name].values).mean(), abs=1e-9)
        clear = not float(row["difference_low"]) <= 0 <= float(row["difference_high"])
        assert (row["verdict"] != "no difference shown") == clear
        if row["verdict"] in ("better", "worse"):
            assert abs(float(row["difference_value"])) >= float(row["margin"])
    for chosen, sentence in (([first.id], "choose two"), ([first.id, "0" * 16], "no such page")):
        assert sentence in seen(client.get("/results/compare", params={"run": chosen}))


def evaluation(data: str, values: list[float | None], weights: list[float] | None = None) -> Record:
    rows: dict[str, Any] = {"examples": [str(i) for i in range(len(values))], "values": {"auprc": {"lime": values}}}
    rows |= {"weights": {"auprc": weights}} if weights else {}
    return Record("", {"kind": "evaluate", "data": data}, rows, {})


def test_differences_are_paired_only_on_the_same_examples() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=60)
    first, second = base.tolist(), (base + 0.1 + 0.01 * rng.normal(size=60)).tolist()
    (paired,) = numbers.compare([evaluation("x", first)], [evaluation("x", second)])
    (apart,) = numbers.compare([evaluation("x", first)], [evaluation("y", second)])
    assert paired.paired
    assert not apart.paired
    assert paired.difference.value == pytest.approx(apart.difference.value)
    assert paired.verdict == "better"
    assert apart.verdict == "no difference shown"
    assert paired.difference.high - paired.difference.low < 0.01 < apart.difference.high - apart.difference.low
    # Welch by hand
    variance = np.var(first, ddof=1) / 60 + np.var(second, ddof=1) / 60
    assert apart.difference.high - apart.difference.value == pytest.approx(1.98 * variance**0.5, rel=0.01)


def test_rounding_and_tiny_differences_are_no_verdict() -> None:
    base = np.random.default_rng(1).normal(size=40)
    for shift, verdict in ((1e-8, "no difference shown"), (1e-3, "different, too little to matter"), (-0.2, "worse")):
        (change,) = numbers.compare([evaluation("x", base.tolist())], [evaluation("x", (base + shift).tolist())])
        assert change.verdict == verdict


def test_missing_values_and_weights_count_as_in_the_library() -> None:
    (row,) = numbers.table([evaluation("x", [1.0, None, 4.0], [1.0, 1.0, 3.0])])
    assert row["mean"] == pytest.approx((1 * 1 + 3 * 4) / 4)
    assert row["n"] == 2


def test_a_running_run_is_live_and_a_killed_one_interrupted(store: Path, tmp_path: Path) -> None:
    opened, jobs = (
        Store(tmp_path / "store"),
        tuple(RunJob(f"{i:064x}", f"job {i}", "faithful", "tiny") for i in range(3)),
    )
    run = Run("plan", "a plan that runs", jobs)
    client = Client(application(tmp_path, results_part(opened.folder)))
    events: list[str] = []

    def listen() -> None:
        with client.stream("GET", f"/results/{run.id}/events") as stream:
            events.extend(line for line in stream.iter_lines() if line)

    with noted(run, opened):
        assert is_running(opened, run)
        assert "running" in seen(client.get("/results"))
        listener = threading.Thread(target=listen)
        listener.start()
        time.sleep(0.3)
        opened.put(Record(jobs[0].key, {"kind": "x"}, [{"a": 1}], {}))
        opened.put_note("failed", jobs[1].key, {"error": "it broke in /home/someone/secret"})
        time.sleep(1.5)
    listener.join(timeout=20)
    progress = [json.loads(line.removeprefix("data: ")) for line in events if '"done"' in line]
    assert progress[0]["done"] == 0
    assert progress[-1]["counts"] == {"done": 1, "failed": 1, "missing": 1}
    assert events[-2] == "event: ended"
    assert not is_running(opened, run)
    state = state_of(all_runs(opened)[0], opened)
    assert state.word == "failed"
    text = seen(client.get(f"/results/{run.id}"))
    assert "it broke" in text
    assert "/home/someone" not in text
    (opened.folder / "runs" / f"{run.id}.lock").write_text("left by a process that was killed")
    opened.drop_note("failed", jobs[1].key)
    assert state_of(run, opened).word == "interrupted"


def test_a_plan_is_noted_and_its_report_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": t, "label": "positive"}) + "\n" for t in TEXTS))
    (tmp_path / "plan.yaml").write_text(PLAN)
    status = assay.run("plan.yaml", store="store", progress=False)
    assert status.ok
    (run,) = all_runs(Store(tmp_path / "store"))
    assert (run.kind, run.title, len(run.jobs)) == ("plan", "small plan", len(status.plan.jobs))
    client = Client(application(tmp_path, results_part(tmp_path / "store")))
    page = client.get(f"/results/{run.id}")
    assert "faithful" in seen(page)
    written = client.submit(f"/results/{run.id}/report")
    names = seen(written)
    assert "index.html" in names
    assert "rows.csv" in names
    assert ".svg" in names
    first = client.get(f"/results/{run.id}/files/0")
    assert first.text.startswith("<!doctype html>")
    assert "script-src" not in first.headers["content-security-policy"]
    assert "default-src 'none'" in first.headers["content-security-policy"]
    assert client.get(f"/results/{run.id}/files/9999").status_code == 404


def test_notes_that_are_damaged_or_no_ids_are_not_followed(client: Client, store: Path) -> None:
    (store / "runs" / "0123456789abcdef.json").write_text("{")
    assert client.get("/results").status_code == 200
    assert client.get("/results/0123456789abcdef").status_code == 404
    for evil in ("..%2f..%2fetc%2fpasswd", "../../etc/passwd", "x" * 16):
        assert client.get(f"/results/{evil}").status_code in (404, 422)


def test_an_empty_store(tmp_path: Path) -> None:
    client = Client(application(tmp_path, results_part(tmp_path / "nothing")))
    assert "Nothing has been run" in seen(client.get("/results"))


def test_results_need_the_token_or_an_account(store: Path, tmp_path: Path) -> None:
    run = all_runs(Store(store))[0]
    client = Client(application(tmp_path, results_part(store), access="accounts"))
    for address in ("/results", f"/results/{run.id}", f"/results/{run.id}/rows.csv", "/results/compare"):
        assert client.get(address, follow_redirects=False).headers["location"].startswith("/login")
