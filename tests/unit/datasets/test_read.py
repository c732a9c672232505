"""Hand-made files of every format: the same three rows come out of each."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from assay import AssayError, InputError, SpecError
from assay.datasets.load import load_dataset
from assay.datasets.read import format_of, label_names, read_rows, stem_of

ROWS = [
    {"text": 'she said "no", twice', "label": "negative"},
    {"text": "häßlich, 好\tand tabbed", "label": "negative"},
    {"text": "fine", "label": "positive"},
]


def write_csv(path):
    lines = ["text,label", '"she said ""no"", twice",negative', '"häßlich, 好\tand tabbed",negative', "fine,positive"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_jsonl(path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")


def write_json(path):
    path.write_text(json.dumps(ROWS), encoding="utf-8")


def write_parquet(path):
    from datasets import Dataset

    Dataset.from_list(ROWS).to_parquet(str(path))


WRITERS = {".csv": write_csv, ".jsonl": write_jsonl, ".json": write_json, ".parquet": write_parquet}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_rows(tmp_path, kind, zipped):
    path = tmp_path / f"reviews{kind}"
    WRITERS[kind](path)
    if zipped:
        path = tmp_path / f"zipped{kind}.gz"
        path.write_bytes(gzip.compress((tmp_path / f"reviews{kind}").read_bytes()))
    assert list(read_rows(path)) == ROWS
    data = load_dataset(path)
    assert [(e.text, e.label, e.id) for e in data] == [(r["text"], r["label"], str(i)) for i, r in enumerate(ROWS)]
    assert data.labels == ("negative", "positive")


@pytest.mark.parametrize(
    "text",
    [
        '{"text": ["a", "b"], "label": [0, 1]}',
        '{"data": [{"text": "a", "label": 0}, {"text": "b", "label": 1}]}',
        '{"version": "1", "data": [{"text": "a", "label": 0}, {"text": "b", "label": 1}]}',
    ],
)
def test_other_shapes_of_json(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    assert list(read_rows(path)) == [{"text": "a", "label": 0}, {"text": "b", "label": 1}]


def test_tsv_keeps_loose_quotation_marks_and_opens_quoted_cells(tmp_path):
    """GLUE writes quotation marks as they are; a reader with quoting would swallow the second row."""
    path = tmp_path / "a.tsv"
    path.write_text('sentence\tlabel\n"bad" film\t0\n"never closed\t1\n"he said ""hi"""\t0\n""\t1\n')
    assert [row["sentence"] for row in read_rows(path)] == ['"bad" film', '"never closed', 'he said "hi"', ""]
    assert [row["label"] for row in read_rows(path)] == ["0", "1", "0", "1"]


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes("text,label\r\nfine,1\r\n".encode("utf-8-sig"))
    assert list(read_rows(path)) == [{"text": "fine", "label": "1"}]


def test_txt_gives_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n\ntwo")
    assert list(read_rows(path)) == ["one", "", "two"]


def test_npz_of_images(tmp_path):
    colour = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
    np.savez(tmp_path / "colour.npz", images=colour, labels=np.array([1, 0]), classes=np.array(["cat", "dog"]))
    data = load_dataset(tmp_path / "colour.npz")
    assert data.labels == ("cat", "dog")
    assert [e.label for e in data] == [1, 0]
    assert (data[1].image == colour[1]).all()
    np.savez(tmp_path / "grey.npz", images=colour[..., 0], labels=np.array([0, 2]))
    grey = load_dataset(tmp_path / "grey.npz")
    assert grey[0].image.shape == (4, 5, 1)
    assert (grey[1].image[..., 0] == colour[1, ..., 0]).all()
    assert grey.labels == ("0", "1", "2")
    assert grey.fingerprint != data.fingerprint


