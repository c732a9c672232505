"""`assay run --engine ray` on real models: the same rows as the local engine, on a cluster that was there before."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MINILM = Path("~/.cache/assay-teacher/minilm-sst2").expanduser()
RAY = Path(sys.executable).parent / "ray"
pytestmark = [
    pytest.mark.ray,  # a cluster takes half a minute to start
    pytest.mark.skipif(not RAY.exists(), reason="needs the extra: pip install 'assay[ray]'"),
]
ENV = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
       "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_AUTH_MODE": "token",
       "RAY_AUTH_TOKEN": secrets.token_hex(32),
       "RAY_worker_niceness": "0"}  # 15, its default, starves workers on a busy machine  # fmt: skip
PLAN = """
data:
  first: {source: builtin, limit: 3, seed: 0}
  second: {source: builtin, limit: 3, seed: 1}
models: {minilm: MODEL, tiny: builtin}
studies:
  evaluate: {methods: [gradient, "lime(samples=20)"], metrics: [sufficiency, comprehensiveness]}
  randomisation: {kind: randomise, methods: [gradient], modes: [independent]}
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Address and process of a cluster of this machine, in a group of its own, which ends with the tests."""
    folder = tmp_path_factory.mktemp("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(RAY), "start", "--head", "--block", f"--port={port}", "--num-cpus=2",
               "--include-dashboard=false", "--object-store-memory=134217728", "--disable-usage-stats",
               f"--temp-dir={folder}"]  # fmt: skip
    with (folder / "log").open("w") as log:
        head = subprocess.Popen(command, env=ENV, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + 180
        while "Ray runtime started" not in (folder / "log").read_text():
            assert head.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.5)
        node = re.search(r"Local node IP: (\S+)", (folder / "log").read_text())
        assert node
        yield f"{node[1]}:{port}", head.pid
    finally:
        os.killpg(head.pid, signal.SIGTERM)
        head.wait(60)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan run by the local engine."""
    folder = tmp_path_factory.mktemp("plan")
    model = str(MINILM) if MINILM.is_dir() else "builtin"  # the larger one where there is one
    (folder / "plan.yaml").write_text(PLAN.replace("MODEL", model))
    done = assay("local", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def assay(store: str, *more: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay", "run", "plan.yaml", "--threads", "1", "--store", store, *more]
    return subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=900)


def records(store: Path) -> dict[str, object]:
    return {path.name: json.loads(path.read_text()) for path in store.glob("??/*.json")}


def rows(store: Path) -> dict[str, object]:
    return {name: record["rows"] for name, record in records(store).items()}  # type: ignore[index]


def workers(head: int) -> set[int]:
    """Processes of a cluster that hold our actor: they are children of its raylet."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    lines = (line.split(None, 2) for line in listed.splitlines())
    parent = {int(pid): (int(above), name) for pid, above, name in lines}
    ours = {pid for pid, (above, _) in parent.items() if above == head}
    return {pid for pid, (above, name) in parent.items() if above in ours and name.startswith("ray::RayWorker")}


def test_the_same_rows_on_an_existing_cluster(cluster: tuple[str, int], local: Path) -> None:
    address, _ = cluster
    done = assay("cluster", "--engine", "ray", "--workers", "2", "--address", address, cwd=local)
    assert done.returncode == 0, done.stderr
    assert rows(local / "cluster") == rows(local / "local")
    again = assay("again", "--engine", "ray", "--workers", "1", "--address", address, cwd=local)
    assert again.returncode == 0, "the cluster is still there: it is not ours to end"
    assert rows(local / "again") == rows(local / "local")


def test_a_worker_killed_in_a_run_costs_only_its_job(cluster: tuple[str, int], local: Path) -> None:
    """SIGKILL from outside, as the kernel does when memory runs out."""
    address, head = cluster
    command = [sys.executable, "-m", "assay", "run", "plan.yaml", "--threads", "1", "--store", "struck",
               "--engine", "ray", "--workers", "1", "--address", address]  # fmt: skip
    store = local / "struck"
    running = subprocess.Popen(command, cwd=local, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not records(store) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running.poll() is None, "it was still at work"
    (victim,) = workers(head)
    os.kill(victim, signal.SIGKILL)
    output, errors = running.communicate(timeout=600)
    assert running.returncode == 0, errors
    assert re.search(r"(\d) jobs: \1 done", output)
    assert victim not in workers(head)
    assert rows(store) == rows(local / "local")


def test_an_address_where_nobody_listens_ends_in_a_sentence(local: Path) -> None:
    done = assay("nobody", "--engine", "ray", "--address", "127.0.0.1:1", cwd=local)
    assert done.returncode == 2
    assert "cannot start or reach Ray at 127.0.0.1:1" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
