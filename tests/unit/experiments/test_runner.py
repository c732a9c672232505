"""Jobs, needs, failures, skips, artefacts and resume, with toys for jobs."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from assay.api.run import run
from assay.api.status import status
from assay.core.errors import SpecError, StoreError
from assay.experiments.scheduler import Scheduler, State
from assay.experiments.store import Store
from unit.experiments.toy import Toy, job, plan


def rows(store: Path) -> dict[str, object]:
    return {path.name: json.loads(path.read_text())["rows"] for path in store.glob("??/*.json")}


def test_a_second_run_does_nothing(tmp_path: Path) -> None:
    jobs = [job(i) for i in range(5)]
    first = run(plan(*jobs), store=tmp_path)
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.glob("??/*.json")}
    second = run(plan(*jobs), store=tmp_path)
    assert (first.before, second.before) == (0, 5)
    assert first.ok
    assert second.states == dict.fromkeys([j.key for j in jobs], State.done)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.glob("??/*.json")} == stamps
    assert len(stamps) == 5


def test_a_failure_is_written_down_blocks_its_dependants_and_is_tried_again(tmp_path: Path) -> None:
    switch = tmp_path / "broken"
    switch.touch()
    bad = job(1, artifact=True, fails_while=str(switch))
    child, grandchild, other = job(2, [bad], artifact=True), job(3), job(4)
    grandchild = job(3, [child])
    whole = plan(bad, child, grandchild, other)
    found = run(whole, store=tmp_path / "s")
    assert [found.states[j.key] for j in (bad, child, grandchild, other)] == ["failed", "blocked", "blocked", "done"]
    assert not found.ok
    note = Store(tmp_path / "s").note("failed", bad.key)
    assert note is not None
    assert note["error"] == "number 1 is bad"
    assert "InputError" in note["traceback"]
    assert "toy.py" in note["traceback"]
    assert not Store(tmp_path / "s").has(bad.key), "a failure is not finished"
    looked = status(whole, store=tmp_path / "s")
    assert looked.states == found.states
    assert looked.reasons[grandchild.key] == looked.reasons[child.key] == f"{bad.name}: number 1 is bad"
    switch.unlink()
    again = run(whole, store=tmp_path / "s")
    assert set(again.states.values()) == {State.done}
    assert again.before == 1
    assert Store(tmp_path / "s").note("failed", bad.key) is None


def test_a_model_under_its_rule_is_reported_and_not_explained(tmp_path: Path) -> None:
    """Skipped jobs have a note that says why; another rule, and they run: a note is no result."""
    train = job(1, artifact=True, accuracy=0.59)
    strict = job(2, [train], rule="accuracy >= chance + 0.1")
    found = run(plan(train, strict), store=tmp_path)
    assert found.ok
    assert found.states[strict.key] is State.skipped
    note = Store(tmp_path).note("skipped", strict.key)
    assert note is not None
    assert note["reason"] == "validation accuracy is 0.5900, but accuracy >= chance + 0.1 (0.6000) is required"
    assert not Store(tmp_path).artifacts.has(train.key)
    before = Store(tmp_path).path(train.key).stat().st_mtime_ns
    assert run(plan(train, strict), store=tmp_path).states[strict.key] is State.skipped
    assert Store(tmp_path).path(train.key).stat().st_mtime_ns == before, "nothing is trained for a skipped job"
    loose = job(2, [train], rule="accuracy >= chance + 0.05")
    assert loose.key == strict.key
    assert run(plan(train, loose), store=tmp_path).states[loose.key] is State.done
    assert Store(tmp_path).note("skipped", loose.key) is None


def test_artefacts_live_as_long_as_they_are_needed(tmp_path: Path) -> None:
    store, switch = Store(tmp_path / "s"), tmp_path / "broken"
    made, last = job(1, artifact=True), job(9, artifact=True)
    users = [job(2, [made]), job(3, [made], fails_while=str(switch))]
    switch.touch()
    run(plan(made, *users, last), store=store.folder)
    assert store.artifacts.has(made.key), "a failed job will want it again"
    assert store.artifacts.has(last.key), "what nobody needs is a product"
    switch.unlink()
    run(plan(made, *users, last), store=store.folder)
    assert not store.artifacts.has(made.key)
    assert [p.name for p in store.artifacts.kept_files(made.key).iterdir()] == ["small.json"]
    more = job(4, [made])
    found = run(plan(made, *users, more), store=store.folder, keep=True)
    assert found.states[more.key] is State.done, "it was built again for a new job"
    record = store.get(more.key)
    assert record is not None
    assert record.rows["read"] == ["made by 1"]
    assert store.artifacts.has(made.key), "--keep"
    assert not list(store.artifacts.folder.glob("*.part*"))


def test_a_worker_keeps_to_its_model_and_away_from_those_of_others(tmp_path: Path) -> None:
    from assay.experiments.job import Job
    from assay.experiments.references import ExternalModel

    def of(model: str, n: int) -> Job:
        return Job(Toy(n), {"n": n, "m": model}, {"study": "s", "model": model}, ExternalModel(model, model))

    jobs = [of(model, n) for n in range(3) for model in "ab"]
    scheduler = Scheduler({j.key: j for j in jobs}, Store(tmp_path))
    first = scheduler.take(None)
    assert first is not None
    second = scheduler.take(None, {first.group})
    assert second is not None
    assert second.group != first.group
    assert [scheduler.take(first.group).group for _ in range(2)] == [first.group] * 2  # type: ignore[union-attr]
    third = scheduler.take(first.group, {second.group})
    assert third is not None, "without work of its own it helps the other"
    assert third.group == second.group


@pytest.mark.kill
def test_killed_ten_times_at_random_moments_the_table_is_the_same(tmp_path: Path) -> None:
    """Hundreds of jobs, a third with artefacts that others need; a fork stands for a process of its own."""
    made = [job(i, artifact=True, seconds=0.004) for i in range(100)]
    whole = plan(*made, *(job(1000 + i, [made[i // 2]], seconds=0.004) for i in range(200)))
    run(whole, store=tmp_path / "whole", progress=False)
    fork, moments = get_context("fork"), random.Random(7)
    kills = 0
    while kills < 10:
        child = fork.Process(target=run, args=(whole,), kwargs={"store": tmp_path / "killed", "progress": False})
        child.start()
        time.sleep(moments.uniform(0.02, 0.3))
        child.kill()
        child.join()
        kills += child.exitcode == -9
        if child.exitcode == 0:
            pytest.fail("the run ended before it was killed often enough")
    between = len(rows(tmp_path / "killed"))
    assert 0 < between < 300, "the kills came in the middle"
    found = run(whole, store=tmp_path / "killed", progress=False)
    assert found.before == between, "nothing finished is lost"
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    assert len(rows(tmp_path / "whole")) == 300
    leftovers = [p.name for p in (tmp_path / "killed" / "artifacts").iterdir() if not p.name.endswith(".kept")]
    assert leftovers == []


# --- a store that fails ------------------------------------------------------------------------------------------


@contextmanager
def mounted(*arguments: str, folder: Path) -> Iterator[None]:
    if subprocess.run(["mount", *arguments, str(folder)], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_the_run_names_the_file_and_loses_nothing(tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=128k", "tmpfs", folder=tmp_path):
        whole = plan(*(job(i) for i in range(200)))
        with pytest.raises(StoreError, match=rf"cannot write the record {tmp_path}.*json: No space left on device"):
            run(whole, store=tmp_path)
        kept = rows(tmp_path)
        assert 5 < len(kept) < 200
        assert not list(tmp_path.rglob("*.part"))
        subprocess.run(["mount", "-o", "remount,size=8m", str(tmp_path)], check=True)
        assert run(whole, store=tmp_path).before == len(kept), "with more room it goes on"
        assert kept.items() <= rows(tmp_path).items()
        assert len(rows(tmp_path)) == 200


def test_a_full_disk_while_an_artefact_is_written(tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=64k,nr_inodes=40", "tmpfs", folder=tmp_path):
        with pytest.raises(StoreError, match=rf"cannot write the (artefact|record) {tmp_path}.*: No space left"):
            run(plan(*(job(i, artifact=True) for i in range(200))), store=tmp_path)
        done = [p for p in (tmp_path / "artifacts").iterdir() if p.suffix == ""]
        assert all((p / "it.txt").read_text().startswith("made by") for p in done), "what has its name is complete"


def test_a_read_only_store_is_named_before_any_work(tmp_path: Path) -> None:
    run(plan(job(1)), store=tmp_path)
    with mounted("--bind", "-o", "ro", str(tmp_path), folder=tmp_path):
        if subprocess.run(["touch", str(tmp_path / "x")], capture_output=True).returncode == 0:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(tmp_path)], check=True)
        assert run(plan(job(1)), store=tmp_path).ok, "reading is allowed"
        with pytest.raises(StoreError, match=rf"cannot write the store {tmp_path}.*: Read-only file system"):
            run(plan(job(1), job(2, dies=True)), store=tmp_path)  # it would die if it were run


@pytest.mark.parametrize("content", ['{"key": "half', "[]", '{"key": 1}', ""])
def test_a_corrupt_record_is_named_before_any_work(tmp_path: Path, content: str) -> None:
    one, two = job(1), job(2)
    run(plan(one, two), store=tmp_path)
    Store(tmp_path).path(one.key).write_text(content)
    with pytest.raises(StoreError, match=rf"cannot read the record .*{one.key}\.json: .*delete that file"):
        run(plan(one, two, job(3, dies=True)), store=tmp_path)
    Store(tmp_path).path(one.key).unlink()
    assert run(plan(one, two), store=tmp_path).before == 1


def test_a_record_with_another_number_in_it_is_corrupt(tmp_path: Path) -> None:
    run(plan(job(1)), store=tmp_path)
    path = Store(tmp_path).path(job(1).key)
    path.write_text(path.read_text().replace('"number": 1', '"number": 7'))
    with pytest.raises(StoreError, match="not what was written"):
        run(plan(job(1)), store=tmp_path)


def test_engines_say_what_they_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"--workers 2: the local engine is one worker.*--engine ray"):
        run(plan(job(1)), store=tmp_path, workers=2)
    with pytest.raises(SpecError, match="unknown engine 'rya'; did you mean 'ray'"):
        run(plan(job(1)), store=tmp_path, engine="rya")