def test_parquet_knows_the_names_of_labels_and_holds_images(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Image, Value
    from PIL import Image as Pillow

    features = Features({"image": Image(), "label": ClassLabel(names=["cat", "dog"]), "id": Value("string")})
    picture = Pillow.new("RGB", (3, 2), (9, 8, 7))
    path = tmp_path / "train.parquet"
    Dataset.from_dict({"image": [picture], "label": [1], "id": ["x"]}, features=features).to_parquet(str(path))
    assert label_names(path) == {"label": ("cat", "dog")}
    data = load_dataset(path)
    assert data.labels == ("cat", "dog")
    assert data[0].label == 1
    assert np.asarray(data[0].image).tolist() == np.asarray(picture).tolist()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"", r"cannot read a.xlsx: unknown file type; supported: .csv, .json"),
        ("a", b"", "cannot read a: unknown file type"),
        ("a.jsonl", b'{"text": "a"}\nno json\n', "a, row 2: not JSON"),
        ("a.jsonl", b'{"text": "a"}\n7\n', "a, row 2: unsupported input type int"),
        ("a.json", b'{"text": ', "not JSON: .*one object per line .jsonl"),
        ("a.json", b'{"train": [{"text": "a"}], "test": [{"text": "b"}]}', "several tables .train, test"),
        ("a.json", b'{"text": ["a", "b"], "label": [1]}', "not a table"),
        ("a.csv", b"text,label\na,b,c\n", "a, row 1: 3 cells, but the header has 2"),
        ("a.csv", b'text,label\n"a" b,c\n', "a, row 1: not CSV: .*double the quotation marks"),
        ("a.csv", b'text,label\nx,0\n"never closed,1\n', "a, row 2: not CSV"),
        ("a.csv", b'"text"x,label\na,1\n', "cannot read "),
        ("a.csv", b"text,label\n", "a has no rows"),
        ("a.csv", b"text,label\n\xff\xfe,1\n", "cannot read .*UTF-8"),
        ("a.jsonl.gz", b"not zipped", "cannot read .*damaged or incomplete"),
        ("a.npz", b"not zipped", "not an npz file: .*"),
        ("a.parquet", b"not parquet", "not a parquet file"),
    ],
)
def test_a_broken_file_ends_in_a_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AssayError, match=message):
        load_dataset(path)


def test_npz_without_images_says_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", weights=np.zeros(3))
    with pytest.raises(AssayError, match="no images among the arrays weights"):
        load_dataset(tmp_path / "a.npz")


def test_a_truncated_gzip_file(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}\n' * 100)[:-12])
    with pytest.raises(AssayError, match=r"cannot read .*damaged or incomplete"):
        load_dataset(path)


def test_reading_streams_and_bad_rows_come_as_errors(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\nbad\n{"text": "b"}\n')
    first, second, third = read_rows(path)
    assert (first, third) == ({"text": "a"}, {"text": "b"})
    assert isinstance(second, InputError)


def test_csv_goes_on_after_a_bad_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\nx,0\n"a" b,1\ny,1\n' + "z" * 200_000 + ",0\n")
    found = list(read_rows(path))
    assert isinstance(found.pop(1), InputError)
    assert [row["text"][:3] for row in found] == ["x", "y", "zzz"]


def test_names(tmp_path):
    assert format_of(tmp_path / "en-de.dev.jsonl.gz") == ".jsonl"
    assert stem_of(tmp_path / "en-de.dev.jsonl.gz") == "en-de.dev"
    assert stem_of(tmp_path / "train.parquet") == "train"
    with pytest.raises(SpecError):
        next(read_rows(tmp_path / "x.doc"))


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        ([0, 1, 0], None, r"the labels have the shape \(3,\); give one for each of the 2 images"),
        (np.eye(2, dtype=np.uint8), None, r"the labels have the shape \(2, 2\)"),
        ([1, 2], ["a", "b"], "the labels, 1 to 2, are no indices of the 2 'classes', which count from 0"),
        (np.array(["a", None], object), None, "not an npz file: "),
    ],
)
def test_labels_of_an_npz_file_must_fit_its_images(tmp_path, labels, classes, words):
    arrays = {"images": np.zeros((2, 4, 4, 3), np.uint8), "labels": labels}
    np.savez(tmp_path / "a.npz", **arrays, **({} if classes is None else {"classes": classes}))
    with pytest.raises(AssayError, match=words):
        list(read_rows(tmp_path / "a.npz"))


def test_labels_of_an_npz_file_in_other_forms(tmp_path):
    images = np.zeros((3, 4, 4), np.uint8)
    np.savez(
        tmp_path / "a.npz", images=images, labels=np.array([[1], [0], [-1]], np.int8), classes=[b"calm", b"bright"]
    )
    assert [row.get("label_name") for row in read_rows(tmp_path / "a.npz")] == ["bright", "calm", None]
