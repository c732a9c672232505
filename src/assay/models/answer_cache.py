"""Answers of a model on disk, found by the model's version and the text: no paid call is repeated."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import StoreError
from assay.models.word_tokenizer import Text

Rows = NDArray[np.float64]  # (n, outputs)
FILE = "answers.sqlite"
WAIT = 60.0  # seconds to wait for another process that writes
TABLE = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"


class AnswerCache:
    """A file in a folder that any number of models and processes may share."""

    def __init__(self, folder: str | Path, model: str) -> None:
        self.folder, self.model = Path(folder).expanduser(), model
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write answers to {self.folder}: {error.strerror}; name another folder") from error
        with self._open() as file:
            file.execute(TABLE)

    def get(self, texts: Sequence[Text]) -> dict[Text, Rows]:
        """The answers that are known, by text."""
        with self._open() as file:
            found = {
                text: file.execute("SELECT answer FROM answers WHERE key = ?", (self._key(text),)) for text in texts
            }
            rows = {text: cursor.fetchone() for text, cursor in found.items()}
        return {text: np.frombuffer(row[0], np.float64) for text, row in rows.items() if row is not None}

    def put(self, texts: Sequence[Text], rows: Rows) -> None:
        """Keep the answers to some texts; they are on disk when this returns."""
        values = [(self._key(text), row.tobytes()) for text, row in zip(texts, rows, strict=True)]
        with self._open() as file:
            file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", values)

    def _key(self, text: Text) -> bytes:
        # surrogates are kept: two broken texts are two texts
        return hashlib.sha256(json.dumps([self.model, text]).encode()).digest()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are written at the end; one per use, so that threads and forks cannot share it."""
        path = self.folder / FILE
        try:
            file = sqlite3.connect(path, timeout=WAIT)
            try:
                with file:
                    yield file
            finally:
                file.close()
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot use the answers in {path}: {error}; free the disk or name another folder"
            ) from error
