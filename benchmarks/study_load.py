"""Participants who answer a human study at once, and what a page costs beside a bare page with one database write.

Counts and ratios of processor time, which other work on the machine does not change much.

    python benchmarks/study_load.py [--people 50] [--answers 20] [--database postgresql://...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import uvicorn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from web import bare

from assay.web.accounts import Accounts
from assay.web.database import Database
from assay.web.study.answers import StudyDatabase
from assay.web.study.part import study_part
from unit.human.studies import made_study
from unit.web.clients import PASSWORD, application

RANKS = {"rank-0": "1", "rank-1": "1", "rank-2": "3", "rank-3": "4", "go": "next", "comment": "a few words"}
ROUNDS, REQUESTS = 40, 20
CPU_CLOCK = 2  # of another process on Linux, all threads together, in nanoseconds


class Server:
    """An application in a process of its own."""

    def __init__(self, make: Any) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        run = lambda: uvicorn.Server(uvicorn.Config(make(), port=self.port, log_level="error")).run()  # noqa: E731
        self.process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
        self.process.start()
        self.address = f"http://127.0.0.1:{self.port}"
        while True:
            try:
                httpx.get(self.address, timeout=30)
                return
            except httpx.TransportError:
                time.sleep(0.1)

    def seconds(self) -> float:
        """Processor time so far."""
        return time.clock_gettime((~self.process.pid << 3) | CPU_CLOCK)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()


def cost(server: Server, request: Any, times: int) -> float:
    """Processor milliseconds of the server per request."""
    request()
    before = server.seconds()
    for _ in range(times):
        request()
    return 1000 * (server.seconds() - before) / times


def logged_in(address: str, name: str) -> tuple[httpx.Client, str]:
    client = httpx.Client(base_url=address, timeout=120)
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/login").text)[1]
    client.post("/login", data={"csrf": csrf, "name": name, "password": PASSWORD})
    return client, re.search(r'name="csrf" value="(\w+)"', client.get("/study").text)[1]


def crowd(address: str, people: int, answers: int) -> Counter[int]:
    """The status of every post when all answer at once."""
    clients, statuses = [logged_in(address, f"person {i}") for i in range(people)], Counter()
    start = threading.Barrier(people)

    def answer(client: httpx.Client, csrf: str) -> None:
        start.wait()
        for number in range(1, answers + 1):
            client.get(f"/study/tasks/{number}")
            statuses[client.post(f"/study/tasks/{number}", data={"csrf": csrf, **RANKS}).status_code] += 1

    threads = [threading.Thread(target=answer, args=pair) for pair in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--people", type=int, default=50)
    options.add_argument("--answers", type=int, default=20)
    options.add_argument("--database")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        folder = made_study(path / "study", examples=given.answers, annotators=given.people, repeats=0, practice=0)
        database = given.database or path / "answers.sqlite"
        app = application(path, study_part(folder.path), access="accounts", database=database)
        site = app.state.site
        accounts: Accounts = site.accounts
        for i in range(given.people):
            StudyDatabase(site.database, folder.id).join(accounts.create(f"person {i}", PASSWORD, "participant"))
        site.database.close()
        study = Server(lambda: application(path, study_part(folder.path), access="accounts", database=database))
        plain_server = Server(lambda: bare(path))
        try:
            statuses = crowd(study.address, given.people, given.answers)
            client, csrf = logged_in(study.address, "person 0")
            form = {"csrf": csrf, **RANKS}
            plain = httpx.Client()
            visits = {
                "answer": (study, lambda: client.post("/study/tasks/2", data=form)),
                "task": (study, lambda: client.get("/study/tasks/2")),
                "write": (plain_server, lambda: plain.get(plain_server.address)),
            }
            costs = {name: [] for name in visits}
            for _ in range(ROUNDS):  # in turn, so that a busy machine slows all of them
                for name, (server, visit) in visits.items():
                    costs[name].append(cost(server, visit, REQUESTS))
        finally:
            study.stop()
            plain_server.stop()
        kept = Database.open(database, [])
        saved = len(StudyDatabase(kept, folder.id).answers())
        kept.close()
    print(f"{given.people} people x {given.answers} answers at once: status {dict(statuses)}, {saved} answers saved")
    post, page, write = (statistics.median(costs[name]) for name in ("answer", "task", "write"))
    print(
        f"processor time beside a bare page with one write ({write:.2f} ms): answer {post / write:.2f} x, "
        f"task {page / write:.2f} x"
    )


if __name__ == "__main__":
    main()
