"""Tables of other libraries as rows: pandas and polars frames and series, Arrow tables, arrays, dicts of columns.

Recognised by what they can do, so that no library is imported. A missing cell (NaN, NaT, NA) becomes None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.cells import plain_cell
from assay.core.errors import InputError
from assay.datasets.columns import guess_columns

ACCEPTED = (
    "give texts, (text, text_pair) tuples, images, dicts or Examples in a list, one of these, or a table: "
    "a pandas or polars frame or series, a datasets.Dataset, or a dict of equally long columns"
)


def as_items(inputs: Any) -> Iterable[Any]:
    """The inputs one by one: the rows of a table, the items of a collection. Anything else is an error."""
    if isinstance(inputs, Mapping):
        return _from_columns(inputs)
    if hasattr(inputs, "itertuples"):
        inputs = _with_texts_of_index(inputs)
        return _rows(inputs.columns, inputs.itertuples(index=False, name=None))
    if hasattr(inputs, "iter_rows"):
        return _rows(inputs.columns, inputs.iter_rows())
    if hasattr(inputs, "to_pylist"):
        return [plain_cell(item) for item in inputs.to_pylist()]
    if is_series(inputs) or (isinstance(inputs, np.ndarray) and inputs.ndim == 1):
        return [plain_cell(item) for item in inputs.tolist()] if hasattr(inputs, "tolist") else inputs.to_list()
    if isinstance(inputs, np.ndarray) and inputs.ndim != 4:
        raise InputError(
            f"an array of {inputs.ndim} dimensions is neither a list of texts nor one of images; {ACCEPTED}"
        )
    if isinstance(inputs, str | bytes | bytearray | set | frozenset) or not isinstance(inputs, Iterable):
        raise InputError(f"unsupported input type {type(inputs).__name__}; {ACCEPTED}")
    if hasattr(inputs, "columns"):
        raise InputError(f"cannot read the rows of a {type(inputs).__name__}; convert it with to_pandas() first")
    return inputs


def as_single_row(inputs: Any) -> Mapping[str, Any] | None:
    """A dict or a row of a frame that is one example; None for anything else."""
    if isinstance(inputs, Mapping):
        if any(hasattr(value, "column_names") for value in inputs.values()):
            raise InputError(
                f"choose one of the splits {', '.join(map(str, inputs))}, such as data[{next(iter(inputs))!r}]"
            )
        return None if _columns(inputs).keys() == inputs.keys() else inputs
    index: Any = getattr(inputs, "index", None)
    if not is_series(inputs) or not hasattr(index, "tolist"):
        return None
    names = index.tolist()
    if not all(isinstance(name, str) for name in names) or guess_columns(names).text is None:
        return None
    return dict(zip(names, map(plain_cell, inputs.tolist()), strict=True))


def is_series(inputs: Any) -> bool:
    """Whether this is one column of a pandas or polars frame."""
    return hasattr(inputs, "to_list") and hasattr(inputs, "dtype")


def _rows(names: Iterable[Any], cells: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    columns = [str(name) for name in names]
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise InputError(f"several columns are named {repeated[0]!r}; give each a name of its own")
    return [dict(zip(columns, map(plain_cell, row), strict=True)) for row in cells]


def _with_texts_of_index(frame: Any) -> Any:
    """A pandas frame whose texts are its index, as after set_index("text"), with that index as a column again."""
    named = [str(name) for name in frame.index.names if name is not None]
    in_index = guess_columns(named).text is not None and guess_columns([str(c) for c in frame.columns]).text is None
    return frame.reset_index() if in_index else frame


def _from_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    lengths = {str(name): len(column) for name, column in _columns(columns).items()}
    if len(lengths) < len(columns) or len(set(lengths.values())) != 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items()) or "none"
        raise InputError(f"a dict of columns needs columns of one length, but has these: {found}")
    return _rows(columns, zip(*columns.values(), strict=True))


def _columns(table: Mapping[str, Any]) -> dict[str, Any]:
    """What is a column of values. An array of three dimensions is one of grey images if it is as long as the others."""
    columns = {name: value for name, value in table.items() if _is_column(value)}
    lengths = {len(column) for column in columns.values()}
    images = {n: v for n, v in table.items() if isinstance(v, np.ndarray) and v.ndim == 3 and {len(v)} == lengths}
    return {name: table[name] for name in table if name in columns or name in images}


def _is_column(value: Any) -> bool:
    return isinstance(value, list | tuple) or is_series(value) or (isinstance(value, np.ndarray) and value.ndim != 3)
