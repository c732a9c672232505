"""The database of a human study: seats of participants, their answers, and whether the study is closed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Insert,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    case,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from assay.core.errors import InputError
from assay.human.answers import Answer
from assay.web.accounts import Account
from assay.web.database import Database, Schema

CLOSED = "The study is closed. Answers can no longer be given or changed; those that were saved are kept."
tables = MetaData()
STATES = Table(
    "study_states", tables, Column("study", String(16), primary_key=True), Column("closed", Float, nullable=True)
)
PARTICIPANTS = Table(
    "study_participants",
    tables,
    Column("study", String(16), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("account", String(36), nullable=False, unique=False, index=True),
    Column("name", String(64), nullable=False),  # kept when the account is removed
    Column("joined", Float, nullable=False),
)
ANSWERS = Table(
    "study_answers",
    tables,
    Column("study", String(16), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("task", Integer, primary_key=True),
    Column("content", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("saved", Float, nullable=False),
)
SCHEMA = Schema("study", tables)
# Statements of every task; building one costs more than running it.
CLOSED_AT = select(STATES.c.closed).where(STATES.c.study == bindparam("study_"))
OWN = select(ANSWERS).where(
    (ANSWERS.c.study == bindparam("study_"))
    & (ANSWERS.c.seat == bindparam("seat_"))
    & (ANSWERS.c.task == bindparam("task_"))
)


@dataclass(frozen=True)
class Participant:
    """Somebody who takes part, with a seat, which decides on the tasks."""

    account: str
    name: str
    seat: int


@dataclass(frozen=True)
class StudyDatabase:
    """The answers of one study. A participant's answers are found by the seat of the account that asks, only."""

    database: Database
    study: str
    clock: Callable[[], float] = time.time
    seats: dict[str, Participant] = field(default_factory=dict)  # by account; a seat is for good

    # --- participants ------------------------------------------------------------------------------------------------

    def participant(self, account: Account | None) -> Participant | None:
        if account is None:
            return None
        if account.id in self.seats:
            return self.seats[account.id]
        mine = (PARTICIPANTS.c.study == self.study) & (PARTICIPANTS.c.account == account.id)
        with self.database.reading() as connection:
            row = connection.execute(select(PARTICIPANTS).where(mine)).mappings().first()
        if row is not None:
            self.seats[account.id] = Participant(row["account"], row["name"], row["seat"])
        return self.seats.get(account.id)

    def join(self, account: Account) -> Participant:
        """Give an account the next seat; one that has a seat keeps it."""
        known = self.participant(account)
        if known is not None:
            return known
        try:
            with self.database.writing() as connection:
                self._check_open(connection)
                # one statement: whoever sees another's seat sees a seat of their own, too
                mine = case((PARTICIPANTS.c.account == account.id, PARTICIPANTS.c.seat))
                own, last = connection.execute(
                    select(func.max(mine), func.max(PARTICIPANTS.c.seat)).where(PARTICIPANTS.c.study == self.study)
                ).one()
                if own is not None:  # a button that was pressed twice
                    return Participant(account.id, account.name, int(own))
                seat = 0 if last is None else int(last) + 1
                values = {"study": self.study, "seat": seat, "account": account.id, "name": account.name}
                connection.execute(PARTICIPANTS.insert().values(**values, joined=self.clock()))
        except IntegrityError:  # somebody else took the seat at the same moment
            return self.join(account)
        return Participant(account.id, account.name, seat)

    def participants(self) -> list[Participant]:
        chosen = select(PARTICIPANTS).where(PARTICIPANTS.c.study == self.study).order_by(PARTICIPANTS.c.seat)
        with self.database.reading() as connection:
            rows = connection.execute(chosen).mappings().all()
        return [Participant(row["account"], row["name"], row["seat"]) for row in rows]

    # --- answers -----------------------------------------------------------------------------------------------------

    def save(self, participant: Participant, task: int, content: Mapping[str, Any], comment: str) -> None:
        """Write an answer, or replace the earlier one. It is on disk when this returns."""
        values = {"content": json.dumps(content), "comment": comment, "saved": self.clock()}
        key = {"study": self.study, "seat": participant.seat, "task": task}
        with self.database.writing() as connection:
            self._check_open(connection)
            connection.execute(_upsert(connection.dialect.name), key | values)

    def state(self, participant: Participant, task: int) -> tuple[Answer | None, bool]:
        """The answer to a task, if there is one, and whether the study is closed."""
        key = {"study_": self.study, "seat_": participant.seat, "task_": task}
        with self.database.reading() as connection:
            row = connection.execute(OWN, key).mappings().first()
            return None if row is None else _answer(row, participant.name), self._closed(connection)

    def answers_of(self, participant: Participant) -> dict[int, Answer]:
        return {answer.task: answer for answer in self._answers(participant.seat)}

    def answers(self) -> list[Answer]:
        return self._answers(None)

    def _answers(self, seat: int | None) -> list[Answer]:
        joined = (PARTICIPANTS.c.study == ANSWERS.c.study) & (PARTICIPANTS.c.seat == ANSWERS.c.seat)
        chosen = select(ANSWERS, PARTICIPANTS.c.name).join(PARTICIPANTS, joined).where(ANSWERS.c.study == self.study)
        if seat is not None:
            chosen = chosen.where(ANSWERS.c.seat == seat)
        with self.database.reading() as connection:
            rows = connection.execute(chosen.order_by(ANSWERS.c.seat, ANSWERS.c.task)).mappings().all()
        return [_answer(row, row["name"]) for row in rows]

    # --- open or closed ----------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        with self.database.reading() as connection:
            return self._closed(connection)

    def close(self, closed: bool = True) -> None:
        """Close the study, or open it again."""
        when = self.clock() if closed else None
        with self.database.writing() as connection:
            if not connection.execute(STATES.update().where(STATES.c.study == self.study).values(closed=when)).rowcount:
                connection.execute(STATES.insert().values(study=self.study, closed=when))

    def _closed(self, connection: Connection) -> bool:
        return connection.execute(CLOSED_AT, {"study_": self.study}).scalar() is not None

    def _check_open(self, connection: Connection) -> None:
        if self._closed(connection):
            raise InputError(CLOSED)


@cache
def _upsert(dialect: str) -> Insert:
    """Insert an answer or replace it, in one statement, so that a form that is sent twice at once cannot fail."""
    insert = postgresql.insert(ANSWERS) if dialect == "postgresql" else sqlite.insert(ANSWERS)
    changed = {name: insert.excluded[name] for name in ("content", "comment", "saved")}
    return insert.on_conflict_do_update(index_elements=list(ANSWERS.primary_key), set_=changed)


def _answer(row: Any, name: str) -> Answer:
    return Answer(name, row["seat"], row["task"], json.loads(row["content"]), row["comment"], row["saved"])
