"""The exceptions of Assay; catch `AssayError` to catch all of them.

AssayError
├── SpecError         an unknown name or parameter, or an invalid value
├── InputError        an input that cannot be explained (empty, wrong type, no units)
├── TargetError       a label or scale that the model does not have
├── ModelError        a model that cannot be loaded, or that returns NaN or infinity
├── StoreError        a record or artefact that cannot be read or written
└── UnsupportedError  a method, removal or unit that does not work with this family of models

DataWarning is a warning: data that may have been misread.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from assay.core.printable import printable


class AssayError(Exception):
    """Base class. The message says what was given, what is allowed and what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())  # it often quotes a file or a name of somebody else


class SpecError(AssayError, ValueError):
    """An unknown name or parameter, or an invalid value."""


class InputError(AssayError, ValueError):
    """An input that cannot be explained; `index` is its position in the list of inputs."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message if index is None else f"input {index}: {message}")
        self.message, self.index = message, index


class DataWarning(UserWarning):
    """Something in the data that may have been misread; also in the notes of the Dataset and on every page."""


class TargetError(AssayError, ValueError):
    """A label or a scale that the model does not have."""


class ModelError(AssayError):
    """A model that cannot be loaded, or whose answer is not a finite number."""


class RowError(ModelError):
    """A model's answer to row `row` of a batch that cannot be used; the other rows may be good."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class StoreError(AssayError):
    """A record or artefact that cannot be read or written. Ends a run, because no job is at fault."""


class UnsupportedError(AssayError):
    """Something that does not work with this family of models; the message says why."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """The end of an error message: the closest allowed name, then all allowed names."""
    names = sorted(allowed)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}allowed: {', '.join(names) if names else 'none'}"
