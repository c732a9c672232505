"""load_dataset: a built-in name or generator, a local file or folder, a hub id, or rows already in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, InputError, SpecError, nearest
from assay.core.spec import Spec, parse
from assay.datasets import hub
from assay.datasets.dataset import Dataset
from assay.datasets.examples import dataset_of
from assay.datasets.read import READABLE, format_of, label_names, rows, stem_of
from assay.datasets.sources import make, sources, wraps
from assay.datasets.splits import choose, files, is_usual

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(:[\w.-]+)?")
Given = Mapping[str, str | None] | None


def load_dataset(
    source: Any,
    *,
    split: str | None = None,
    columns: Given = None,
    limit: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Examples with their labels and rationales.

    source: "builtin", a generator such as "babi_world(task=2)", a csv, tsv, jsonl, json, parquet or npz file (also
    .gz), a folder of these, a hub id ("owner/name" or "owner/name:config"), or a datasets.Dataset, a list of dicts, of
    texts or of Examples. split: which file of a folder or part of a hub data set ("validation" finds dev). columns:
    {role: column} where the guess by name is wrong; None as column switches a role off. limit: a random subset of so
    many, in order, drawn by `seed`.
    """
    data = _load(source, split, columns)
    return data if limit is None else data.take(limit, seed)


def _load(source: Any, split: str | None, columns: Given) -> Dataset:
    if isinstance(source, Spec):
        return _own(source, split, columns)
    if isinstance(source, str | os.PathLike):
        return _named(os.fspath(source), split, columns)
    if hub.is_library_object(source):
        return hub.from_object(source, split, columns)
    if isinstance(source, Dataset):
        _refuse(split, columns, source.name or "the data set")
        return source
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise InputError(
            f"a {type(source).__name__} was given; "
            "give a path, a name, a datasets.Dataset, or a list of dicts, texts or Examples"
        )
    _refuse(split, None, "a list")
    return dataset_of(source, "list", columns=columns)


def _own(spec: Spec, split: str | None, columns: Given) -> Dataset:
    """A data set of Assay's own; split and columns are for what it wraps."""
    if spec.name not in sources():
        raise SpecError(f"there is no data set {spec.name!r}; {nearest(spec.name, sources())}")
    if not wraps(sources()[spec.name]):
        _refuse(split, columns, str(spec))
    return make(spec, split, partial(load_dataset, columns=columns))


def _refuse(split: str | None, columns: Given, what: str) -> None:
    for name, value in (("split", split), ("columns", columns)):
        if value is not None:
            raise SpecError(f"{name}={value!r}: {what} has no {name} to choose; leave {name} out")


def _named(name: str, split: str | None, columns: Given) -> Dataset:
    own = re.match(r"\w+", name)
    if own and own[0] in sources() and name[own.end() :].lstrip()[:1] in ("", "("):
        return _own(parse(name), split, columns)
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path, split, columns)
    if path.exists():
        return _file(path, split, columns)
    if _looks_like_path(name):
        raise AssayError(f"there is no file or folder {name!r}; {_beside(path)}")
    if not HUB_ID.fullmatch(name):
        raise SpecError(f"cannot tell what {name!r} is; give a path, a hub id, or one of {', '.join(sources())}")
    return hub.from_hub(name, split, columns)


def _looks_like_path(name: str) -> bool:
    """Rather than like a hub id: by its form, its ending, or because the folder before the slash is there."""
    path = Path(name)
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or format_of(path) in READABLE:
        return True
    return "/" in name and path.parent.is_dir()


def _beside(path: Path) -> str:
    """What there is where the path stops to exist."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    names = [p.name for p in folder.iterdir() if not p.name.startswith(".")][:30]
    return f"in {folder.name or 'the root'}: {nearest(path.name, names)}"


def _file(path: Path, split: str | None, columns: Given) -> Dataset:
    if split is not None:
        raise SpecError(f"{path.name} is one file and has no split {split!r}; leave split out, or give its folder")
    stem = stem_of(path)
    if is_usual(stem):
        return _read((path,), path.absolute().parent.name, stem, columns)
    return _read((path,), stem, None, columns)


def _folder(path: Path, split: str | None, columns: Given) -> Dataset:
    if hub.is_saved(path):
        return hub.from_saved(path, split, columns)
    name, found = path.absolute().name, files(path)
    chosen = choose(found, split, name)
    return _read(found[chosen], name, chosen, columns)


def _read(paths: tuple[Path, ...], name: str, split: str | None, columns: Given) -> Dataset:
    where = f"{name}/{split}" if split else name
    found = dataset_of(chain.from_iterable(map(rows, paths)), where, columns=columns, names=label_names(paths[0]))
    if not found:
        raise AssayError(f"{where} holds no rows; give a file with at least one")
    return replace(found, name=name, split=split)
