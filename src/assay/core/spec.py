"""Specs: "lime(samples=500)" <-> Spec <-> a frozen dataclass <-> JSON <-> hash.

The grammar is that of a Python call with optional quotes: `name`, `name(value)`, `name(key=value, ...)`. A value is a
number, True, False, None, a word, a quoted string, a [list] or another spec.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import keyword
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

from assay.core.errors import SpecError, nearest

T = TypeVar("T")
MOST = 10_000_000  # of samples, steps, tokens, ...: checked before anything is allocated
MOST_SEED = 2**63 - 1
Value: TypeAlias = "bool | int | float | str | Spec | tuple[Value, ...] | None"


@dataclass(frozen=True)
class Spec:
    """A name with parameters, in the order of the dataclass it describes; `args` are positional values."""

    name: str
    params: tuple[tuple[str, Value], ...] = ()
    args: tuple[Value, ...] = ()

    def __str__(self) -> str:
        arguments = [_show(v) for v in self.args] + [f"{k}={_show(v)}" for k, v in self.params]
        return f"{self.name}({', '.join(arguments)})" if arguments else self.name

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name, "params": {k: _to_json(v) for k, v in self.params}}
        return {**out, "args": [_to_json(v) for v in self.args]} if self.args else out

    @staticmethod
    def from_json(data: dict[str, Any]) -> Spec:
        params = tuple((k, _from_json(v)) for k, v in data["params"].items())
        return Spec(data["name"], params, tuple(_from_json(v) for v in data.get("args", ())))

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @staticmethod
    def of(thing: object, *, full: bool = True) -> Spec:
        """The spec of a dataclass instance: all its fields, or only those that differ from their defaults."""
        params = tuple((f.name, _plain(value)) for f, value in _values(thing) if full or value != f.default)
        return Spec(file_name(type(thing).__name__), params)

    @staticmethod
    def in_key(thing: object) -> Spec:
        """The full spec for the key of a record, without fields that have their `unsaid` value.

        A field that is newer than records has, as `unsaid` in its metadata, what they meant without it.
        """
        values = [(f, value) for f, value in _values(thing) if value != f.metadata.get("unsaid", dataclasses.MISSING)]
        return Spec(file_name(type(thing).__name__), tuple((f.name, _plain(value)) for f, value in values))


def parse(text: str) -> Spec:
    """Read a spec from text."""
    try:
        spec = _read(ast.parse(text.strip(), mode="eval").body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # a null byte, too many brackets
        raise _unreadable(text) from error
    if isinstance(spec, str):
        return Spec(spec)
    if not isinstance(spec, Spec):
        raise _unreadable(text)
    return spec


def split(text: str) -> list[str]:
    """Split a list of specs at commas outside brackets: "a,b(x=1, y=2)" -> ["a", "b(x=1, y=2)"]."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def is_several(given: Any) -> bool:
    """Whether this is a list of specs, as such or as a text with commas, rather than one of them."""
    return isinstance(given, list | tuple) or (isinstance(given, str) and len(split(given)) > 1)


def as_list(given: Any) -> list[Any]:
    """Several specs as a list, whether given as one, as a text with commas, or alone."""
    if isinstance(given, str):
        return split(given) or [given]
    return list(given) if isinstance(given, list | tuple) else [given]


