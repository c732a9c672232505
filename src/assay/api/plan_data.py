"""The data of a verb as a plan writes them."""

from __future__ import annotations

from typing import Any

from assay.core.spec import as_pairs
from assay.datasets.columns import ColumnMap
from assay.datasets.label_map import LabelMap


def plan_data(
    source: str, columns: ColumnMap | None, label_map: LabelMap | str | None = None, **more: Any
) -> str | dict[str, Any]:
    """An entry of `data:`; a text alone is the source."""
    names = None if label_map is None else as_pairs(label_map, "pos=positive,neg=negative")
    read = {key: dict(value) for key, value in (("columns", columns), ("label_map", names)) if value}
    read |= {key: value for key, value in more.items() if value is not None}
    return {"source": source, **read} if read else source
