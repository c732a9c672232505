"""The Hugging Face datasets library (imported on use): hub ids, Dataset and DatasetDict, `save_to_disk` folders."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError
from assay.datasets.build import build_dataset
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.datasets.splits import NoSplitError, choose_split


def is_library_object(source: object) -> bool:
    """Whether this is a Dataset or DatasetDict of the library, not one of its columns; does not import it."""
    return type(source).__module__.split(".")[0] == "datasets" and hasattr(source, "column_names")


def from_hub(name: str, split: str | None, columns: ColumnMap | None) -> Dataset:
    """A data set from the hub; "owner/name:config" selects a configuration."""
    path, _, config = name.partition(":")
    library = _library()
    try:
        data = library.load_dataset(path, config or None)
    except Exception as error:  # the library passes on errors of any kind: network, archives, scripts
        raise AssayError(
            f"{name!r} is not a file, folder or built-in name, and could not be loaded from the hub "
            f"({type(error).__name__}: {(str(error).strip() or 'no reason given').splitlines()[0]}); "
            "check the spelling and the network, or give the path of a local file"
        ) from error
    return from_object(data, split, columns, name)


def is_saved(folder: Path) -> bool:
    return (folder / "dataset_dict.json").exists() or (folder / "state.json").exists()


def from_saved(folder: Path, split: str | None, columns: ColumnMap | None) -> Dataset:
    """A folder written by save_to_disk."""
    data = _library().load_from_disk(str(folder))
    return from_object(data, split if isinstance(data, dict) else None, columns, folder.name)


def from_object(data: Any, split: str | None, columns: ColumnMap | None, name: str | None = None) -> Dataset:
    """Convert a Dataset or DatasetDict, with the names of its integer labels."""
    if isinstance(data, dict):
        chosen = choose_split(data, split, name or "the DatasetDict")
        return replace(from_object(data[chosen], None, columns, name), split=chosen)
    if split is not None and split != _split(data):
        raise NoSplitError(f"the Dataset has no split {split!r}; leave the split out, or give data with splits")
    features = data.features or {}
    label_names = {column: feature.names for column, feature in features.items() if getattr(feature, "names", None)}
    title = name or getattr(data.info, "dataset_name", None) or "dataset"
    return replace(build_dataset(data, title, columns=columns, label_names=label_names), split=_split(data))


def _split(data: Any) -> str | None:
    return None if data.split is None else str(data.split)


def _library() -> Any:
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        raise AssayError("hub data sets need the datasets library; install it: pip install 'assay[data]'") from error
