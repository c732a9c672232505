"""Boxes and masks mark the same pixels; whatever can be read in two ways is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from assay.core.errors import InputError
from assay.core.types import PIXELS
from assay.datasets.load import load_dataset

WIDTH, HEIGHT = 8, 6
IMAGE = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
MARKED = np.zeros((HEIGHT, WIDTH), bool)
MARKED[1:3, 4:7] = True  # rows 1 and 2, columns 4 to 6
MASK = MARKED.astype(np.uint8) * 255
CORNERS = {"left": 4, "top": 1, "right": 7, "bottom": 3}
SIZE = {"x": 4, "y": 1, "width": 3, "height": 2}


def marked(rationale: Any, role: str = "rationale") -> list[np.ndarray]:
    (example,) = load_dataset([{"image": IMAGE, "label": "a", role: rationale}])
    out = []
    for spans in example.rationales:
        assert {span.segment for span in spans} <= {PIXELS}
        pixels = np.zeros(HEIGHT * WIDTH, bool)
        for span in spans:
            pixels[span.start : span.end] = True
        out.append(pixels.reshape(HEIGHT, WIDTH))
    return out


@pytest.mark.parametrize(
    "rationale",
    [
        CORNERS,
        SIZE,
        [SIZE],
        [{**SIZE, "width": 2}, {**SIZE, "x": 6, "width": 1}],
        {"x": 4.2, "y": 1.0, "width": 2.5, "height": 1.5},  # widened to whole pixels
        json.dumps([CORNERS]),
        MASK,
        MARKED,
        MASK // 255,
        np.dstack([MASK] * 3),
        MASK.tolist(),
        json.dumps(MARKED.astype(int).tolist()),
        Image.fromarray(MASK),
        Image.fromarray(MARKED),
    ],
)
def test_boxes_and_masks(rationale: Any) -> None:
    (found,) = marked(rationale)
    assert np.array_equal(found, MARKED)


def test_several_annotators_and_none() -> None:
    first, second = marked([SIZE, {"x": 0, "y": 0, "width": 8, "height": 6}], "rationales")
    assert np.array_equal(first, MARKED)
    assert second.all()
    for nothing in (None, [], "", MASK * 0):
        (example,) = load_dataset([{"image": IMAGE, "id": "a", "rationale": nothing}])
        assert example.rationales == ()


@pytest.mark.parametrize(
    ("rationale", "words"),
    [
        ([4, 1, 7, 3], r"cannot read the boxes \[4, 1, 7, 3\]: four numbers may mean two things; write"),
        ([[4, 1, 3, 2]], "four numbers may mean two things"),
        ({**SIZE, "label": "cat"}, "a box of a rationale has the keys x, y, width, height, label; write"),
        ({**CORNERS, "right": 9}, "does not lie in the image, which has 8 x 6 pixels"),
        ({**CORNERS, "right": 3}, "does not lie in the image"),
        ({"left": 0.1, "top": 0.1, "right": 0.5, "bottom": 0.9}, "seems to hold shares of the image; give pixels"),
        ({**CORNERS, "top": "high"}, "holds something else than numbers"),
        (MASK.T, "the mask has 6 x 8 pixels, but the image 8 x 6; give masks of its size"),
        (np.arange(48, dtype=np.uint8).reshape(6, 8), "a mask holds the values 0, 1, 2, ...; give two"),
        (MARKED + 1, "a mask holds the values 1, 2; give two, 0 and another"),
        ("missing.png", "there is no image file 'missing.png'"),
    ],
)
def test_what_may_mean_two_things_is_refused(rationale: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        marked(rationale)


def test_files_of_masks_lie_where_their_table_does(tmp_path: Path) -> None:
    Image.fromarray(IMAGE).save(tmp_path / "a.png")
    Image.fromarray(MASK).save(tmp_path / "a_mask.png")
    (tmp_path / "metadata.csv").write_text("file_name,label,rationale\na.png,x,a_mask.png\na.png,x,\n")
    data = load_dataset(tmp_path)
    assert sum(span.end - span.start for span in data[0].rationales[0]) == MARKED.sum()
    assert data[1].rationales == ()
    assert not any("rationale" in note for note in data.notes)


def test_masks_that_may_be_inverted_are_noted() -> None:
    rows = [{"image": IMAGE, "id": "a", "rationale": mask} for mask in (MASK, 255 * (MASK == 0).astype(np.uint8))]
    assert not load_dataset(rows[:1]).notes
    (note,) = load_dataset(rows[1:]).notes
    assert f"mark {100 * (~MARKED).mean():.0f} % of the pixels" in note
    assert "not inverted" in note
