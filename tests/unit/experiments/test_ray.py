"""The Ray engine with a real Ray on this machine: the same rows, and dead workers cost nothing but time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import assay
import toys
from assay.api.run import run
from assay.core.errors import AssayError, StoreError
from assay.experiments.scheduler import State
from assay.experiments.store import Store
from assay.models.load import save_model
from unit.experiments.test_runner import mounted, rows
from unit.experiments.toy import job, plan
from unit.studies import test_roar as roar
from unit.studies import test_simulate as simulate

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # workers take seconds to start; Ray warns

TESTS = str(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """One Ray for all tests: an existing cluster, as far as the engine can see."""
    ray = pytest.importorskip("ray", reason="needs the extra: pip install 'assay[ray]'")
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  its default of 15 starves workers on a busy machine
    if TESTS not in sys.path:
        sys.path.insert(0, TESTS)
    path = os.pathsep.join(sys.path)
    found = ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error",
        object_store_memory=2**27, runtime_env={"env_vars": {"PYTHONPATH": path}},
    )  # fmt: skip
    yield found["gcs_address"] if isinstance(found, dict) else found.address_info["gcs_address"]
    ray.shutdown()


def pids(store: Path) -> set[int]:
    return {json.loads(path.read_text())["provenance"]["pid"] for path in store.glob("??/*.json")}


def test_the_same_rows_as_the_local_engine_and_a_killed_worker_costs_only_time(cluster: str, tmp_path: Path) -> None:
    def whole(flag: Path | None) -> object:
        made = [job(i, artifact=True) for i in range(6)]
        kill = {} if flag is None else {"dies_once": str(flag)}
        users = [job(100 + i, [made[i % 6]], seconds=0.05, **(kill if i == 7 else {})) for i in range(18)]
        return plan(*made, *users)

    flag = tmp_path / "died"
    local = run(whole(None), store=tmp_path / "local", progress=False)  # type: ignore[arg-type]
    found = run(whole(flag), store=tmp_path / "ray", engine="ray", workers=2, progress=False)  # type: ignore[arg-type]
    assert flag.exists(), "a worker was killed with SIGKILL"
    assert found.states == local.states
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")
    assert os.getpid() not in pids(tmp_path / "ray")
    assert len(pids(tmp_path / "ray")) >= 2, "two workers shared the work"


def test_failures_blocks_and_jobs_that_kill_every_worker(cluster: str, tmp_path: Path) -> None:
    switch = tmp_path / "broken"
    switch.touch()
    bad, deadly = job(1, artifact=True, fails_while=str(switch)), job(2, dies=True)
    child, good = job(3, [bad]), job(4)
    found = run(plan(bad, deadly, child, good), store=tmp_path / "s", engine="ray", workers=2, progress=False)
    assert [found.states[j.key] for j in (bad, deadly, child, good)] == ["failed", "failed", "blocked", "done"]
    assert found.reasons[bad.key] == "number 1 is bad"
    assert "worker died 3 times" in found.reasons[deadly.key]
    note = Store(tmp_path / "s").note("failed", bad.key)
    assert note is not None
    assert "toy.py" in note["traceback"]
    switch.unlink()
    again = run(plan(bad, child, good), store=tmp_path / "s", engine="ray", workers=1, progress=False)
    assert set(again.states.values()) == {State.done}


def test_a_full_disk_ends_a_ray_run_too(cluster: str, tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=128k", "tmpfs", folder=tmp_path):
        with pytest.raises(StoreError, match=r"cannot write the record .*json: No space left on device"):
            run(plan(*(job(i) for i in range(200))), store=tmp_path, engine="ray", workers=2, progress=False)
        assert len(rows(tmp_path)) > 5


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AssayError, match=r"pip install 'assay\[ray\]'"):
        run(plan(job(1)), store=tmp_path, engine="ray")


def test_a_ray_that_does_not_start_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray raises a bare Exception when it takes more than 30 seconds."""

    def start(**options: object) -> None:
        raise Exception("The current node timed out during startup.")

    slow = SimpleNamespace(is_initialized=lambda: False, init=start)
    monkeypatch.setitem(sys.modules, "ray", slow)  # type: ignore[arg-type]
    with pytest.raises(AssayError, match=r"cannot start or reach Ray at this machine: The current node timed out"):
        run(plan(job(1)), store=tmp_path, engine="ray")


def test_the_graph_of_roar(cluster: str, tmp_path: Path) -> None:
    """Steps that wait for models and masks of other workers: the same answers as the local engine, and nothing left."""
    data = roar.write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    for engine, more in (("local", {}), ("ray", {"workers": 2})):
        store = Store(tmp_path / engine)
        found = roar.planned(store, roar.asked(data, both=False, step=50))
        assert run(found, store=store.folder, engine=engine, threads=1, progress=False, **more).ok  # type: ignore[arg-type]
        assert not [p for p in (store.folder / "artifacts").iterdir() if not p.name.endswith(".kept")]
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")


def test_the_graph_of_simulability(cluster: str, tmp_path: Path) -> None:
    """Explanations, heads and students of different workers: the same answers as the local engine."""
    save_model(toys.bert(seed=3), tmp_path / "teacher")
    texts = {" ".join(np.random.default_rng(i).choice(toys.WHOLE, 6)) for i in range(120)}
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(sorted(texts)) + "\n")
    settings = {"student": "untrained", "sizes": (10,), "seeds": 2, "recipe": simulate.QUICK}
    for engine, more in (("local", {}), ("ray", {"workers": 2})):
        store, methods = tmp_path / engine, "attention_logits, scaffold"
        planned = assay.simulate_plan(
            str(tmp_path / "teacher"), str(tmp_path / "texts.csv"), methods, store=store, **settings
        )
        assert run(planned, store=store, engine=engine, threads=1, progress=False, **more).ok  # type: ignore[arg-type]
    assert rows(tmp_path / "ray") == rows(tmp_path / "local") != {}


KILLED = """
import os, signal, subprocess, sys, threading, time
from assay.api.run import run
from unit.experiments.toy import job, plan

def kill() -> None:
    while not list(__import__("pathlib").Path(sys.argv[1]).glob("??/*.json")):
        time.sleep(0.2)
    lines = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True).stdout.splitlines()
    for pid, parent, name in (line.split(None, 2) for line in lines):
        if int(parent) == os.getpid() and name.split()[0].endswith("/raylet"):
            os.kill(int(pid), signal.SIGKILL)

threading.Thread(target=kill, daemon=True).start()
run(plan(*(job(i, seconds=1.0) for i in range(200))), store=sys.argv[1], engine="ray", workers=1, progress=False)
"""


def test_a_ray_that_died_ends_the_run_and_says_how_to_resume(tmp_path: Path) -> None:
    """Without its raylet, Ray's own calls would wait for ever."""
    pytest.importorskip("ray", reason="needs the extra: pip install 'assay[ray]'")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([TESTS, *sys.path]), "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "s")], env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 1
    assert "Ray has stopped" in done.stderr
    assert "rerun the same command to resume" in done.stderr
    assert 0 < len(rows(tmp_path / "s")) < 200, "what was done is kept"
