"""Specs: text, dataclass, JSON and hash of one thing, back and forth; errors that name the nearest."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from assay import SpecError
from assay.core.spec import Spec, build, class_name, file_name, parse, split
from assay.explainers import METHODS


@dataclass(frozen=True)
class Thing:
    count: int = 3
    ratio: float = 0.5
    kind: Literal["red", "blue"] = "red"
    limit: float | None = None
    names: str | tuple[str | Spec, ...] = "all"
    flag: bool = False

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count must be at least 0")


READABLE = [
    ("lime", Spec("lime")),
    ("  lime  ", Spec("lime")),
    ("lime()", Spec("lime")),
    ("lime(500)", Spec("lime", (), (500,))),
    ("lime(samples=500, seed=3)", Spec("lime", (("samples", 500), ("seed", 3)))),
    ("x(-1, -2.5, 1e-3)", Spec("x", (), (-1, -2.5, 0.001))),
    ("x(a=True, b=None, c=False)", Spec("x", (("a", True), ("b", None), ("c", False)))),
    ("x(a=word, b='two words', c=\"it's\")", Spec("x", (("a", "word"), ("b", "two words"), ("c", "it's")))),
    ("x(a='None', b='True', c='lambda', d='')", Spec("x", (("a", "None"), ("b", "True"), ("c", "lambda"), ("d", "")))),
    ("e([lime, occlusion])", Spec("e", (), (("lime", "occlusion"),))),
    ("e([lime(samples=9), e([a])])", Spec("e", (), ((Spec("lime", (("samples", 9),)), Spec("e", (), (("a",),))),))),
    ("e([lime(), a])", Spec("e", (), (("lime", "a"),))),
    ("e([])", Spec("e", (), ((),))),
    ("x(a='Ünïcode → 中文')", Spec("x", (("a", "Ünïcode → 中文"),))),
]


@pytest.mark.parametrize(("text", "spec"), READABLE)
def test_read_and_round_trips(text, spec):
    assert parse(text) == spec
    assert parse(str(spec)) == spec
    assert Spec.from_json(spec.to_json()) == spec
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert parse(str(spec)).hash == spec.hash
    assert hash(parse(text)) == hash(spec)


def random_value(rng, depth):
    kind = rng.integers(0, 8 if depth else 6)
    if kind == 6:
        return tuple(random_value(rng, depth - 1) for _ in range(rng.integers(0, 4)))
    if kind == 7:
        return Spec("inner", (("a", random_value(rng, depth - 1)),))
    letters = list(string.ascii_letters + "_ ,=()[]'\"\\\n\té中😀0129")
    text = "".join(rng.choice(letters, size=rng.integers(0, 8)))
    return [None, bool(rng.integers(2)), int(rng.integers(-9, 9)), float(rng.normal()), text, "class"][kind]


def test_anything_comes_back():
    rng = np.random.default_rng(0)
    for _ in range(400):
        names = [f"p{i}" for i in range(rng.integers(0, 4))]
        params = tuple((name, random_value(rng, 2)) for name in names)
        args = tuple(random_value(rng, 2) for _ in range(rng.integers(0, 3)))
        spec = Spec("thing", params, args)
        assert parse(str(spec)) == spec, str(spec)
        assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
        assert parse(str(spec)).hash == spec.hash
        assert split(f"{'first'},{Spec('x', (('a', 1),))}") == ["first", "x(a=1)"]


def test_hash_is_known_and_differs():
    """Keys of stored results hold these hashes: they must never change between versions."""
    spec = parse("lime(samples=500, seed=3)")
    assert spec.hash == "29444a2c8bf631c959248674c297a098a97a363be4773dff1f5ad1e812d9b67b"
    nested = parse("ensemble([lime(ridge=0.5), occlusion])")
    assert nested.hash == "79c407b31648f14570303ea8a34f23d6197563b889b85622c44d50c8f2e9cb83"
    assert spec.hash == Spec("lime", (("seed", 3), ("samples", 500))).hash  # order of parameters is no difference
    texts = ["lime", "lime(500)", "lime(samples=500)", "lime(samples='500')", "lime(samples=[500])", "x([a])", "x(a)"]
    assert len({parse(t).hash for t in texts}) == len(texts)


@pytest.mark.parametrize(
    "text",
    ["", " ", "3", "[lime]", "lime(", "lime)", "a.b", "a b", "lime(*x)", "lime(**x)", "lime(a=b'x')", "1e400",
     "x(1e400)", "lime(1)(2)", "a + b", "x(a=1+2)", "x\0", "None", "lambda: 0", "lime(samples==3)", "x(3j)"],
)  # fmt: skip
def test_unreadable(text):
    with pytest.raises(SpecError, match=r"cannot read .*write a name such as lime"):
        parse(text)


def test_build():
    assert build(parse("thing"), Thing) == Thing()
    assert build(parse("thing(7, ratio=2)"), Thing) == Thing(7, 2.0)
    made = build(parse("thing(ratio=2, limit=1, names=[lime(samples=3), a], kind=blue, flag=True)"), Thing)
    assert made == Thing(3, 2.0, "blue", 1.0, (Spec("lime", (("samples", 3),)), "a"), True)
    assert type(made.ratio) is type(made.limit) is float  # so 1 and 1.0 have one hash
    assert Spec.of(made) == Spec.of(build(Spec.of(made), Thing))


def test_spec_of_an_object():
    thing = Thing(count=9, limit=0.25)
    assert Spec.of(thing, full=False) == parse("thing(count=9, limit=0.25)")
    assert dict(Spec.of(thing).params).keys() == {"count", "ratio", "kind", "limit", "names", "flag"}
    assert build(parse(str(Spec.of(thing))), Thing) == thing


@pytest.mark.parametrize("name", METHODS.names)
def test_every_method_comes_back_from_its_spec(name):
    method = METHODS.make(name)
    for text in (str(Spec.of(method)), str(Spec.of(method, full=False))):
        assert METHODS.make(text) == method
    assert METHODS.make(Spec.from_json(Spec.of(method).to_json())) == method


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("thing(cuont=3)", ["thing", "'cuont'", "did you mean 'count'", "ratio"]),
        ("thing(zzz=3)", ["'zzz'", "allowed: count, flag, kind, limit, names, ratio"]),
        ("thing(count=many)", ["count=many", "count must be a whole number"]),
        ("thing(count=1.5)", ["count=1.5", "a whole number"]),
        ("thing(count=True)", ["count=True", "a whole number"]),
        ("thing(ratio=True)", ["ratio=True", "a number"]),
        ("thing(ratio=word)", ["a number"]),
        ("thing(kind=green)", ["kind=green", "one of red, blue"]),
        ("thing(limit=word)", ["a number"]),
        ("thing(flag=1)", ["flag=1", "True or False"]),
        ("thing(names=3)", ["names=3", "a word or a list of a word or Spec"]),
        ("thing(names=[3])", ["names=[3]"]),
        ("thing(3, count=4)", ["'count' is given twice"]),
        ("thing(count=3, count=4)", ["'count' is given twice"]),
        ("thing(1, 2, red, None, a, True, 7)", ["at most 6 parameters", "7 were given"]),
        ("thing(count=-1)", ["thing(count=-1)", "count must be at least 0"]),
    ],
)
def test_errors_say_what_is_allowed(text, words):
    with pytest.raises(SpecError) as error:
        build(parse(text), Thing)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        ("a, b(x=1, y=2) ,c([d, e(f=1,g=2)])", ["a", "b(x=1, y=2)", "c([d, e(f=1,g=2)])"]),
        ("", []),
        (" , a,, ", ["a"]),
        ("lime(samples=500)", ["lime(samples=500)"]),
    ],
)
def test_split_at_commas_outside_brackets(text, parts):
    assert split(text) == parts


@pytest.mark.parametrize("name", ["lime", "gradient_x_input", "kernel_shap", "deberta_v2", "gpt2"])
def test_names_of_classes_and_files(name):
    assert file_name(class_name(name)) == name
    assert class_name(name).isidentifier()
    assert "_" not in class_name(name)
