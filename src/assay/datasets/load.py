"""load_dataset: load built-in data, generators, local files and folders, hub data sets or inputs in memory."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, DataWarning, SpecError, nearest
from assay.core.spec import Spec, parse
from assay.datasets import hub
from assay.datasets.build import build_dataset
from assay.datasets.columns import ColumnMap, as_columns
from assay.datasets.dataset import Dataset
from assay.datasets.examples import as_inputs
from assay.datasets.image_folders import image_splits, read_image_folder
from assay.datasets.label_map import LabelMap, with_label_map
from assay.datasets.read import READABLE, format_of, label_names, read_rows, stem_of
from assay.datasets.sources import make_dataset, sources, wraps
from assay.datasets.splits import NoSplitError, choose_split, is_split_name, names_a_split, split_files

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(:[\w.-]+)?")


def load_dataset(
    source: Any,
    *,
    split: str | None = None,
    columns: ColumnMap | str | None = None,
    label_map: LabelMap | str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Load examples with their labels and rationales.

    source: "builtin"; a generator such as "babi_world(task=2)"; a csv, tsv, jsonl, json, parquet, npz or txt file (also
    .gz) or a folder of these; a folder with one folder of images for each class; a hub id ("owner/name" or
    "owner/name:config"); a pandas or polars frame or series, a datasets.Dataset or a dict of columns; a list of dicts,
    texts, pairs, images or Examples, or one of these. split: a file of a folder or a split of a hub data set
    ("validation" matches dev). columns: {role: column}, or a text such as "text=review,label=stars", to override the
    guess by column names; None switches a role off. label_map: other names for labels, such as {"pos": "positive"};
    None leaves the examples of a label unlabelled. limit: load a random subset of this size, in order, drawn with
    `seed`. What may have been misread is in `notes`, and a warning.
    """
    data = _load(source, split, as_columns(columns))
    if data is not source:
        for note in data.notes:
            warnings.warn(note, DataWarning, stacklevel=2)
    data = data if label_map is None else with_label_map(data, label_map)
    return data if limit is None else data.take(limit, seed)


def _load(source: Any, split: str | None, columns: ColumnMap | None) -> Dataset:
    if isinstance(source, Spec):
        return _from_spec(source, split, columns)
    if isinstance(source, str | os.PathLike):
        return _from_string(os.fspath(source), split, columns)
    if hub.is_library_object(source):
        return hub.from_object(source, split, columns)
    if isinstance(source, Dataset):
        _refuse(split, columns, source.name or "the data set")
        return source
    _refuse(split, None, "data in memory")
    name = "list" if isinstance(source, list | tuple) else "table"
    return build_dataset(as_inputs(source), name, columns=columns)


def _from_spec(spec: Spec, split: str | None, columns: ColumnMap | None) -> Dataset:
    """One of Assay's own data sets; split and columns apply to the data set it wraps."""
    if spec.name not in sources():
        raise SpecError(f"unknown data set {spec.name!r}; {nearest(spec.name, sources())}")
    if not wraps(sources()[spec.name]):
        _refuse(split, columns, str(spec))
    return make_dataset(spec, split, partial(load_dataset, columns=columns))


def _refuse(split: str | None, columns: ColumnMap | None, what: str) -> None:
    if split is not None:
        raise NoSplitError(f"{what} has no split {split!r}; leave the split out, or give data with splits")
    if columns is not None:
        raise SpecError(f"the columns of {what} cannot be chosen; leave the columns out")


def _from_string(name: str, split: str | None, columns: ColumnMap | None) -> Dataset:
    own = re.match(r"\w+", name)
    if own and own[0] in sources() and name[own.end() :].lstrip()[:1] in ("", "("):
        return _from_spec(parse(name), split, columns)
    path = Path(name).expanduser()
    if path.is_dir():
        return _from_folder(path, split, columns)
    if path.exists():
        return _from_file(path, split, columns)
    if _looks_like_path(name):
        raise AssayError(f"no file or folder {name!r}; {_nearby(path)}")
    if not HUB_ID.fullmatch(name):
        raise SpecError(f"unknown data set {name!r}; give a path, a hub id, or one of {', '.join(sources())}")
    return hub.from_hub(name, split, columns)


def _looks_like_path(name: str) -> bool:
    """Rather than a hub id: by its form or suffix, or because its parent folder exists."""
    path = Path(name)
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or format_of(path) in READABLE:
        return True
    return "/" in name and path.parent.is_dir()


def _nearby(path: Path) -> str:
    """The contents of the nearest existing parent folder."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    names = [p.name for p in folder.iterdir() if not p.name.startswith(".")][:30]
    where = folder.name or "the root"
    return f"in {where}: {nearest(path.name, names)}" if names else f"the folder {where} is empty"


def _from_file(path: Path, split: str | None, columns: ColumnMap | None) -> Dataset:
    if split is not None:
        raise NoSplitError(
            f"{path.name} is a single file and has no split {split!r}; leave the split out, or give data with splits"
        )
    stem = stem_of(path)
    if names_a_split(stem):
        return _read((path,), _absolute(path).parent.name, stem, columns)
    return _read((path,), stem, None, columns)


def _absolute(path: Path) -> Path:
    """With the names of folders instead of "..", which a data set would otherwise be named after."""
    return Path(os.path.abspath(path))


def _from_folder(path: Path, split: str | None, columns: ColumnMap | None) -> Dataset:
    if hub.is_saved(path):
        return hub.from_saved(path, split, columns)
    name, files = _absolute(path).name, split_files(path)
    if not files and (folders := image_splits(_absolute(path))):
        return _from_images(folders, split, columns)
    chosen = choose_split(files, split, name)
    return _read(files[chosen], name, chosen, columns)


def _from_images(folders: Mapping[str, Path], split: str | None, columns: ColumnMap | None) -> Dataset:
    """Folders of images by split. One with a table in it, such as metadata.csv, is read from the table."""
    first = next(iter(folders.values()))
    alone = len(folders) == 1 and not is_split_name(first.name)
    if alone:
        _refuse(split, None, first.name)
    name, chosen = first.name if alone else first.parent.name, choose_split(folders, split, first.parent.name)
    title = None if alone else chosen
    if tables := split_files(folders[chosen]):
        return _read(tables[choose_split(tables, None, f"{name}/{chosen}")], name, title, columns)
    _refuse(None, columns, f"the folder {chosen}")
    found = read_image_folder(folders[chosen])
    where = name if alone else f"{name}/{chosen}"
    data = build_dataset(found.rows, where, label_names={"label": found.classes})
    return replace(data, name=name, split=title, notes=(*found.notes, *data.notes))


def _read(paths: tuple[Path, ...], name: str, split: str | None, columns: ColumnMap | None) -> Dataset:
    where = f"{name}/{split}" if split else name
    rows = chain.from_iterable(map(read_rows, paths))
    data = build_dataset(rows, where, columns=columns, label_names=label_names(paths[0]))
    if not data:
        raise AssayError(f"{where} has no rows; give a file with at least one")
    return replace(data, name=name, split=split)
