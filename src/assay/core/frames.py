"""Attributions as a long, tidy pandas frame, one row per unit, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.optional import optional
from assay.core.spec import parse
from assay.core.types import Attribution, Target, Unit

COLUMNS = ("example", "method", "label", "unit", "text", "start", "end", "segment", "score", "seen")
BOX = ("left", "top", "right", "bottom")  # of the patches of images
KEY = ["example", "method", "label"]


def tidy(attributions: Sequence[Attribution], methods: Sequence[str] | None = None) -> Any:
    """One row per unit. methods: the name of each attribution's method, as the user wrote it."""
    names = method_names(attributions) if methods is None else methods
    rows = [row for name, a in zip(names, attributions, strict=True) for row in _rows(name, a)]
    images = any(unit.box is not None for a in attributions for unit in a.units)
    return optional("pandas", "data").DataFrame(rows, columns=[*COLUMNS, *(BOX if images else ())])


def method_names(attributions: Iterable[Attribution]) -> list[str]:
    """Names without parameters, unless two methods of one name are among them."""
    specs = [a.method for a in attributions]
    unclear = {name for name in {s.name for s in specs} if len({s for s in specs if s.name == name}) > 1}
    return [str(spec) if spec.name in unclear else spec.name for spec in specs]


def from_tidy(frame: Any) -> list[Attribution]:
    """The attributions of a tidy frame, also one read from a CSV file; what it does not hold is not known."""
    missing = [name for name in COLUMNS[:-1] if name not in frame.columns]
    if missing:
        raise InputError(f"the frame has no column {', '.join(missing)}; give one that `to_pandas` made")
    groups = frame.groupby(KEY, sort=False, dropna=False)
    return [_attribution(key, group.to_dict("records")) for key, group in groups]


def _rows(method: str, attribution: Attribution) -> Iterator[dict[str, Any]]:
    about = {"example": attribution.example_id, "method": method, "label": attribution.label}
    for i, (unit, score) in enumerate(zip(attribution.units, attribution.scores, strict=True)):
        box = {} if unit.box is None else dict(zip(BOX, unit.box, strict=True))
        place = {"text": unit.text, "start": unit.start, "end": unit.end, "segment": unit.segment, "seen": unit.seen}
        yield {**about, "unit": i, **place, "score": float(score), **box}


def _attribution(key: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> Attribution:
    example, method, label = ("" if part != part else str(part) for part in key)  # NaN is an empty cell
    units, scores = tuple(map(_unit, rows)), np.array([row["score"] for row in rows], np.float32)
    return Attribution(units, scores, Target(), label, parse(method), example)


def _unit(row: Mapping[str, Any]) -> Unit:
    if row["text"] != row["text"]:  # NaN
        raise InputError(
            f"unit {row['unit']} of example {row['example']} has no text: pandas takes words such as 'null' for "
            "missing values; read the file with pandas.read_csv(path, keep_default_na=False)"
        )
    corners = [row.get(side, "") for side in BOX]
    box = None if any(c == "" or c != c for c in corners) else tuple(map(int, corners))
    start, end, segment = (int(row[name]) for name in ("start", "end", "segment"))
    return Unit(str(row["text"]), start, end, segment, box, bool(row.get("seen", True)))  # type: ignore[arg-type]
