"""Explanations and images in the database. Their ids follow from their content, so a link always shows the same."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from base64 import urlsafe_b64encode
from typing import Any

from sqlalchemy import Column, Float, LargeBinary, MetaData, String, Table, Text, select

from assay import __version__
from assay.core.errors import InputError
from assay.datasets.images import decode_image
from assay.experiments.store import canonical
from assay.web.database import Database, Schema
from assay.web.explain.models import ServedModel
from assay.web.explain.wanted import Wanted
from assay.web.explain.work import Explained

LARGEST = 10 * 1024 * 1024  # bytes of an image
PIXELS = 40_000_000
ONE = threading.Lock()  # image is decoded at a time: the largest takes more than half a gigabyte
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")

tables = MetaData()
EXPLANATIONS = Table(
    "explanations",
    tables,
    Column("id", String(32), primary_key=True),
    Column("content", Text, nullable=False),
    Column("created", Float, nullable=False),
)
IMAGES = Table(
    "images",
    tables,
    Column("id", String(32), primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
)
SCHEMA = Schema("explain", tables)


def explanation_id(wanted: Wanted, served: ServedModel) -> str:
    """What changes the explanation: the request, the model and the version of Assay."""
    content = {"request": wanted.to_dict(), "model": served.model.identity, "version": __version__}
    return _short(canonical(content).encode("utf-8", "surrogatepass"))


def save(database: Database, explanation: str, explained: Explained) -> None:
    content = json.dumps(explained.to_dict())
    _insert(database, EXPLANATIONS, explanation, content)


def has(database: Database, explanation: str) -> bool:
    with database.reading() as connection:
        return connection.execute(select(EXPLANATIONS.c.id).where(EXPLANATIONS.c.id == explanation)).first() is not None


def load(database: Database, explanation: str) -> Explained | None:
    with database.reading() as connection:
        content = connection.execute(select(EXPLANATIONS.c.content).where(EXPLANATIONS.c.id == explanation)).scalar()
    return None if content is None else Explained.from_dict(json.loads(content))


def save_image(database: Database, content: bytes) -> str:
    """Keep an uploaded image; raises unless it is one of a moderate size."""
    if len(content) > LARGEST:
        raise InputError(f"the image has {len(content) / 1024**2:.1f} MB; give at most {LARGEST // 1024**2} MB")
    _decode(content)
    image = _short(content)
    _insert(database, IMAGES, image, content)
    return image


def load_image(database: Database, image: str) -> Any:
    with database.reading() as connection:
        content = connection.execute(select(IMAGES.c.content).where(IMAGES.c.id == image)).scalar()
    if content is None:
        raise InputError("this image is not on the server (any more); choose the file again")
    return _decode(content)


def _decode(content: bytes) -> Any:
    with ONE:
        return decode_image(content, "the file", FORMATS, PIXELS)


def _insert(database: Database, table: Table, row: str, content: Any) -> None:
    """Equal ids have equal content: what is there stays."""
    with database.writing() as connection:
        if connection.execute(select(table.c.id).where(table.c.id == row)).first() is None:
            connection.execute(table.insert().values(id=row, content=content, created=time.time()))


def _short(content: bytes) -> str:
    """128 bits for an address."""
    return urlsafe_b64encode(hashlib.sha256(content).digest()[:16]).decode().rstrip("=")
