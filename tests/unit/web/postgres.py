"""A PostgreSQL server of its own for tests, in a temporary folder; as another user where tests run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from faults.disks import small_disk

USERS = ("postgres", "nobody")


class Cluster:
    """`address` is that of an empty database; `crash` stops the server as a power cut would, and starts it again."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        self.folder, self.programs, self.user = folder, programs, user
        self.address = f"postgresql://assay@/postgres?host={folder}"
        self._run("initdb", "--username=assay", "--auth=trust", "--no-sync", "-D", str(folder / "data"))
        self.start()

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=16MB"
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-w", "-o", options, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def crash(self) -> None:
        self.stop()
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(
            command, user=self.user, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
        ) if program == "initdb" else _without_pipes(command, self.user, self.folder)  # fmt: skip
        assert done.returncode == 0, done.stdout


def _without_pipes(command: list[str], user: str | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """pg_ctl leaves a server behind, which would hold a pipe open."""
    with (folder / "pg_ctl.out").open("w") as out:
        done = subprocess.run(
            command, user=user, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL, timeout=120,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    return subprocess.CompletedProcess(command, done.returncode, (folder / "pg_ctl.out").read_text(), "")


@contextmanager
def cluster(size: str | None = None) -> Iterator[Cluster]:
    """A running server; skips the test with a reason where there is none. size: of a disk of its own, such as 90m."""
    pytest.importorskip("psycopg")
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server on this machine")
    user = _user()
    with tempfile.TemporaryDirectory(prefix="assay-pg-", dir="/tmp") as name:  # a short path: sockets allow 107 bytes
        folder = Path(name)
        folder.chmod(0o755)
        with small_disk(folder, size) if size else nullcontext(folder):
            if user is not None:
                shutil.chown(folder, user)
            running = Cluster(folder, programs, user)
            try:
                yield running
            finally:
                running.stop()


def _programs() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    folders += [Path(found).parent] if found else []
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


def _user() -> str | None:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    found = next((name for name in USERS if name in known), None)
    if found is None:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")
    return found
