"""People who press the same button at once: no invitation lets in too many, and nobody gets two seats."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.web.accounts import SCHEMA as ACCOUNTS
from assay.web.accounts import Account, Accounts, RefusedError
from assay.web.database import Database
from assay.web.study.answers import SCHEMA, StudyDatabase
from unit.web.clients import PASSWORD, QUICK
from unit.web.postgres import cluster

pytestmark = pytest.mark.faults
PEOPLE = 12


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: Any, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        yield Database.open(tmp_path / "answers.sqlite", [ACCOUNTS, SCHEMA])
        return
    with cluster() as server:
        opened = Database.open(server.address, [ACCOUNTS, SCHEMA])
        yield opened
        opened.close()


def at_once(act: Callable[[int], Any]) -> list[Any]:
    together = threading.Barrier(PEOPLE)

    def wait_and_act(number: int) -> Any:
        together.wait()
        return act(number)

    with ThreadPoolExecutor(PEOPLE) as pool:
        return list(pool.map(wait_and_act, range(PEOPLE)))


def test_an_invitation_lets_in_as_many_as_it_says(database: Database) -> None:
    accounts = Accounts(database, QUICK)
    secret = accounts.invite("participant", uses=5)

    def accept(number: int) -> bool:
        try:
            accounts.accept(secret, f"person {number}", PASSWORD)
        except RefusedError:
            return False
        return True

    assert sum(at_once(accept)) == 5
    assert len(accounts.all()) == 5


def test_a_name_that_is_taken_uses_up_no_place(database: Database) -> None:
    accounts = Accounts(database, QUICK)
    secret = accounts.invite("participant", uses=1)
    accounts.create("Ada", PASSWORD, "member")
    with pytest.raises(RefusedError, match="already"):
        accounts.accept(secret, "ada", PASSWORD)
    accounts.accept(secret, "Bob", PASSWORD)


def test_who_joins_twice_at_once_has_one_seat(database: Database) -> None:
    for name in range(10):
        bob = Account(str(name), f"person {name}", "participant")
        seats = at_once(lambda _, bob=bob: StudyDatabase(database, "a study").join(bob).seat)
        assert set(seats) == {name}
    assert len(StudyDatabase(database, "a study").participants()) == 10
