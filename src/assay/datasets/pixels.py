"""Any picture as one that cannot be misread: upright, on white where it is transparent, with 8 bits per channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError

CHANNELS = (1, 3, 4)  # grey, red-green-blue, and with transparency
WHITE = 255
SIXTEEN_BITS = 257  # 65535 / 255
ORIENTATION = 0x0112  # EXIF


def as_picture(image: Any) -> Any:
    """A PIL image in grey or RGB, or an (H,W,1) or (H,W,3) array of uint8; of what is one already, the same object."""
    if not hasattr(image, "convert"):
        return as_pixels(image)
    try:
        return upright(image)
    except OSError as error:  # PIL reads a file when its pixels are wanted
        raise InputError(f"cannot read the image: {error}") from error


def upright(image: Any) -> Any:
    """A PIL image turned as its camera was held, in grey or RGB, on white where it is transparent."""
    from PIL import Image, ImageOps

    image.load()  # a file may say at its end how the camera was held
    if image.getexif().get(ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
    if image.mode in ("L", "RGB"):
        return image
    if image.mode.startswith("I;16"):
        return Image.fromarray(np.rint(np.asarray(image) / SIXTEEN_BITS).astype(np.uint8))
    if image.mode in ("I", "F"):
        return Image.fromarray(_eight_bits(np.asarray(image)))
    over = Image.new("RGBA", image.size, "white")
    over.alpha_composite(image.convert("RGBA"))
    return over.convert("RGB")


def as_pixels(image: Any) -> NDArray[np.uint8]:
    """An array of any type, also with its channels first, as (H,W,1) or (H,W,3) uint8."""
    try:
        array = np.asarray(image)
    except ValueError as error:
        raise InputError(
            "the rows of the image differ in length; give an array (H,W,3) or the path of a file"
        ) from error
    if array.dtype.kind not in "buif" or not 2 <= array.ndim <= 3 or not array.size:
        what = f"{array.dtype} of shape {array.shape}" if array.ndim else type(image).__name__
        raise InputError(f"this is no image: {what}; give a PIL image, an array (H,W,3) or the path of a file")
    array = array[..., None] if array.ndim == 2 else array
    array = np.moveaxis(array, 0, -1) if channels_first(array) else array
    if array.shape[-1] not in CHANNELS:
        raise InputError(
            f"an image of shape {array.shape} has {array.shape[-1]} channels; give (H,W,3), (H,W,1) for grey or, for "
            "several grey images, (N,H,W,1)"
        )
    pixels = _eight_bits(array)
    return pixels if pixels.shape[-1] < 4 else np.asarray(upright(as_pil(pixels)))


def channels_first(array: NDArray[Any]) -> bool:
    """Whether an array of three dimensions is (C,H,W), as in torch."""
    return array.ndim == 3 and array.shape[-1] not in CHANNELS and array.shape[0] in CHANNELS


def as_pil(pixels: NDArray[np.uint8]) -> Any:
    """An array (H,W,C) of uint8 as a PIL image."""
    from PIL import Image

    return Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)


def _eight_bits(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Values from 0 to 255, or from 0 to 1 as fractions; others are pixels that somebody has already processed."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(WHITE)
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and high <= WHITE):  # also NaN
        raise InputError(
            f"the image has values from {low:.3g} to {high:.3g}; give whole numbers from 0 to 255, or fractions from 0 "
            "to 1, that are not normalised"
        )
    fractions = array.dtype.kind == "f" and high <= 1
    return np.rint(array * float(WHITE) if fractions else array).astype(np.uint8)
