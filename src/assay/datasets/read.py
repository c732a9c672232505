"""Read data files row by row: csv, tsv, jsonl, json, parquet, npz and txt, also gzipped.

A row is a dict (a text for .txt). A row that cannot be read is yielded as an InputError, so that the caller can stop
or skip it.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from assay.core.errors import AssayError, InputError, SpecError

READABLE = (".csv", ".json", ".jsonl", ".npz", ".parquet", ".tsv", ".txt")
MAX_CELL = 1 << 24  # characters
IMAGES = ("images", "image", "x", "X", "data")
LABELS = ("labels", "label", "y", "targets")
CLASSES = ("classes", "label_names", "names")


def read_rows(path: Path) -> Iterator[Any]:
    """Yield the rows of a file in order; each is a dict, a text or an InputError."""
    suffix = format_of(path)
    if suffix not in READABLE:
        raise SpecError(f"cannot read {path.name}: unknown file type; supported: {', '.join(READABLE)} (also .gz)")
    try:
        with _open(path) as file:
            if suffix in _BINARY:
                yield from _BINARY[suffix](file)
                return
            with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as lines:  # sig: skip the byte order mark
                yield from _TEXT[suffix](lines)
    except (OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, csv.Error) as error:
        raise AssayError(f"cannot read {path}: {error}; the file must be complete and, if text, in UTF-8") from error


def format_of(path: Path) -> str:
    """The suffix without .gz: ".jsonl" of dev.jsonl.gz; empty if there is none."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def stem_of(path: Path) -> str:
    """The file name without suffixes: "en-de.dev" of en-de.dev.jsonl.gz."""
    return path.name.removesuffix(".gz").removesuffix(format_of(path))


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _txt(lines: TextIO) -> Iterator[Any]:
    yield from (line.rstrip("\r\n") for line in lines)


def _jsonl(lines: TextIO) -> Iterator[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            yield InputError(f"not JSON: {error}")


def _json(lines: TextIO) -> Iterator[Any]:
    """A list of objects, an object of columns, or an object that contains one list of objects."""
    try:
        data = json.load(lines)
    except json.JSONDecodeError as error:
        raise AssayError(f"not JSON: {error}; name a file with one object per line .jsonl") from error
    if isinstance(data, Mapping):
        tables = {k: v for k, v in data.items() if isinstance(v, list) and v and isinstance(v[0], Mapping)}
        if len(tables) > 1:
            raise AssayError(f"the JSON file contains several tables ({', '.join(tables)}); write one file for each")
        data = next(iter(tables.values())) if tables else _from_columns(data)
    yield from data


def _from_columns(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    lengths = {len(v) if isinstance(v, list) else -1 for v in data.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise AssayError("the JSON file is not a table; give a list of objects or an object of equally long columns")
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


def _csv(lines: TextIO) -> Iterator[Any]:
    """Strict: a stray quotation mark would otherwise silently swallow the following rows."""
    csv.field_size_limit(MAX_CELL)
    reader = csv.DictReader(lines, strict=True)
    header = reader.fieldnames
    while True:
        try:
            yield _same_width(next(reader), header)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(f"not CSV: {error}; double the quotation marks inside a cell")


def _tsv(lines: TextIO) -> Iterator[Any]:
    """Quotation marks are ordinary characters (as in GLUE), unless they enclose a cell and are doubled inside it."""
    csv.field_size_limit(MAX_CELL)
    reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in reader:
        checked = _same_width(row, reader.fieldnames)
        yield checked if isinstance(checked, Exception) else {key: _unquoted(cell) for key, cell in checked.items()}


def _same_width(row: dict[Any, Any], header: Any) -> Any:
    """A row with more cells than the header has an unquoted delimiter in one of them."""
    if None not in row:
        return row
    cells = len(header) + len(row[None])
    return InputError(f"{cells} cells, but the header has {len(header)}; quote cells that contain the delimiter")


def _unquoted(cell: str | None) -> str | None:
    if cell is None or len(cell) < 2 or not (cell[0] == cell[-1] == '"'):
        return cell
    inside = cell[1:-1].replace('""', "\0")
    return cell if '"' in inside else inside.replace("\0", '"')


def _npz(file: IO[bytes]) -> Iterator[Any]:
    """Arrays of images (N,H,W[,C]) and labels (N,); grey images get one channel, (H,W,1)."""
    try:
        loaded = np.load(io.BytesIO(file.read()), allow_pickle=False)
    except ValueError as error:
        raise AssayError(f"not an npz file: {error}") from error
    with loaded as arrays:
        images, labels, classes = (_first(arrays, aliases) for aliases in (IMAGES, LABELS, CLASSES))
        names = ", ".join(arrays.files)
    if images is None or images.ndim not in (3, 4):
        raise AssayError(f"no images among the arrays {names}; name an (N,H,W,C) array 'images' and (N,) 'labels'")
    images = images[..., None] if images.ndim == 3 else images
    for i, image in enumerate(images):
        row = {"image": image}
        if labels is not None:
            row["label"] = labels[i].item()
        if labels is not None and classes is not None:
            row["label_name"] = str(classes[labels[i]])
        yield row


def _first(arrays: Any, names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays.files), None)


def _parquet(file: IO[bytes]) -> Iterator[Any]:
    table = parquet_file(io.BytesIO(file.read()) if isinstance(file, gzip.GzipFile) else file)
    for batch in table.iter_batches():
        yield from batch.to_pylist()


def parquet_file(file: Any) -> Any:
    """Open a parquet file with pyarrow, which the datasets library installs."""
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise AssayError("parquet files need pyarrow; install it with: pip install 'assay[data]'") from error
    try:
        return parquet.ParquetFile(file)
    except ValueError as error:
        raise AssayError(f"not a parquet file: {error}") from error


def label_names(path: Path) -> dict[str, tuple[str, ...]]:
    """Names of integer labels by column, as parquet files written by the datasets library hold them."""
    if format_of(path) != ".parquet" or path.suffix == ".gz":
        return {}
    metadata = parquet_file(path).schema_arrow.metadata or {}
    features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    return {k: tuple(f["names"]) for k, f in features.items() if isinstance(f, dict) and f.get("names")}


_TEXT = {".csv": _csv, ".json": _json, ".jsonl": _jsonl, ".tsv": _tsv, ".txt": _txt}
_BINARY = {".npz": _npz, ".parquet": _parquet}
