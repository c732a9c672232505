"""An answer that was acknowledged survives SIGKILL at any moment, on SQLite and on PostgreSQL."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest
import uvicorn

from assay.human.folder import StudyFolder
from assay.web.accounts import SCHEMA as ACCOUNTS
from assay.web.accounts import Accounts
from assay.web.database import Database
from assay.web.study.answers import SCHEMA, StudyDatabase
from assay.web.study.part import study_part
from unit.human.studies import made_study
from unit.web.clients import PASSWORD, QUICK, application
from unit.web.postgres import cluster

KILLS = 50
PEOPLE = 4
RANKS = {"rank-0": "1", "rank-1": "1", "rank-2": "3", "rank-3": "4"}


def run_server(folder: Path, study: Path, database: str, port: int) -> None:
    app = application(folder, study_part(study), access="accounts", database=database)
    uvicorn.Server(uvicorn.Config(app, port=port, log_level="error")).run()


class Server:
    """A server that is killed and started again, on one port."""

    def __init__(self, folder: Path, study: Path, database: str) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.arguments = (folder, study, database, self.port)
        self.start()

    def start(self) -> None:
        self.process = multiprocessing.get_context("fork").Process(target=run_server, args=self.arguments, daemon=True)
        self.process.start()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


class Person(threading.Thread):
    """Answers without a pause and remembers what was acknowledged: the number of the last answer to each task."""

    def __init__(self, port: int, seat: int, tasks: int) -> None:
        super().__init__(daemon=True)
        self.base, self.name_, self.tasks = f"http://127.0.0.1:{port}", f"person {seat}", tasks
        self.acknowledged: dict[int, int] = {}
        self.sent, self.stop, self.wrong = 0, threading.Event(), []

    def run(self) -> None:
        with httpx.Client(base_url=self.base, timeout=30) as client:
            while not self.stop.is_set():
                try:
                    self.answer(client)
                except httpx.TransportError:  # the server is down: what was not acknowledged is not counted
                    time.sleep(0.02)

    def answer(self, client: httpx.Client) -> None:
        page = client.get("/study", follow_redirects=True)
        csrf = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
        if "answered" not in page.text:
            client.post("/login", data={"csrf": csrf, "name": self.name_, "password": PASSWORD})
            return
        for _ in range(20):
            self.sent += 1
            task = random.randrange(self.tasks)
            fields = {"csrf": csrf, "go": "next", "comment": str(self.sent), **RANKS}
            said = client.post(f"/study/tasks/{task + 1}", data=fields)
            if said.status_code == 303:
                self.acknowledged[task] = self.sent
            elif "Try again in a moment" not in said.text:
                self.wrong.append(said.text)


@contextmanager
def database_of(kind: str, folder: Path) -> Iterator[tuple[str, object]]:
    with cluster() if kind == "postgresql" else nullcontext() as running:
        yield (str(folder / "answers.sqlite") if running is None else running.address), running


def people_in(database: str, folder: StudyFolder) -> None:
    opened = Database.open(database, [ACCOUNTS, SCHEMA])
    accounts = Accounts(opened, QUICK)
    for seat in range(PEOPLE):
        StudyDatabase(opened, folder.id).join(accounts.create(f"person {seat}", PASSWORD, "participant"))
    opened.close()


def wait_for_load(people: list[Person], since: int) -> None:
    """Until the server that was just started has acknowledged something, then a random moment longer."""
    deadline = time.monotonic() + 60
    while sum(len(person.acknowledged) + person.sent for person in people) <= since + 2 * PEOPLE:
        assert time.monotonic() < deadline, [person.wrong for person in people]
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.3))


@pytest.mark.kill
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_acknowledged_answer_is_lost(kind: str, tmp_path: Path) -> None:
    folder = made_study(tmp_path / "study", examples=30)
    with database_of(kind, tmp_path) as (database, postgres):
        people_in(database, folder)
        server = Server(tmp_path, folder.path, database)
        people = [Person(server.port, seat, len(folder.tasks(seat))) for seat in range(PEOPLE)]
        for person in people:
            person.start()
        try:
            for kill in range(KILLS):
                wait_for_load(people, sum(len(person.acknowledged) + person.sent for person in people))
                server.kill()
                if postgres is not None and kill % 10 == 9:
                    postgres.crash()
                server.start()
        finally:
            for person in people:
                person.stop.set()
            for person in people:
                person.join(60)
            server.kill()
        opened = Database.open(database, [ACCOUNTS, SCHEMA])
        kept = {(a.participant, a.task): int(a.comment) for a in StudyDatabase(opened, folder.id).answers()}
        opened.close()
    assert [person.wrong for person in people] == [[]] * PEOPLE
    acknowledged = {(p.name_, task): number for p in people for task, number in p.acknowledged.items()}
    assert len(acknowledged) > 20
    lost = {key: number for key, number in acknowledged.items() if kept.get(key, -1) < number}
    assert lost == {}
