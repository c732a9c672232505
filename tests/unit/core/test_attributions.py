"""Attributions leave as dicts, JSON, frames and data sets, and come back equal; no pickle anywhere."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas
import pytest

import assay
from assay import Attribution, Cost, Target, TargetError, Unit
from assay.core.attributions import Attributions
from assay.core.explanations import Explanations
from assay.core.spec import parse

TEXT = Attribution(
    units=(Unit("naïve", 0, 5), Unit("👍🏽", 6, 8, 1), Unit("late", 9, 13, seen=False)),
    scores=np.array([0.1, -1 / 3, 0.0], np.float32),
    target=Target(1, None, "probability"),
    label="positive",
    method=parse("ensemble(methods=[lime(samples=3), occlusion])"),
    example_id="7",
    value_full=0.987654321,
    value_empty=None,
    cost=Cost(12, 0, 0.25),
)
PATCH = Attribution(
    units=(Unit("patch 0", 0, 1, box=(0, 0, 8, 8)), Unit("patch 1", 1, 2, box=(8, 0, 16, 8))),
    scores=np.array([1e-30, 3e30], np.float32),
    target=Target(0, 1, "logit"),
    label="cat",
    method=parse("integrated_gradients(steps=5, tolerance=None)"),
    value_full=-2.5,
    value_empty=0.1,
    probabilities={"cat": 0.25, "dog": 0.75},
    text="a text",
    in_value=True,
    extra={"steps": 5, "completeness_error": 1e-7, "nested": {"a": [1, None]}},
)
BOTH = Attributions([TEXT, PATCH])


def same(a, b):
    """Every field, exactly: what `==` compares, and the types too."""
    assert a == b
    assert a.to_dict() == b.to_dict()
    assert a.units == b.units
    assert all(type(u.box) is type(v.box) for u, v in zip(a.units, b.units, strict=True))
    assert a.scores.dtype == b.scores.dtype == np.float32
    assert np.array_equal(a.scores, b.scores)
    assert a.method == b.method
    assert (a.target, a.cost, a.value_full, a.value_empty) == (b.target, b.cost, b.value_full, b.value_empty)


@pytest.mark.parametrize("a", BOTH)
def test_dict_and_json(a):
    same(Attribution.from_dict(a.to_dict()), a)
    same(Attribution.from_dict(json.loads(json.dumps(a.to_dict(), ensure_ascii=False))), a)


def test_pandas():
    frame = BOTH.to_pandas(wide=True)
    assert len(frame) == 2
    assert frame["label"].tolist() == ["positive", "cat"]
    back = Attributions.from_pandas(frame)
    assert isinstance(back, Attributions)
    for a, b in zip(back, BOTH, strict=True):
        same(a, b)
    same(Attributions.from_pandas(Attributions([TEXT]).to_pandas(wide=True))[0], TEXT)


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_frames_that_were_files(tmp_path, kind, index):
    """A CSV file holds lists as text, ids as numbers and None as NaN; a parquet file holds lists as arrays."""
    frame, path = BOTH.to_pandas(wide=True), tmp_path / f"a.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=index)
        back = Attributions.from_pandas(pandas.read_csv(path))
    else:
        frame.to_parquet(path, index=index)
        back = Attributions.from_pandas(pandas.read_parquet(path))
    for a, b in zip(back, BOTH, strict=True):
        same(a, b)
    with pytest.raises(assay.InputError, match="the frame has no units, scores, target, method; give one"):
        Attributions.from_pandas(pandas.DataFrame({"label": ["positive"]}))


TIDY = ["example", "method", "label", "unit", "text", "start", "end", "segment", "score", "seen"]


def test_a_tidy_frame_has_one_row_per_unit():
    frame = TEXT.to_pandas()
    assert list(frame.columns) == TIDY
    assert frame.iloc[1].tolist() == ["7", "ensemble", "positive", 1, "👍🏽", 6, 8, 1, pytest.approx(-1 / 3), True]
    assert frame["seen"].tolist() == [True, True, False]
    frame = BOTH.to_pandas()
    assert len(frame) == 5
    assert list(frame.columns) == [*TIDY, "left", "top", "right", "bottom"]
    assert frame.iloc[4][["left", "top", "right", "bottom"]].tolist() == [8, 0, 16, 8]
    assert list(Attributions().to_pandas().columns) == TIDY


def test_methods_of_one_name_keep_their_parameters_in_a_frame():
    other = replace(TEXT, method=parse("ensemble(methods=[occlusion])"))
    names = Attributions([TEXT, other, PATCH]).to_pandas()["method"].unique().tolist()
    assert names == [str(TEXT.method), str(other.method), "integrated_gradients"]
    both = Explanations({"a": Attributions([TEXT]), "b": Attributions([other])}).to_pandas()
    assert both["method"].unique().tolist() == ["a", "b"]  # as the user wrote them


@pytest.mark.parametrize("through_csv", [False, True])
def test_a_tidy_frame_comes_back(tmp_path, through_csv):
    both = Attributions([TEXT, PATCH.with_id("8")])
    frame = both.to_pandas()
    if through_csv:
        frame.to_csv(tmp_path / "frame.csv", index=False)
        frame = pandas.read_csv(tmp_path / "frame.csv")
    for back, a in zip(Attributions.from_pandas(frame), both, strict=True):
        assert back.units == a.units
        assert np.array_equal(back.scores, a.scores)
        assert (back.example_id, back.label, back.method.name) == (a.example_id, a.label, a.method.name)


def test_words_that_pandas_loses_are_an_error(tmp_path):
    a = replace(TEXT, units=(Unit("null", 0, 4),), scores=np.array([1], np.float32))
    a.to_pandas().to_csv(tmp_path / "frame.csv", index=False)
    with pytest.raises(assay.InputError, match=r"unit 0 of example 7 has no text.*keep_default_na=False"):
        Attributions.from_pandas(pandas.read_csv(tmp_path / "frame.csv"))
    frame = pandas.read_csv(tmp_path / "frame.csv", keep_default_na=False)
    assert Attributions.from_pandas(frame)[0].units == a.units
    with pytest.raises(assay.InputError, match="no column score"):
        Attributions.from_pandas(frame.drop(columns="score"))


def test_what_earlier_versions_wrote_is_read():
    old = {k: v for k, v in PATCH.to_dict().items() if k not in ("probabilities", "text", "text_pair", "in_value")}
    back = Attribution.from_dict(old)
    assert (back.probabilities, back.prediction, back.text, back.in_value) == (None, None, None, False)
    assert np.array_equal(back.scores, PATCH.scores)
    frame = BOTH.to_pandas(wide=True).drop(columns=["probabilities", "text", "text_pair", "in_value"])
    assert Attributions.from_pandas(frame)[1].probabilities is None


def test_datasets(tmp_path):
    dataset = BOTH.to_dataset()
    for a, b in zip(Attributions.from_dataset(dataset), BOTH, strict=True):
        same(a, b)
    path = tmp_path / "rows.parquet"
    dataset.to_parquet(path)
    back = type(dataset).from_parquet(str(path), cache_dir=str(tmp_path))
    for a, b in zip(Attributions.from_dataset(back), BOTH, strict=True):
        same(a, b)
    assert Attributions.from_dataset(Attributions().to_dataset()) == []


def test_what_explain_returns_comes_back(tmp_path):
    import toys

    texts = ["a modest pleasure", ("a film", "bad acting")]
    found = assay.explain(toys.bert(), texts, ["integrated_gradients", "lime(samples=20)", "random", "ensemble"])
    for attributions in found.values():
        for back in (
            Attributions.from_pandas(attributions.to_pandas(wide=True)),
            Attributions.from_dataset(attributions.to_dataset()),
            [Attribution.from_dict(json.loads(json.dumps(a.to_dict()))) for a in attributions],
        ):
            for a, b in zip(back, attributions, strict=True):
                same(a, b)


def test_no_pickle(monkeypatch):
    """What is written are plain JSON types: nothing that could run code is ever loaded."""
    plain = (dict, list, str, int, float, bool, type(None))

    def walk(value):
        assert type(value) in plain, type(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    monkeypatch.setattr(pickle, "loads", lambda *a, **k: pytest.fail("pickle"))
    monkeypatch.setattr(pickle, "load", lambda *a, **k: pytest.fail("pickle"))
    for a in BOTH:
        walk(a.to_dict())
        same(Attribution.from_dict(a.to_dict()), a)


def test_equality():
    assert replace(TEXT) == TEXT
    assert hash(replace(TEXT)) == hash(TEXT)
    changes = [
        {"scores": TEXT.scores + np.float32(1e-6)},
        {"units": TEXT.units[:2], "scores": TEXT.scores[:2]},
        {"target": Target(1, 0, "probability")},
        {"method": parse("ensemble(methods=[lime(samples=4), occlusion])")},
        {"value_empty": 0.0},
        {"extra": {"a": 1}},
        {"example_id": "8"},
    ]
    for change in changes:
        assert replace(TEXT, **change) != TEXT
    assert TEXT != "something else"


def test_frozen_and_small_things():
    with pytest.raises(AttributeError):
        TEXT.label = "other"
    assert len(TEXT) == 3
    assert TEXT.top(2) == [("naïve", pytest.approx(0.1)), ("late", 0.0)]
    assert TEXT.with_id("x").example_id == "x"
    with pytest.raises(TargetError, match="unknown scale 'probabilty'; did you mean 'probability'"):
        Target(0, scale="probabilty")


def test_content_is_what_the_model_reads():
    """The key of random generators: never the id, the label or the place in a list."""
    from assay import Example

    assert Example("a", id="1", label=0).content == Example("a", id="2", label=1).content
    image = np.zeros((2, 2, 3), np.uint8)
    different = [
        Example("a"),
        Example("a", ""),
        Example("a", "b"),
        Example("a\x1e\x1db"),
        Example(image=image),
        Example(""),
    ]
    assert len({e.content for e in different}) == len(different)
