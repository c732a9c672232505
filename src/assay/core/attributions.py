"""A list of Attributions with exports to pandas, datasets and HTML, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, SupportsIndex, overload

from assay.core.errors import AssayError
from assay.core.types import Attribution

JSON_COLUMNS = ("method", "extra")  # of any shape: stored as JSON text so that the table has one schema

NULLABLE = ("value_full", "value_empty")


class Attributions(list[Attribution]):
    """What `explain` returns for several inputs: a list with exports."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Attribution: ...

    @overload
    def __getitem__(self, index: slice) -> Attributions: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Attribution | Attributions:
        return Attributions(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def to_dataset(self) -> Any:
        """A datasets.Dataset with one row per attribution."""
        datasets = _import("datasets")
        features, rows = _features(datasets), [_to_row(a) for a in self]
        columns = {name: [row[name] for row in rows] for name in features}  # by column: works for an empty list too
        return datasets.Dataset.from_dict(columns, features=features)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per attribution; units and scores are lists."""
        return _import("pandas").DataFrame([_to_row(a) for a in self])

    @staticmethod
    def from_dataset(dataset: Any) -> Attributions:
        return Attributions(_from_row(row) for row in dataset)

    @staticmethod
    def from_pandas(frame: Any) -> Attributions:
        rows = frame.to_dict("records")  # pandas stores None as NaN in numeric columns
        return Attributions(_from_row({**row, **{k: _nan_to_none(row[k]) for k in NULLABLE}}) for row in rows)

    def to_html(self, path: str | None = None) -> str:
        """A self-contained HTML page; written to `path` if given."""
        from assay.core.display import page, write

        return write(page(self), path)

    def _repr_html_(self) -> str:
        from assay.core.display import fragment

        return "".join(fragment(a) for a in self)


def _to_row(attribution: Attribution) -> dict[str, Any]:
    row = attribution.to_dict()
    return {**row, **{name: json.dumps(row[name]) for name in JSON_COLUMNS}}


def _from_row(row: Mapping[str, Any]) -> Attribution:
    return Attribution.from_dict({**row, **{name: json.loads(row[name]) for name in JSON_COLUMNS}})


def _nan_to_none(value: Any) -> Any:
    return None if value is None or value != value else value


def _features(datasets: Any) -> Any:
    value = datasets.Value
    unit = {
        "text": value("string"),
        "start": value("int64"),
        "end": value("int64"),
        "segment": value("int64"),
        "box": datasets.List(value("int64")),
        "seen": value("bool"),
    }
    return datasets.Features(
        {
            "example_id": value("string"),
            "method": value("string"),
            "target": {"label": value("int64"), "against": value("int64"), "scale": value("string")},
            "label": value("string"),
            "units": datasets.List(unit),
            "scores": datasets.List(value("float32")),
            "value_full": value("float64"),
            "value_empty": value("float64"),
            "cost": {name: value("float64") for name in ("forwards", "backwards", "seconds")},
            "extra": value("string"),
        }
    )


def _import(package: str) -> Any:
    try:
        return __import__(package)
    except ImportError as error:
        raise AssayError(f"{package} is not installed; install it with: pip install 'assay[data]'") from error
