"""Images by path, in folders, and as bytes in tables."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.notices import notice
from assay.datasets.pixels import as_picture, upright

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


def is_image(item: Any) -> bool:
    """Whether this is a PIL image, an array (H,W) or (H,W,C), or the path of an image (a Path, or a file's name)."""
    if isinstance(item, str):
        return named_as_image(item) and os.path.isfile(item)  # other texts that end in .png are texts
    if isinstance(item, Path):
        return not item.is_dir()
    if isinstance(item, np.ndarray):
        return item.dtype.kind in "buif" and item.ndim in (2, 3)
    return type(item).__module__.startswith("PIL.")


def named_as_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def is_image_folder(name: str) -> bool:
    """Whether a name is that of a folder with images in it, rather than a text of one word."""
    return os.path.isdir(name) and any(map(named_as_image, os.listdir(name)))


def image_files(folder: Path) -> list[Path]:
    """The images in a folder, by name."""
    files = sorted(path for path in folder.iterdir() if named_as_image(path.name) and path.is_file())
    if not files:
        raise InputError(f"there is no image in {folder}; supported: {', '.join(SUFFIXES)}")
    return files


def open_image(image: Any, folder: Path | None = None) -> Any:
    """Open an image given by path or as bytes, and read others as pictures. folder: where the table of paths lies."""
    if isinstance(image, Mapping):
        image = image.get("bytes") or str(image.get("path") or "")
    if isinstance(image, bytes):
        return _open(io.BytesIO(image), "an image of the table")
    if not isinstance(image, str | Path):
        return as_picture(image)
    return _open(found_file(image, folder), str(image))


def found_file(name: str | Path, folder: Path | None) -> Path:
    """The path of an image file, from the folder of the table that names it or from here."""
    beside = Path(name) if folder is None else folder / name
    path = beside if os.path.isfile(beside) else Path(name)
    if not os.path.isfile(path):
        raise InputError(f"there is no image file {str(name)!r}; give a path from here or from the folder of the data")
    return path


def size_of(image: Any) -> tuple[int, int]:
    """Width and height of a picture."""
    width, height = image.size if hasattr(image, "convert") else image.shape[1::-1]
    return width, height


def decode_image(content: bytes, name: str, formats: tuple[str, ...], pixels: int) -> Any:
    """Decode an untrusted image. formats: those allowed, by Pillow's names; pixels are limited, too."""
    return _open(io.BytesIO(content), name, formats, pixels)


def _open(file: Any, name: str, formats: tuple[str, ...] | None = None, pixels: int | None = None) -> Any:
    """Read an image whole, as a picture that cannot be misread."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise InputError("image files need Pillow; install it with: pip install 'assay[images]'") from error
    try:
        with Image.open(file, formats=formats) as opened:
            if pixels is not None and opened.width * opened.height > pixels:
                size = f"{opened.width:,} x {opened.height:,}"
                raise InputError(f"{name} has {size} pixels; give an image of at most {pixels:,}")
            if getattr(opened, "is_animated", False) and opened.format != "MPO":  # a photo with previews
                notice("frames", "{inputs} {are} animated or of several pages: only the first picture is read", name)
            return upright(opened).copy()
    except InputError:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        reason = (
            f"it is not one of {', '.join(formats)}" if formats and isinstance(error, UnidentifiedImageError) else error
        )
        raise InputError(f"cannot read {name} as an image: {reason}") from error
