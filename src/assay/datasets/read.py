"""Read data files row by row: csv, tsv, jsonl, json, parquet, npz and txt, also gzipped.

A row is a dict (a text for .txt). A row that cannot be read is yielded as an InputError, so that the caller can stop
or skip it.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import importlib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from assay.core.errors import AssayError, InputError, SpecError

READABLE = (".csv", ".json", ".jsonl", ".npz", ".parquet", ".tsv", ".txt")
MAX_CELL = 1 << 24  # characters
BYTE_ORDER_MARKS = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
DELIMITERS = (",", ";", "\t", "|")
IMAGES = ("images", "image", "x", "X", "data")
LABELS = ("labels", "label", "y", "targets")
CLASSES = ("classes", "label_names", "names")


class FileRow(dict[str, Any]):
    """A row that knows the folder of its file: paths of images in it may start there."""

    folder: Path


def read_rows(path: Path) -> Iterator[Any]:
    """Yield the rows of a file in order; each is a FileRow, a text or an InputError."""
    for item in _items(path):
        if isinstance(item, dict):
            item = FileRow(item)
            item.folder = path.parent
        yield item


def _items(path: Path) -> Iterator[Any]:
    suffix = format_of(path)
    if suffix not in READABLE:
        raise SpecError(f"cannot read {path.name}: unknown file type; supported: {', '.join(READABLE)} (also .gz)")
    try:
        with _open(path) as file:
            if suffix in _BINARY:
                yield from _BINARY[suffix](file)
                return
            with io.TextIOWrapper(file, encoding=_encoding(file), newline="") as lines:
                yield from _TEXT[suffix](lines)
    except AssayError as error:
        raise type(error)(f"{path.name}: {error}") from error
    except UnicodeError as error:
        raise AssayError(
            f"cannot read {path}: it is not UTF-8 ({error}); save it as UTF-8, from Latin-1 for example with "
            f"`iconv -f latin1 -t utf-8 {path.name}`"
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError, zipfile.BadZipFile, csv.Error) as error:
        raise AssayError(f"cannot read {path}: it is damaged or incomplete ({error})") from error
    except OSError as error:
        raise AssayError(f"cannot read {path}: {error.strerror or error}") from error


def _encoding(file: Any) -> str:
    """UTF-8, or what the byte order mark says. Text with null bytes is UTF-16 without a mark, or no text at all."""
    start = file.peek(4)[:1024]
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        raise UnicodeError("it contains null bytes, as UTF-16 without a byte order mark does")
    return "utf-8"


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
    blank = 0  # empty lines are nothing at the end and a mistake before it
    for line in lines:
        if not line.strip():
            blank += 1
            continue
        yield from (InputError("the line is empty") for _ in range(blank))
        blank = 0
        try:
            yield _DECODER.decode(line)
        except InputError as error:
            yield error
        except (ValueError, RecursionError) as error:  # ValueError: also numbers of thousands of digits
            yield InputError(f"not JSON: {_reason(error)}")


def _json(lines: TextIO) -> Iterator[Any]:
    """A list of objects, an object of columns, or an object that contains one list of objects."""
    try:
        data = _DECODER.decode(lines.read())
    except (UnicodeError, InputError):
        raise
    except (ValueError, RecursionError) as error:
        raise AssayError(f"not JSON: {_reason(error)}; name a file with one object per line .jsonl") from error
    if isinstance(data, Mapping):
        tables = {k: v for k, v in data.items() if isinstance(v, list) and v and isinstance(v[0], Mapping)}
        if len(tables) > 1:
            raise AssayError(f"the JSON file contains several tables ({', '.join(tables)}); write one file for each")
        data = next(iter(tables.values())) if tables else _from_columns(data)
    if not isinstance(data, list):
        raise AssayError(f"the JSON file holds a single {type(data).__name__}; give a list of objects")
    yield from data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; Python's own reader keeps the last of equal keys in silence."""
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"the key {repeated!r} occurs more than once in an object; give each value a name of its own")
    return content


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error) if isinstance(error, json.JSONDecodeError) else "a number has thousands of digits"


