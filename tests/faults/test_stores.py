"""Stores that several processes share, and stores, notes and artefacts that are damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from assay.api.run import run
from assay.api.status import status
from assay.core.errors import StoreError
from assay.experiments.leases import Lease
from assay.experiments.plan import Plan
from assay.experiments.scheduler import State
from assay.experiments.store import Record, Store, key_of, to_text
from unit.experiments.toy import job, plan

FORK = multiprocessing.get_context("fork")


def shared_plan() -> Plan:
    """Six models, each needed by three jobs."""
    models = [job(i, artifact=True, seconds=0.01) for i in range(6)]
    return plan(*models, *(job(100 + i, [models[i % 6]], seconds=0.004) for i in range(18)))


def _run(store: Path, delay: float, ended: Any) -> None:
    time.sleep(delay)
    ended.put(sorted(set(run(shared_plan(), store=store, progress=False).states.values())))


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_two_runs_in_one_store_both_end_well(tmp_path: Path, delay: float) -> None:
    """One must not delete a model that the other still needs; the last one deletes it."""
    ended = FORK.SimpleQueue()
    runs = [FORK.Process(target=_run, args=(tmp_path, wait, ended)) for wait in (0.0, delay)]
    for process in runs:
        process.start()
    for process in runs:
        process.join(60)
    assert [process.exitcode for process in runs] == [0, 0]
    assert [ended.get(), ended.get()] == [["done"], ["done"]]
    assert [p.name for p in (tmp_path / "artifacts").iterdir() if not p.name.endswith(".kept")] == []


def test_a_killed_run_holds_nothing(tmp_path: Path) -> None:
    whole = shared_plan()
    model = next(key for key, one in whole.jobs.items() if one.artifact)
    victim = FORK.Process(target=_hold, args=(tmp_path / "artifacts", model))
    victim.start()
    while not list((tmp_path / "artifacts").glob("*.lease")) and victim.is_alive():
        time.sleep(0.005)
    assert run(whole, store=tmp_path, progress=False).ok
    assert Store(tmp_path).artifacts.has(model), "a living process needs it"
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    assert run(whole, store=tmp_path, progress=False).ok
    assert not Store(tmp_path).artifacts.has(model)
    assert not list((tmp_path / "artifacts").glob("*.lease"))


def _hold(folder: Path, key: str) -> None:
    with Lease(folder, [key]).held():
        time.sleep(60)


def test_a_truncated_artefact_is_rebuilt(tmp_path: Path) -> None:
    model = job(1, artifact=True)
    assert run(plan(model), store=tmp_path).ok
    store = Store(tmp_path)
    file = store.artifacts.path(model.key) / "it.txt"
    file.write_text(file.read_text()[:3])
    assert not store.artifacts.has(model.key)
    user = job(2, [model])
    assert set(run(plan(model, user), store=tmp_path, keep=True).states.values()) == {State.done}
    found = store.get(user.key)
    assert found is not None
    assert found.rows["read"] == ["made by 1"]


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_checksum_covers_the_whole_record_and_old_records_are_read(tmp_path: Path) -> None:
    store, key = Store(tmp_path), key_of({})
    store.put(Record(key, {"kind": "test"}, [1, {"2": 3, "10": 4}], {"torch": "2"}))
    good = store.path(key).read_text()
    assert store.get(key) is not None
    for old, new in (('"torch": "2"', '"torch": "3"'), ('"kind": "test"', '"kind": "tost"'), ("[1,", "[2,")):
        assert old in good
        store.path(key).write_text(good.replace(old, new))
        with pytest.raises(StoreError, match="not what was written"):
            store.get(key)
    old_form = {name: value for name, value in json.loads(good).items() if name != "checksum"}
    for check in ({}, {"check": key_of(old_form["rows"])}):  # as earlier versions wrote it
        store.path(key).write_text(json.dumps({**old_form, **check}))
        found = store.get(key)
        assert found is not None
        assert found.provenance == {"torch": "2"}
    store.path(key).write_text(json.dumps({**old_form, "check": "0"}))
    with pytest.raises(StoreError, match="not what was written"):
        store.get(key)


def test_keys_that_are_numbers_do_not_break_the_checksum(tmp_path: Path) -> None:
    store, key = Store(tmp_path), key_of({})
    store.put(Record(key, {}, {2: "a", 10: "b"}, {}))
    assert store.get(key) is not None


@pytest.mark.parametrize("content", ["[]", "3", "null", "{}", '{"error": 3}', "[" * 100_000, "\x00", '{"error": "a"'])
def test_a_note_of_another_form_is_a_sentence(tmp_path: Path, content: str) -> None:
    one = job(1)
    path = Store(tmp_path).note_path("failed", one.key)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(StoreError, match=r"cannot read .*failed.*delete that file"):
        status(plan(one), store=tmp_path)


@pytest.mark.parametrize(
    "rows", [None, [], {}, {"validation": 3}, {"validation": {"accuracy": "x"}, "chance": 1}, 3, "x"]
)
def test_rows_of_another_form_are_a_sentence(tmp_path: Path, rows: object) -> None:
    model = job(1, artifact=True)
    user = job(2, [model], rule="accuracy >= chance + 0.1")
    Store(tmp_path).put(Record(model.key, {}, rows, {}))
    with pytest.raises(StoreError, match=r"the record .* is not of the form that its job writes"):
        run(plan(model, user), store=tmp_path)


def test_a_record_is_one_line_that_ends_with_its_checksum() -> None:
    assert list(json.loads(to_text(Record("k", {}, [], {})))) == ["key", "spec", "rows", "provenance", "checksum"]
