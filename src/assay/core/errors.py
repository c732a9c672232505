"""The exceptions of Assay; catch `AssayError` to catch them all.

AssayError
├── SpecError       a method, removal or parameter that does not exist or has a wrong value
├── InputError      an input that cannot be explained (empty, wrong type, no units); `.index` says which
├── TargetError     a label or scale that the model does not have
├── ModelError      a model that cannot be loaded, or that answers with NaN or infinity
├── StoreError      a record or artefact that cannot be read or written; the message names the file
└── UnsupportedError  a method, removal or unit that cannot work on this family of models; the message says why
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AssayError(Exception):
    """Anything Assay refuses, with a sentence that says what was given, what is allowed and what to do."""


class SpecError(AssayError, ValueError):
    """A name or parameter that does not exist, or has a wrong value."""


class InputError(AssayError, ValueError):
    """An input that cannot be explained. `index` is its place in the list that was given."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message if index is None else f"input {index}: {message}")
        self.message, self.index = message, index


class TargetError(AssayError, ValueError):
    """A label or a scale that the model does not have."""


class ModelError(AssayError):
    """A model that cannot be loaded, or whose answer is not a finite number."""


class StoreError(AssayError):
    """A record or an artefact that cannot be read or written: no fault of a job, so it ends a run."""


class UnsupportedError(AssayError):
    """Something that cannot work on this family of models; the message says why."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """The end of an error message: the nearest allowed name, then all of them."""
    names = sorted(allowed)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}allowed: {', '.join(names) if names else 'none'}"
