"""Which part of a data set is meant: "dev" finds dev, validation or dev_matched; if unclear, all there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from assay.core.errors import SpecError, nearest
from assay.datasets.read import READABLE, format_of, stem_of

DEV = ("dev", "val", "valid", "validation", "development")
USUAL = {"train", "dev", "test"}
SHARD = re.compile(r"-\d{5}-of-\d{5}$")  # train-00000-of-00002.parquet: one split in several files


def choose(names: Iterable[str], split: str | None, where: str) -> str:
    """The one name that `split` means: the same name, the same parts in other spelling, or the only one with them."""
    known = list(names)
    if not known:
        raise SpecError(f"{where} holds no data that can be read; give a folder with {', '.join(READABLE)} files")
    if split is None:
        if len(known) == 1:
            return known[0]
        raise SpecError(f"{where} has several splits; choose one with split=...: {', '.join(known)}")
    wanted = parts(split)
    for found in (
        [name for name in known if name == split],
        [name for name in known if parts(name) == wanted],
        [name for name in known if wanted and wanted <= parts(name)],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise SpecError(f"{where} has several splits that match {split!r}; choose one of {', '.join(found)}")
    raise SpecError(f"{where} has no split {split!r}; {nearest(split, known)}")


def parts(name: str) -> set[str]:
    """The words of a split's name, validation and val being dev: "en-de.validation" -> {en, de, dev}."""
    return {"dev" if part in DEV else part for part in re.split(r"[^a-z0-9]+", name.lower()) if part}


def is_usual(name: str) -> bool:
    """Whether a file's name says which split it is."""
    return bool(parts(name) & USUAL)


def files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """The files of each split of a folder (or of its folder data/), by split name; shards of one split together."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and _is_data(path)]
    if not found and (folder / "data").is_dir():
        return files(folder / "data")
    stems = Counter(stem_of(path) for path in found)
    out: dict[str, tuple[Path, ...]] = {}
    for path in found:
        stem = stem_of(path)
        name = SHARD.sub("", stem) if stems[stem] == 1 else path.name  # dev.csv beside dev.jsonl: by the whole name
        out[name] = (*out.get(name, ()), path)
    return out


def _is_data(path: Path) -> bool:
    known = format_of(path) in READABLE and format_of(path) != ".txt"  # a .txt in a folder is a licence or a note
    return known and not path.name.startswith((".", "_", "dataset_info"))
