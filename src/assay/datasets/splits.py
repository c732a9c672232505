"""Find a split by name ("dev" matches dev, validation or dev_matched), and the files of each split in a folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from assay.core.errors import SpecError, nearest
from assay.datasets.read import READABLE, format_of, stem_of

DEV = ("dev", "val", "valid", "validation", "development")
KNOWN = {"train", "dev", "test"}
SHARD = re.compile(r"-\d{5}-of-\d{5}$")  # train-00000-of-00002.parquet: one split in several files


class NoSplitError(SpecError):
    """The data have no split of this name."""


def choose_split(names: Iterable[str], split: str | None, where: str) -> str:
    """The name that `split` refers to: equal, with the same parts, or the only one that contains these parts."""
    names = list(names)
    if not names:
        raise SpecError(
            f"{where} contains no readable data; give a folder with {', '.join(READABLE)} files, or of images"
        )
    if split is None:
        if len(names) == 1:
            return names[0]
        raise SpecError(f"{where} has several splits; choose one: {', '.join(names)}")
    wanted = _name_parts(split)
    for matches in (
        [name for name in names if name == split],
        [name for name in names if _name_parts(name) == wanted],
        [name for name in names if wanted and wanted <= _name_parts(name)],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise SpecError(f"{where} has several splits that match {split!r}; choose one of {', '.join(matches)}")
    raise NoSplitError(f"{where} has no split {split!r}; {nearest(split, names)}")


def _name_parts(name: str) -> set[str]:
    """The parts of a split's name, with validation and val as dev: "en-de.validation" -> {en, de, dev}."""
    return {"dev" if part in DEV else part for part in re.split(r"[^a-z0-9]+", name.lower()) if part}


def names_a_split(name: str) -> bool:
    """Whether a file name contains train, dev or test."""
    return bool(_name_parts(name) & KNOWN)


def is_split_name(name: str) -> bool:
    """Whether a folder's name is only that of a split, such as train or val."""
    parts = _name_parts(name)
    return bool(parts) and parts <= KNOWN


def is_held_out(name: str) -> bool:
    """Whether this is the name of a split that models are not trained on."""
    return bool(_name_parts(name) & (KNOWN - {"train"})) and "train" not in _name_parts(name)


def split_files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """The files of each split in a folder (or in its subfolder data/), by split name; shards are grouped."""
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and _is_data(path)]
    if not paths and (folder / "data").is_dir():
        return split_files(folder / "data")
    stems = Counter(stem_of(path) for path in paths)
    splits: dict[str, tuple[Path, ...]] = {}
    for path in paths:
        stem = stem_of(path)
        name = SHARD.sub("", stem) if stems[stem] == 1 else path.name  # dev.csv and dev.jsonl: use the full names
        splits[name] = (*splits.get(name, ()), path)
    return splits


def _is_data(path: Path) -> bool:
    readable = format_of(path) in READABLE and format_of(path) != ".txt"  # .txt files in folders are licences or notes
    return readable and not path.name.startswith((".", "_", "dataset_info"))
