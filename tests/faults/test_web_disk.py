"""A full disk under the database: the page says so and keeps what was typed, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.web.study.answers import StudyDatabase
from assay.web.study.part import study_part
from faults.disks import small_disk
from unit.human.studies import made_study
from unit.web.clients import PASSWORD, Client, application, participant, seen
from unit.web.postgres import cluster

pytestmark = pytest.mark.faults
RANKS = {"rank-0": "1", "rank-1": "1", "rank-2": "3", "rank-3": "4"}
LEFT = 128 * 1024  # bytes that are left on the disk


@contextmanager
def disk(kind: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """A small disk with a database, and the address of that."""
    if kind == "sqlite":
        with small_disk(folder / "disk", "4m") as small:
            yield small, str(small / "answers.sqlite")
    else:
        with cluster("120m") as server:
            yield server.folder, server.address


def fill(small: Path) -> Path:
    """A file that leaves nearly nothing."""
    free = os.statvfs(small)
    filler = small / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - LEFT)
    return filler


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_disk(kind: str, tmp_path: Path) -> None:
    study = made_study(tmp_path / "study", examples=200, practice=0, repeats=0)
    with disk(kind, tmp_path) as (small, address):
        app = application(tmp_path, study_part(study.path), access="accounts", database=address)
        participant(app, "Bob")
        client = Client(app)
        client.submit("/login", name="Bob", password=PASSWORD)
        client.submit("/study/join", agree="yes")
        csrf, filler = client.csrf(), fill(small)
        acknowledged = []
        for number in range(1, 201):
            words = secrets.token_hex(990)  # PostgreSQL would compress what repeats
            answer = {**RANKS, "comment": words, "csrf": csrf}
            response = client.submit(f"/study/tasks/{number}", **answer)
            if response.status_code != 200:  # after the redirect
                break
            acknowledged.append(number)
        assert response.status_code == 507, seen(response)
        assert "The disk of the server is full, so nothing was saved" in seen(response)
        assert words in response.text
        assert client.get(f"/study/tasks/{number}").status_code == 200  # pages can still be read
        filler.unlink()
        assert client.submit(f"/study/tasks/{number}", **answer).status_code == 200
        kept = StudyDatabase(app.state.site.database, study.id).answers()
        assert [row.task + 1 for row in kept] == [*acknowledged, number]
        app.state.site.database.close()
