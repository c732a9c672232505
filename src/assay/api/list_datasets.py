"""assay.list_datasets: the data sets of Assay, or of a folder."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError
from assay.datasets.image_folders import image_splits
from assay.datasets.sources import sources, wraps
from assay.datasets.splits import is_split_name, split_files


def list_datasets(folder: str | Path | None = None) -> dict[str, str]:
    """Names of data sets for `load_dataset`, each with a description.

    Without a folder: built-in data sets and generators; those that transform another data set have the form
    "name(DATA)". With a folder: its files and folders of data, with their splits.
    """
    if folder is not None:
        return _in_folder(Path(folder))
    return {f"{name}(DATA)" if wraps(function) else name: _summary(function) for name, function in sources().items()}


def _summary(function: Any) -> str:
    """The first line of the docstring of the function's file; of a user's function, of its own."""
    own = function.__module__.startswith("assay.")
    return (inspect.getdoc(inspect.getmodule(function) if own else function) or "").split("\n")[0]


def _in_folder(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise SpecError(f"{folder} is not a folder; give a folder of data sets, or none for the built-in ones")
    splits = {path.name: _splits(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    splits |= {paths[0].name: ["one file"] for paths in split_files(folder).values()}
    if not any(splits.values()):
        raise SpecError(
            f"{folder} has no data sets; give a folder with csv, tsv, jsonl, json, parquet, npz or image files"
        )
    return {name: ", ".join(names) for name, names in splits.items() if names}


def _splits(folder: Path) -> list[str]:
    """The splits of files or, where there are none, of images."""
    if files := list(split_files(folder)):
        return files
    try:
        return [name if is_split_name(name) else "images" for name in image_splits(folder)]
    except SpecError:  # folders of splits and of something else: to load them says what is wrong
        return []
