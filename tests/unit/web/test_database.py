"""The database: versions of its schema, and what is said when it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, inspect, text

from assay.core.errors import AssayError, StoreError
from assay.web.database import Database, Schema


def schema(version: int = 1, steps: dict | None = None) -> Schema:
    tables = MetaData()
    Table("answers", tables, Column("id", Integer, primary_key=True), Column("answer", String(20)))
    if version > 1:
        Table("answers", tables, Column("comment", String(20)), extend_existing=True)
    return Schema("study", tables, version, steps or {})


def test_an_old_database_is_migrated_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    database = Database.open(path, [schema()])
    with database.writing() as connection:
        connection.execute(text("INSERT INTO answers (answer) VALUES ('kept')"))
    database.close()

    def add_comments(connection):
        connection.execute(text("ALTER TABLE answers ADD COLUMN comment VARCHAR(20)"))

    newer = schema(2, {1: add_comments})
    for _ in range(2):  # once migrated, it stays
        database = Database.open(path, [newer])
        with database.reading() as connection:
            assert connection.execute(text("SELECT answer, comment FROM answers")).all() == [("kept", None)]
            assert "comment" in [column["name"] for column in inspect(connection).get_columns("answers")]
        database.close()


def test_a_newer_or_unknown_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    Database.open(path, [schema(3)]).close()
    with pytest.raises(StoreError, match="newer version of Assay"):
        Database.open(path, [schema(2)])
    Database.open(tmp_path / "b.sqlite", [schema()]).close()
    with pytest.raises(StoreError, match="old version"):
        Database.open(tmp_path / "b.sqlite", [schema(2)])


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    Database.open(path, [schema()]).close()

    def half(connection):
        connection.execute(text("ALTER TABLE answers ADD COLUMN comment VARCHAR(20)"))
        raise StoreError("stopped")

    with pytest.raises(StoreError, match="stopped"):
        Database.open(path, [schema(2, {1: half})])
    database = Database.open(path, [schema()])
    with database.reading() as connection:
        assert [column["name"] for column in inspect(connection).get_columns("answers")] == ["id", "answer"]


def test_commits_are_on_disk(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "a.sqlite", [schema()])
    with database.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("this is no database, but a text that is long enough to be looked at")
    with pytest.raises(StoreError, match="not a database"):
        Database.open(tmp_path / "text.sqlite", [schema()])
    with pytest.raises(StoreError, match="folder does not exist"):
        Database.open(tmp_path / "nowhere" / "a.sqlite", [schema()])
    with pytest.raises(AssayError, match="not supported"):
        Database.open("mysql://localhost/x", [schema()])
    with pytest.raises(StoreError) as refused:
        Database.open("postgresql://ada:secret@127.0.0.1:1/x", [schema()])
    assert "secret" not in str(refused.value)
