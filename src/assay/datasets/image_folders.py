"""Folders of images: one for each class, in folders of splits or not (train/frog/1.png); or images without classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError
from assay.datasets.images import named_as_image
from assay.datasets.splits import is_split_name

IGNORED = ("thumbs.db", "desktop.ini")  # what Windows leaves behind


@dataclass(frozen=True)
class ImageFolder:
    """The images of one folder, the names of their classes, and what was not read."""

    rows: tuple[dict[str, Any], ...]
    classes: tuple[str, ...]  # none: the images have no labels
    notes: tuple[str, ...]


def image_splits(folder: Path) -> dict[str, Path]:
    """The folders of splits in a folder, or the folder itself under its own name; nothing if there are no images."""
    inner = [path for path in _folders(folder) if _has_images(path)]
    splits = [path for path in inner if is_split_name(path.name)]
    if splits and len(splits) == len(inner) and not _files(folder)[0]:
        return {path.name: path for path in splits}
    if splits and any(_folders(path) for path in inner):  # without folders of their own, all are classes
        other = next((path.name for path in inner if path not in splits), "images")
        raise SpecError(
            f"{folder.name} holds {other} beside the split {splits[0].name}; give one split, {folder.name}/"
            f"{splits[0].name}, or move what is no split away"
        )
    return {folder.name: folder} if inner or _files(folder)[0] else {}


def read_image_folder(folder: Path) -> ImageFolder:
    """Every image as a row with its path from the folder as id; a class is the name of a folder."""
    classes, loose, others = _folders(folder), *_files(folder)
    if loose and classes:
        raise SpecError(
            f"{folder.name} holds images ({loose[0].name}) beside folders ({classes[0].name}); put each image into the "
            "folder of its class, or all into one folder"
        )
    rows = [{"image": path, "id": path.name} for path in loose]
    for label, inner in enumerate(classes):
        images, more = _files(inner)
        if deeper := _folders(inner):
            where = f"{inner.name}/{deeper[0].name}"
            raise SpecError(f"{where} is a folder within a class; put the images directly into the folder {inner.name}")
        if not images:
            raise SpecError(f"the folder {inner.name} holds no image; fill it, or take it away if it is no class")
        others += more
        rows += [{"image": path, "id": f"{inner.name}/{path.name}", "label": label} for path in images]
    return ImageFolder(tuple(rows), tuple(path.name for path in classes), tuple(_left_out(others)))


def _left_out(others: list[Path]) -> Iterator[str]:
    if others:
        several = "files are no images and are" if len(others) > 1 else "file is no image and is"
        yield f"{len(others):,} {several} not read: {others[0].name}{', ...' * (len(others) > 1)}."


def _has_images(folder: Path) -> bool:
    return any(_files(path)[0] for path in (folder, *_folders(folder)))


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not _is_hidden(path))


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    """The images and the other files directly in a folder."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not _is_hidden(path))
    images = [path for path in files if named_as_image(path.name)]
    return images, [path for path in files if path not in set(images)]


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "__")) or path.name.lower() in IGNORED
