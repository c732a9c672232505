"""Pictures in every form in which people have them are the same picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.core.errors import InputError
from assay.core.types import Example
from assay.datasets.examples import as_examples
from assay.datasets.images import open_image
from assay.datasets.pixels import as_picture

RGB = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)
RGB[0, 0, 0], RGB[0, 0, 1] = 0, 255
GREY = RGB[..., :1]
FIRST = RGB.transpose(2, 0, 1)
CLEAR = np.dstack([RGB, np.zeros((6, 8), np.uint8)])
WHITE = np.full_like(RGB, 255)


def pixels(image: object) -> np.ndarray:
    return np.atleast_3d(np.asarray(as_picture(image)))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (RGB, RGB),
        (FIRST, RGB),
        (RGB / 255, RGB),
        ((FIRST / 255).astype(np.float32), RGB),
        (RGB.astype(np.float32), RGB),
        (RGB.astype(np.int64), RGB),
        (RGB.tolist(), RGB),
        (GREY, GREY),
        (GREY[..., 0], GREY),
        (GREY.transpose(2, 0, 1), GREY),
        (GREY > 100, (GREY > 100) * np.uint8(255)),
        (CLEAR, WHITE),
        (Image.fromarray(CLEAR), WHITE),
        (Image.fromarray(RGB), RGB),
        (Image.fromarray(GREY[..., 0]), GREY),
        (Image.fromarray(GREY[..., 0].astype(np.uint16) * 257), GREY),
        (Image.fromarray(GREY[..., 0].astype(np.int32)), GREY),
        (Image.fromarray((GREY[..., 0] / 255).astype(np.float32)), GREY),
        (np.zeros((2, 2, 3)), np.zeros((2, 2, 3))),
    ],
)
def test_one_picture_in_many_forms(given: object, expected: np.ndarray) -> None:
    found = pixels(given)
    assert found.dtype == np.uint8
    assert np.array_equal(found, expected)


def test_a_picture_that_needs_no_change_is_the_same_object() -> None:
    for picture in (RGB, GREY, Image.fromarray(RGB), Image.fromarray(GREY[..., 0])):
        assert as_picture(picture) is picture
    example = Example(image=RGB, id="a")
    assert next(as_examples([example])) is example


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (RGB / 127.5 - 1, "values from -1 to 1; give whole numbers from 0 to 255, or fractions from 0 to 1"),
        (RGB.astype(np.uint16) * 257, "values from 0 to 6.55e+04"),
        (np.full((2, 2, 3), np.nan), "values from nan to nan"),
        (np.zeros((6, 8, 2), np.uint8), r"shape \(6, 8, 2\) has 2 channels; give \(H,W,3\)"),
        (np.zeros((5, 6, 8), np.uint8), r"for several grey images, \(N,H,W,1\)"),
        (np.zeros((0, 8, 3), np.uint8), "this is no image"),
        (np.array([["a", "b"]]), "this is no image"),
        ([[1, 2], [3]], "rows of the image differ in length"),
        (object(), "this is no image: object"),
    ],
)
def test_what_can_be_read_in_several_ways_is_refused(given: object, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("+", r"\+")):
        as_picture(given)


def test_a_photo_stands_upright_however_it_is_given(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.png"
    Image.fromarray(RGB).save(path, exif=exif)
    turned = np.rot90(RGB, -1)
    opened = Image.open(path)
    given = [path, opened, {"image": opened}, {"image": {"bytes": path.read_bytes()}}, {"image": path.read_bytes()}]
    given.append(Example(image=Image.open(path)))
    for example in as_examples(given):
        assert np.array_equal(np.asarray(example.image), turned)


def test_only_the_first_of_several_pictures_in_a_file_is_read(tmp_path: Path) -> None:
    frames = [Image.fromarray(RGB), Image.fromarray(255 - RGB)]
    for name in ("a.gif", "a.tif", "a.webp"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
    with pytest.warns(UserWarning, match="1 input is animated or of several pages: only the first picture is read"):
        open_image(tmp_path / "a.tif")
    with pytest.warns(assay.DataWarning):
        data = assay.load_dataset([tmp_path / "a.gif", tmp_path / "a.webp"])
    assert "2 inputs are animated or of several pages: only the first picture is read." in data.notes


def test_one_array_may_be_one_picture_or_three() -> None:
    with pytest.warns(UserWarning, match=r"read as one image, its 3 channels first; for 3 grey images, give the shape"):
        assert len(assay.load_dataset(FIRST)) == 1
    assert len(assay.load_dataset({"image": FIRST, "label": ["a", "b", "a"]})) == 3  # as long as the labels
    assert len(assay.load_dataset([FIRST, FIRST])) == 2
