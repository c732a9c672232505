"""Images by path: single files, folders and columns of paths, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.models.model import Model
from families import model_of

from .conftest import Refused, invoke

METHOD = "gradient"


@pytest.fixture(scope="module")
def vit() -> Model:
    return model_of("vit")


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three images of the same size in a folder, one of them with transparency, and a table beside the folder."""
    rng, folder = np.random.default_rng(0), tmp_path / "photos"
    folder.mkdir()
    for name, mode in (("a.png", "RGB"), ("b.JPG", "L"), ("c.png", "RGBA")):
        pixels = rng.integers(0, 255, (40, 32, {"L": 1, "RGB": 3, "RGBA": 4}[mode]), np.uint8)
        Image.fromarray(pixels.squeeze()).save(folder / name)
    (folder / "notes.txt").write_text("no image")
    (tmp_path / "table.csv").write_text(
        "image,label\nphotos/a.png,calm\nphotos/missing.png,calm\nphotos/c.png,bright\n"
    )
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_path_is_the_image(vit: Model, photos: Path) -> None:
    by_array = assay.explain(vit, np.asarray(Image.open(photos / "a.png")), METHOD)
    for path in (photos / "a.png", str(photos / "a.png"), "photos/a.png"):
        a = assay.explain(vit, path, METHOD)
        assert np.array_equal(a.scores, by_array.scores)
        assert a.example_id == "a.png"
    assert vit.predict("photos/a.png").label == by_array.prediction


def test_a_folder_and_a_list_of_paths(vit: Model, photos: Path) -> None:
    folder = assay.explain(vit, photos, METHOD)
    assert [a.example_id for a in folder] == ["a.png", "b.JPG", "c.png"]
    listed = assay.explain(vit, [str(photos / name) for name in ("a.png", "b.JPG", "c.png")], METHOD)
    assert [a.scores.tolist() for a in listed] == [a.scores.tolist() for a in folder]
    assert folder[2].picture.shape == (32, 32, 3)


def test_a_report_says_that_patches_are_explained(vit: Model, photos: Path) -> None:
    result = assay.evaluate(vit, photos, methods=[METHOD, "random"], metrics=["comprehensiveness"])
    result.to_html("report.html")
    page = Path("report.html").read_text()
    assert "units: patch" in page
    assert "units: token" not in page


def test_transparency_is_white_and_photos_stand_upright(vit: Model, tmp_path: Path) -> None:
    Image.new("RGBA", (32, 32), (10, 20, 30, 0)).save(tmp_path / "clear.png")
    with pytest.warns(UserWarning, match="1 input is of one colour all over; scores there mean little"):
        assert (assay.explain(vit, tmp_path / "clear.png", METHOD).picture > 250).all()
    wide = Image.fromarray(np.repeat(np.arange(32, dtype=np.uint8)[None], 32, 0))  # dark on the left
    wide.save(tmp_path / "turned.jpg", exif=_orientation(6), quality=100)
    picture = assay.explain(vit, tmp_path / "turned.jpg", METHOD).picture.astype(int)
    assert picture[0].mean() < picture[-1].mean() - 20  # turned: dark on top


def _orientation(value: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def test_a_column_of_paths_starts_at_its_file(
    vit: Model, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    report = assay.explain_file(vit, tmp_path / "table.csv", "out.jsonl", METHOD, progress=False)
    assert report.written == 2
    assert "no image file 'photos/missing.png'" in report.errors[2]
    with pytest.raises(assay.InputError, match=r"row 2: there is no image file 'photos/missing.png'"):
        assay.load_dataset(tmp_path / "table.csv")
    (tmp_path / "good.jsonl").write_text(json.dumps({"image": "photos/a.png", "label": "calm"}) + "\n")
    assert assay.load_dataset(tmp_path / "good.jsonl")[0].image.size == (32, 40)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("photos/missing.png", "this model reads images, but a text was given; there is no image file 'photos/missing"),
        ("photos/notes.txt", "is a file, not a text"),
        ("broken.png", "cannot read broken.png as an image"),
    ],
)
def test_what_is_no_image_is_a_sentence(vit: Model, photos: Path, tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(assay.InputError, match=words):
        assay.explain(vit, path, METHOD)


def test_an_empty_folder_and_a_model_of_texts(vit: Model, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(assay.InputError, match="there is no image in"):
        assay.explain(vit, tmp_path / "empty", METHOD)
    with pytest.raises(assay.InputError, match="this model reads text, but an image was given"):
        assay.explain("builtin", photos / "a.png", METHOD)
    for text in ("see a.png", "x" * 5000 + ".png", "\0.png"):  # texts that end like a path are texts
        assert len(assay.explain("builtin", f"a film {text}", "random"))


def test_command_line(vit: Model, photos: Path, tmp_path: Path, refused: Refused) -> None:
    assay.save_model(vit, tmp_path / "vit")
    options = ("--model", str(tmp_path / "vit"), "--method", METHOD, "--units", "patch")
    one = invoke("explain", "photos/a.png", *options, "--html", "page.html")
    assert one.exit_code == 0, one.output
    assert "patch" in one.stdout
    assert "data:image/png;base64," in Path("page.html").read_text()
    lines = invoke("explain", "photos", *options, "--json").stdout.splitlines()
    assert [json.loads(line)["example_id"] for line in lines] == ["a.png", "b.JPG", "c.png"]
    (tmp_path / "film").mkdir()
    assert "film +" in invoke("explain", "film", "--method", "random").stdout  # a folder without images is no folder
    assert "the text is empty" in refused("explain", "", cwd=tmp_path)
    assert invoke("explain", "a film " * 60, "--method", "random").exit_code == 0
    assert "reads text, but an image" in refused("explain", "photos/a.png", cwd=tmp_path)
