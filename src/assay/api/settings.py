"""Settings of a study given as keyword arguments."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from assay.core.errors import SpecError, nearest
from assay.core.spec import check_type, file_name, split

T = TypeVar("T")


def make_settings(cls: type[T], settings: dict[str, Any]) -> T:
    """The dataclass of a study with the given settings.

    None keeps a default. A list becomes a tuple, and so does a text such as "lime,occlusion" where several are allowed.
    """
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    for name in settings:
        if name not in names:
            raise SpecError(f"{file_name(cls.__name__)} has no setting {name!r}; {nearest(name, names)}")
    hints = get_type_hints(cls)
    for name, value in settings.items():
        if value is not None:
            check_type(name, value, hints[name])
    several = {f.name for f in fields(cls) if str(f.type).startswith("tuple")}  # type: ignore[arg-type]
    values = {
        name: tuple(split(value)) if isinstance(value, str) and name in several else value
        for name, value in settings.items()
        if value is not None
    }
    return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
