"""A number or a name that nobody gave."""

from __future__ import annotations


class Default(int):
    """The default of an argument, told apart from the same number given by a caller: a preset may replace it."""


class DefaultName(str):
    """The same for a name."""

    __slots__ = ()
