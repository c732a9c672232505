"""The database: SQLite in a file, or PostgreSQL. Each part of the application has a schema with a version.

`writing` ends with a commit that is on disk: what a page acknowledges survives a crash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, String, Table, create_engine, event, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from assay.core.errors import AssayError, StoreError

PATIENCE = 30  # seconds to wait for another writer
VERSIONS = Table(
    "schema_versions",
    MetaData(),
    Column("part", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
)
FULL = "The disk of the server is full, so nothing was saved. What you typed is kept on this page: send it again later."
NO_DATABASE = "The database cannot be used at the moment, so nothing was saved. Try again in a moment."
STARTING = 20_241  # number of the lock that one starting server holds, in PostgreSQL


@dataclass(frozen=True)
class Schema:
    """The tables of one part of the application. Raise `version` with every change, and add the step that leads to it.

    steps: {version: function that changes a database of that version into one of the next}.
    """

    part: str
    tables: MetaData
    version: int = 1
    steps: Mapping[int, Callable[[Connection], None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Database:
    """`with database.writing() as connection: connection.execute(...)`."""

    engine: Engine

    @staticmethod
    def open(address: str | Path, schemas: Sequence[Schema]) -> Database:
        """Connect to a database, make missing tables and migrate old ones; a newer schema is refused."""
        url = _url(address)
        try:
            database = Database(_engine(url))
            with database.writing() as connection:
                _prepare(connection, schemas)
        except (SQLAlchemyError, OSError) as error:
            raise StoreError(f"cannot use the database {shown(url)}: {_reason(error)}") from error
        return database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; SQLite lets in one writer at a time, from the first statement on."""
        with self.engine.connect().execution_options(assay_writes=True) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        self.engine.dispose()


def shown(url: URL) -> str:
    """The address of a database without its password."""
    return url.render_as_string(hide_password=True)


def is_full(error: Exception) -> bool:
    """Whether an error says that the disk of the database is full."""
    cause: Any = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or getattr(cause, "sqlstate", "") == "53100"


def why_unsaved(error: Exception) -> str:
    """The sentence for a visitor whose input could not be saved."""
    return FULL if is_full(error) else NO_DATABASE


def _url(address: str | Path) -> URL:
    given = str(address)
    if "://" not in given:
        path = Path(given).expanduser()
        if not path.absolute().parent.is_dir():
            raise StoreError(f"cannot make the database {given}: its folder does not exist; create it or name another")
        return URL.create("sqlite", database=str(path))
    try:
        url = make_url(given)
    except ArgumentError as error:
        raise AssayError("the address of the database cannot be read; write postgresql://USER@HOST/NAME") from error
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise AssayError(f"{url.drivername} databases are not supported; give a file for SQLite, or postgresql://...")
    return url


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20)
    engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin below, not where the driver guesses
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("assay_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare(connection: Connection, schemas: Sequence[Schema]) -> None:
    if connection.dialect.name == "postgresql":  # two servers that start at once would both make the tables
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": STARTING})
    VERSIONS.metadata.create_all(connection)
    known: dict[str, int] = {row.part: row.version for row in connection.execute(select(VERSIONS))}
    for schema in schemas:
        _migrate(connection, schema, known.get(schema.part))


def _migrate(connection: Connection, schema: Schema, version: int | None) -> None:
    if version is not None and version > schema.version:
        raise StoreError(
            f"the database was written by a newer version of Assay ({schema.part} {version}, this one knows "
            f"{schema.version}); update Assay, or name another database"
        )
    if version is None:
        schema.tables.create_all(connection)
        connection.execute(VERSIONS.insert().values(part=schema.part, version=schema.version))
        return
    for number in range(version, schema.version):
        if number not in schema.steps:
            raise StoreError(
                f"the database is of an old version of Assay ({schema.part} {number}), which cannot be brought up to "
                f"date; name another database"
            )
        schema.steps[number](connection)
        connection.execute(VERSIONS.update().where(VERSIONS.c.part == schema.part).values(version=number + 1))


def _reason(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return " ".join(str(cause).split()) or type(cause).__name__