def _from_columns(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    lengths = {len(v) if isinstance(v, list) else -1 for v in data.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise AssayError("the JSON file is not a table; give a list of objects or an object of equally long columns")
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


def _csv(lines: TextIO) -> Iterator[Any]:
    """Strict: a stray quotation mark would otherwise silently swallow the following rows."""
    yield from _table(lines, ",", strict=True)


def _tsv(lines: TextIO) -> Iterator[Any]:
    """Quotation marks are ordinary characters (as in GLUE), unless they enclose a cell and are doubled inside it."""
    for row in _table(lines, "\t", quoting=csv.QUOTE_NONE):
        yield row if isinstance(row, Exception) else {key: _unquoted(cell) for key, cell in row.items()}


def _table(lines: Iterable[str], usual: str, **form: Any) -> Iterator[Any]:
    """Rows as dicts. The delimiter is the usual one of the format unless only another is in the header."""
    csv.field_size_limit(MAX_CELL)
    lines = iter(lines)
    first = next(lines, "")
    delimiter = usual if usual in first else max(DELIMITERS, key=first.count)
    if delimiter == "," and usual != ",":
        form = {"strict": True}  # commas need quotation marks
    if f"{delimiter} " in first and delimiter != "\t":  # `Review, Stars`: blanks belong to no cell
        form["skipinitialspace"] = True
    reader = csv.reader(chain([first], lines), delimiter=delimiter, **form)
    header = [name.strip() for name in next(reader, [])]
    repeated = [name for name, count in Counter(header).items() if count > 1 and name]
    if repeated:
        raise AssayError(f"the header names {repeated[0]!r} more than once; give each column a name of its own")
    while True:
        try:
            if cells := next(reader):
                yield _row(header, cells)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(f"not CSV: {error}; double the quotation marks inside a cell")


def _row(header: list[str], cells: list[str]) -> Any:
    """A row of another width than the header has a delimiter or a line break inside a cell."""
    if [cell.strip() for cell in cells] == header:
        return InputError("the row repeats the header, as in files that were joined; remove it")
    if len(cells) == len(header):
        return dict(zip(header, cells, strict=True))
    advice = "quote cells that contain the delimiter" if len(cells) > len(header) else "a cell is missing or cut"
    found = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
    return InputError(f"{found}, but the header has {len(header)}; {advice}")


def _unquoted(cell: str) -> str:
    if len(cell) < 2 or not (cell[0] == cell[-1] == '"'):
        return cell
    inside = cell[1:-1].replace('""', "\0")
    return cell if '"' in inside else inside.replace("\0", '"')


def _npz(file: IO[bytes]) -> Iterator[Any]:
    """Arrays of images (N,H,W[,C]) and labels (N,); grey images get one channel, (H,W,1)."""
    try:
        with np.load(io.BytesIO(file.read()), allow_pickle=False) as arrays:
            images, labels, classes = (_first(arrays, aliases) for aliases in (IMAGES, LABELS, CLASSES))
            names = ", ".join(arrays.files)
    except ValueError as error:
        raise AssayError(f"not an npz file: {error}") from error
    if images is None or images.ndim not in (3, 4):
        raise AssayError(f"no images among the arrays {names}; name an (N,H,W,C) array 'images' and (N,) 'labels'")
    images = images[..., None] if images.ndim == 3 else images
    labels = None if labels is None else _labels(labels, len(images))
    named = _class_names(labels, classes) if labels is not None and classes is not None else None
    for i, image in enumerate(images):
        row = {"image": image}
        if labels is not None:
            row["label"] = labels[i].item()
        if named is not None:
            row["label_name"] = named[i]
        yield row


def _first(arrays: Any, names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays.files), None)


def _labels(labels: Any, images: int) -> Any:
    """One label per image; a column of them is flattened, and bytes are words."""
    if labels.shape not in ((images,), (images, 1)):
        raise AssayError(f"the labels have the shape {labels.shape}; give one for each of the {images:,} images")
    return (labels.astype(str) if labels.dtype.kind == "S" else labels).reshape(images)


def _class_names(labels: Any, classes: Any) -> list[str | None] | None:
    """The name of each label that is an index; -1 is none."""
    if labels.dtype.kind not in "iu":
        return None
    labels = labels.astype(np.int64)
    if labels.min(initial=0) < -1 or labels.max(initial=-1) >= len(classes):
        found = f"{labels.min()} to {labels.max()}"
        raise AssayError(f"the labels, {found}, are no indices of the {len(classes)} 'classes', which count from 0")
    words = classes.astype(str)
    return [None if label < 0 else str(words[label]) for label in labels]


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
