"""Read a YAML file; every error names the place in the file and what is allowed there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from assay.core.errors import AssayError, SpecError, nearest
from assay.core.spec import Spec, build

T = TypeVar("T")
LONGEST = 2**22  # bytes of a plan
BRACKETS = re.compile(r"([\[{]\s*){60}")  # the parser takes minutes for some thousands
MOST_NODES = 200_000  # words, lists and mappings of a plan, its aliases written out


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """A safe loader that refuses duplicate keys."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: dict[Any, int] = {}
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":  # `<<: *other`, whose keys may be overridden
            continue
        key = loader.construct_object(key_node)
        line = key_node.start_mark.line + 1
        if key in seen:
            raise SpecError(f"line {line}: {key!r} is given twice, first in line {seen[key]}; remove one")
        seen[key] = line
    loader.flatten_mapping(node)
    return {loader.construct_object(k, deep=True): loader.construct_object(v, deep=True) for k, v in node.value}


def _check_size(root: yaml.Node | None) -> None:
    """Refuse a text whose aliases (`*name`) stand for themselves or for more than a plan can need."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = MOST_NODES  # while it is open: an alias inside it would be endless
            parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
            sizes[id(node)] = 1 if isinstance(parts, str) else 1 + sum(map(size, parts))
        if sizes[id(node)] >= MOST_NODES:
            line = node.start_mark.line + 1
            raise SpecError(f"line {line}: more than {MOST_NODES:,} entries; are aliases (*name) used too often?")
        return sizes[id(node)]

    if root is not None:
        size(root)


# YAML 1.1 reads `on`, `yes` and `no` (keys and labels here) as booleans and 1e-3 as text. Read booleans as YAML 1.2
# does, and numbers as Python does.
BOOL, FLOAT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:float"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag not in (BOOL, FLOAT)]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(BOOL, re.compile(r"true|True|false|False"), list("tTfF"))
_Loader.add_implicit_resolver(
    FLOAT, re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$"), list("-+.0123456789")
)
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


@dataclass(frozen=True)
class YamlNode:
    """A part of the file: its name, its place, and its content."""

    name: str
    where: str
    content: Any

    @staticmethod
    def read(path: Path) -> YamlNode:
        try:
            with path.open("rb") as file:
                content = file.read(LONGEST + 1)
            if len(content) > LONGEST:
                raise SpecError(f"the plan {path} is larger than {LONGEST // 2**20} MB; give a YAML file of a plan")
            return YamlNode.parse(content.decode("utf-8-sig"), str(path))
        except OSError as error:
            raise AssayError(f"cannot read the plan {path}: {error.strerror}; give a YAML file") from error
        except UnicodeDecodeError as error:
            raise SpecError(f"the plan {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error

    @staticmethod
    def parse(text: str, name: str = "plan") -> YamlNode:
        try:
            if BRACKETS.search(text):
                raise RecursionError
            _check_size(yaml.compose(text, _Loader))
            content = yaml.load(text, _Loader)
        except SpecError as error:
            raise SpecError(f"{name}, {error}") from error
        except RecursionError as error:
            raise SpecError(f"{name} is nested too deeply for a plan; write it flatter") from error
        except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:  # also of bad !!tags
            raise SpecError(f"{name} is not valid YAML: {' '.join(str(error).split())}") from error
        root = YamlNode(Path(name).stem, name, content)
        _ = root.mapping
        return root

    # --- reading ---------------------------------------------------------------------------------------------------

    @property
    def mapping(self) -> dict[str, Any]:
        """Its content by key, with lists as tuples."""
        if not isinstance(self.content, dict) or not all(isinstance(key, str) for key in self.content):
            raise SpecError(f"{self.where} must hold `name: value` lines, but it is {_described(self.content)}")
        return {key: _tuples(value) for key, value in self.content.items()}

    @property
    def is_text(self) -> bool:
        return isinstance(self.content, str)

    @property
    def text(self) -> str:
        if not isinstance(self.content, str):
            raise SpecError(f"{self.where} must be text, but it is {_described(self.content)}")
        return self.content

    def value(self, key: str) -> Any:
        return self.mapping.get(key)

    def value_of(self, key: str) -> Any:
        """The value of a key, or None if there are no keys."""
        return self.content.get(key) if isinstance(self.content, dict) else None

    def flag(self, key: str) -> bool:
        """A truth value; False if it is not given."""
        value = self.mapping.get(key, False)
        if not isinstance(value, bool):
            raise SpecError(f"{self.where}.{key}: write true or false, not {value!r}")
        return value

    def at(self, key: str) -> YamlNode:
        if key not in self.mapping:
            raise SpecError(f"{self.where} has no {key!r}; {nearest(key, self.mapping)}")
        start = self.where if ", " in self.where else f"{self.where}, "
        dot = "" if start.endswith(", ") else "."
        return YamlNode(key, f"{start}{dot}{key}", self.content[key])

    def items(self) -> Iterator[tuple[str, YamlNode]]:
        """Its parts by key; in a list of words, each word is its own key."""
        if isinstance(self.content, list) and all(isinstance(item, str) for item in self.content):
            yield from ((item, YamlNode(item, f"{self.where}.{item}", item)) for item in self.content)
        else:
            yield from ((key, self.at(key)) for key in self.mapping)

    def names(self, key: str, allowed: Iterable[str], default: list[str]) -> list[str]:
        """One name or a list of names, each defined elsewhere in the plan."""
        value = _tuples(self.value_of(key))
        if value is None:
            return default
        names = list(value) if isinstance(value, tuple) else [value]
        known = list(dict.fromkeys(allowed))
        for name in names:
            if name not in known:
                raise SpecError(f"{self.where}.{key}: the plan has no {name!r}; {nearest(str(name), known)}")
        return names

    # --- checking --------------------------------------------------------------------------------------------------

    def allow(self, keys: Iterable[str]) -> None:
        known = list(dict.fromkeys(keys))
        for key in self.mapping:
            if key not in known:
                raise SpecError(f"{self.where}: unknown key {key!r}; {nearest(key, known)}")

    def reading(self, read: Callable[..., T], *args: Any) -> T:
        """Call `read`; an error names this place."""
        try:
            return read(*args)
        except AssayError as error:
            raise type(error)(f"{self.where}: {error}") from error


def build_node(node: YamlNode, spec: Spec, cls: type[T]) -> T:
    """Make the dataclass that a part of the plan describes; an error names the place in the file."""
    try:
        return build(spec, cls)
    except SpecError as error:
        raise SpecError(f"{node.where}: {str(error).removeprefix(f'{spec}: ')}") from error


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _described(value: Any) -> str:
    kinds = {type(None): "empty", list: "a list", str: "text"}
    if isinstance(value, dict):
        wrong = next((key for key in value if not isinstance(key, str)), None)
        return f"a mapping with the key {wrong!r}, which is not text; put it in quotes"
    return kinds.get(type(value), f"{value!r}")
