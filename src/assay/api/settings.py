"""Settings of a study given as keyword arguments."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from assay.core.errors import SpecError, nearest
from assay.core.spec import file_name

T = TypeVar("T")


def make_settings(cls: type[T], settings: dict[str, Any]) -> T:
    """The dataclass of a study with the given settings; None keeps a default, and lists become tuples."""
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    for name in settings:
        if name not in names:
            raise SpecError(f"{file_name(cls.__name__)} has no setting {name!r}; {nearest(name, names)}")
    return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in settings.items() if v is not None})
