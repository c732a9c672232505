"""Settings of a study given as keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from assay.core.default import Default
from assay.core.errors import AssayError, SpecError, nearest
from assay.core.spec import check_numbers, check_type, file_name, split

T = TypeVar("T")


def make_settings(cls: type[T], settings: dict[str, Any]) -> T:
    """The dataclass of a study with the given settings.

    None keeps a default. A list becomes a tuple, and so does a text such as "lime,occlusion" where several are allowed.
    """
    values = _checked(cls, not_none(settings), file_name(cls.__name__))
    try:
        return cls(**values)
    except AssayError:
        raise
    except (TypeError, ValueError) as error:
        raise SpecError(f"{file_name(cls.__name__)}: {error}") from error


def with_settings(base: T, settings: Mapping[str, Any], owner: str) -> T:
    """A dataclass with the settings that were given in place of its own; `owner` is the verb that errors name."""
    return replace(base, **_checked(type(base), settings, owner))  # type: ignore[type-var]


def _checked(cls: type, settings: Mapping[str, Any], owner: str) -> dict[str, Any]:
    hints, names = get_type_hints(cls), [f.name for f in fields(cls)]
    for name in settings:
        if name not in names:
            raise SpecError(f"{owner} has no setting {name!r}; {nearest(name, names)}")
    values = {name: as_field(name, value, hints[name]) for name, value in settings.items()}
    for name, value in values.items():
        check_type(name, value, hints[name])
        check_numbers(name, value)
    return values


def not_none(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given: None keeps a default, or what a preset sets."""
    return {name: value for name, value in settings.items() if value is not None}


def given_limit(limit: int | None, preset: str | None) -> dict[str, int | None]:
    """The number of examples, unless it is the default of the verb and the preset has its own; None is all."""
    return {} if isinstance(limit, Default) and preset is not None else {"limit": limit}


def as_field(name: str, value: Any, hint: Any) -> Any:
    """A value as its field takes it: a list, or a text with commas, as a tuple of texts or numbers."""
    kinds = [kind for kind in (hint, *get_args(hint)) if get_origin(kind) is tuple]
    if not kinds or not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    item = get_args(kinds[0])[0]
    if item not in (int, float):
        return tuple(split(value))
    try:
        return tuple(item(part) for part in split(value))
    except ValueError as error:
        raise SpecError(f"{name}: {value!r} is not a list of numbers such as 1,2") from error
