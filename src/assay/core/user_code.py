"""Code from outside Assay: plugins, and the hash of its source, so that an edited method never gets old records."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import linecache
import secrets
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, SpecError
from assay.core.spec import Spec

UNKNOWN = f"unknown source, process {secrets.token_hex(8)}"  # of code typed at a prompt: never found again


@dataclass(frozen=True)
class Plugin:
    """A file or a module that registers methods, metrics, ..."""

    name: str  # as another process can load it: an absolute path or the name of a module
    module: types.ModuleType
    digest: str


_loaded: dict[str, Plugin] = {}  # by the name of the module
_hashes: dict[type, str] = {}


def load_plugin(plugin: str | Path) -> types.ModuleType:
    """Run a Python file, or import a module by its name. A file that has not changed is not run again."""
    path = Path(plugin).expanduser().absolute()
    if path.suffix == ".py" or path.is_file():
        return _run(path)
    try:
        module = importlib.import_module(str(plugin))
    except Exception as error:
        raise _failed(str(plugin), error) from error
    _loaded[module.__name__] = Plugin(module.__name__, module, "")
    return module


def loaded_plugins() -> tuple[str, ...]:
    """The names of all plugins, for processes that work for this one."""
    return tuple(plugin.name for plugin in _loaded.values())


def is_outside(cls: type) -> bool:
    """Whether a class is not part of Assay."""
    return cls.__module__.partition(".")[0] != "assay"


def identity(thing: Any) -> list[Any]:
    """What changes the numbers of a method or metric: parameters, revision, and the source of code from outside."""
    source = [source_hash(type(thing))] if is_outside(type(thing)) else []
    return [str(Spec.of(thing)), thing.facts.revision, *source]


def source_hash(cls: type) -> str:
    """A hash of the files that define a class and its bases, as they were when first asked for."""
    if cls not in _hashes:
        _hashes[cls] = _hash(cls)
    return _hashes[cls]


def _hash(cls: type) -> str:
    outside = [base for base in cls.__mro__ if is_outside(base) and base.__module__ not in ("builtins", "typing")]
    return hashlib.sha256("\n".join(map(_source, outside)).encode()).hexdigest()[:16]


def _run(path: Path) -> types.ModuleType:
    name = f"assay_plugin_{path.stem}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AssayError(f"cannot read the plugin {path.name}: {error.strerror}; give a Python file") from error
    digest, known = hashlib.sha256(content).hexdigest(), _loaded.get(name)
    if known is not None and known.name != str(path):
        raise SpecError(f"two plugins are called {path.name}; rename one")
    if known is not None and known.digest == digest:
        return known.module
    module = types.ModuleType(name)
    module.__file__ = str(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # for what the plugin imports beside it
    sys.modules[name] = module  # dataclasses and pickle look there
    linecache.checkcache(str(path))
    _loaded[name] = Plugin(str(path), module, digest)
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except Exception as error:
        del _loaded[name], sys.modules[name]
        raise _failed(path.name, error) from error
    return module


def _failed(name: str, error: Exception) -> AssayError:
    if isinstance(error, AssayError):
        return type(error)(f"the plugin {name}: {error}")
    if isinstance(error, ModuleNotFoundError) and error.name == name:
        return SpecError(f"there is no plugin {name!r}; give a Python file such as my.py, or an installed module")
    return SpecError(f"the plugin {name} ended with {type(error).__name__}: {' '.join(str(error).split())}")


def _source(cls: type) -> str:
    plugin = _loaded.get(cls.__module__)
    if plugin is not None and plugin.digest:
        return plugin.digest  # of what ran, even if the file has changed since
    return "".join(linecache.getlines(_file(cls))) or UNKNOWN


def _file(cls: Any) -> str:
    try:
        return inspect.getfile(cls)
    except (TypeError, OSError):  # a notebook: its cells are files of their own
        codes = [member.__code__ for member in vars(cls).values() if inspect.isfunction(member)]
        return codes[0].co_filename if codes else ""