def as_pairs(given: Mapping[T, Any] | str, example: str) -> Mapping[T, Any] | dict[str, str | None]:
    """Names and values as a dict, or as the command line writes them: "a=x,b=y"; "a=" is None."""
    if not isinstance(given, str):
        return given
    pairs = [part.partition("=") for part in given.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SpecError(f"cannot read {given!r}; write name=value,..., such as {example}")
    return {name.strip(): value.strip() or None for name, _, value in pairs}


def build(spec: Spec, cls: type[T]) -> T:
    """Build the dataclass `cls` from a spec, checking names and types of its parameters."""
    hints = typing.get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
    if len(spec.args) > len(names):
        raise SpecError(f"{spec}: {spec.name} takes at most {len(names)} parameters, but {len(spec.args)} were given")
    given = dict(zip(names, spec.args, strict=False))
    for key, value in spec.params:
        if key not in names:
            raise SpecError(f"{spec.name} has no parameter {key!r}; {nearest(key, names)}")
        if key in given:
            raise SpecError(f"{spec}: {key!r} is given twice")
        given[key] = value
    values = {key: _checked(spec.name, key, value, hints[key]) for key, value in given.items()}
    try:
        return cls(**values)
    except ValueError as error:
        raise SpecError(f"{spec}: {error}") from error


def check_numbers(name: str, value: Any) -> None:
    """Refuse numbers that are not finite, and counts that no machine has the memory or the time for."""
    if isinstance(value, list | tuple):
        for item in value:
            check_numbers(name, item)
    elif isinstance(value, float) and not math.isfinite(value):
        raise SpecError(f"{name}={value} is not allowed; give a finite number")
    elif isinstance(value, int) and abs(value) > (most := MOST_SEED if name.endswith(("seed", "seeds")) else MOST):
        shown = f"{value:.3g}" if abs(value) < 10**300 else "..."  # no float is larger
        raise SpecError(f"{name}={shown} is too large; give at most {most:,}")


def class_name(name: str) -> str:
    """CamelCase of a file name: gradient_x_input -> GradientXInput."""
    return "".join(part.capitalize() for part in name.split("_"))


@cache  # asked for every attribution
def file_name(name: str) -> str:
    """The inverse of `class_name`: GradientXInput -> gradient_x_input."""
    return "".join(("_" if c.isupper() and i else "") + c.lower() for i, c in enumerate(name))


def _values(thing: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    fields = [f for f in dataclasses.fields(thing) if f.init and f.metadata.get("spec", True)]
    return [(f, getattr(thing, f.name)) for f in fields]


def _unreadable(text: str) -> SpecError:
    return SpecError(f"cannot read {text!r}; write a name such as lime, or a call such as 'lime(samples=500, seed=3)'")


def _read(node: ast.expr, text: str) -> Value:
    match node:
        case ast.Name(id=word):
            return word
        case ast.Constant(value=float(value)) if not math.isfinite(value):
            raise _unreadable(text)  # 1e400 does not survive a round trip through text or JSON
        case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float | str):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if isinstance(value, int | float):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_read(item, text) for item in items)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if all(k.arg for k in keywords):
            params = tuple((str(k.arg), _read(k.value, text)) for k in keywords)
            if not params and not args:
                return name  # `lime()` is `lime`: one spec, one hash
            return Spec(name, params, tuple(_read(a, text) for a in args))
    raise _unreadable(text)


def check_type(key: str, value: Any, hint: Any) -> None:
    """Refuse a setting of another type than its annotation says; annotations of other than plain types are not read."""
    if _is_plain(hint) and not _fits(value.item() if hasattr(value, "item") else value, hint):  # numpy's numbers too
        raise SpecError(f"{key}={value!r} is not allowed; {key} must be {_describe(hint)}")


def _is_plain(hint: Any) -> bool:
    plain = (int, float, bool, str, type(None))
    return (
        hint in plain
        or typing.get_origin(hint) is Literal
        or (typing.get_origin(hint) in (typing.Union, types.UnionType) and all(map(_is_plain, typing.get_args(hint))))
    )


def _checked(owner: str, key: str, value: Value, hint: Any) -> Any:
    if typing.get_origin(hint) is tuple and isinstance(value, int | float):
        value = (value,)  # one number where several may be given
    if not _fits(value, hint):
        raise SpecError(f"{owner}: {key}={_show(value)} is not allowed; {key} must be {_describe(hint)}")
    check_numbers(f"{owner}: {key}", value)
    types_allowed = {hint, *typing.get_args(hint)}  # 1 and 1.0 are the same spec where only floats are allowed
    return float(value) if type(value) is int and float in types_allowed and int not in types_allowed else value


def _fits(value: Value, hint: Any) -> bool:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return value in args
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, arg) for arg in args)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, args[0]) for item in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if hint is type(None) else isinstance(value, hint)


def _describe(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(str, args))
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_describe(arg) for arg in args if arg is not type(None))
    if origin is tuple:
        several = {int: "whole numbers", float: "numbers", str: "words"}
        return f"a list of {several.get(args[0]) or _describe(args[0])}"
    words = {int: "a whole number", float: "a number", bool: "True or False", str: "a word", type(None): "None"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _plain(value: Any) -> Value:
    if dataclasses.is_dataclass(value) and not isinstance(value, Spec | type):
        return Spec.of(value)
    return tuple(_plain(item) for item in value) if isinstance(value, list | tuple) else value


def _show(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_show, value)) + "]"
    bare = not isinstance(value, str) or (value.isidentifier() and not keyword.iskeyword(value))
    return str(value) if bare else repr(value)  # the word 'None' needs quotes


def _to_json(value: Value) -> Any:
    if isinstance(value, Spec):
        return {"spec": value.to_json()}
    return [_to_json(item) for item in value] if isinstance(value, tuple) else value


def _from_json(value: Any) -> Value:
    if isinstance(value, dict):
        return Spec.from_json(value["spec"])
    return tuple(_from_json(item) for item in value) if isinstance(value, list) else value
