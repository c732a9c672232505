"""The numbers of an evaluation, from its records alone: neither the model nor the data need be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AssayError, InputError
from assay.evaluation.metrics import is_faithfulness, make_metric
from assay.experiments.runs import Run
from assay.experiments.store import Record, Store
from assay.reports.plain_json import plain
from assay.statistics.bootstrap import Interval, interval, intervals
from assay.statistics.pooled import pooled
from assay.studies.evaluate.task import tidy_values

Values = NDArray[np.float64]
Row = dict[str, Any]
EVALUATE = "evaluate"
ROUNDING = 1e-5  # of float32 passes, relative to the largest value


@dataclass(frozen=True)
class Column:
    """The values of one method on one metric; equal keys are the same examples of the same data."""

    examples: tuple[tuple[str, str, int], ...]  # fingerprint of the data, id and place of each example
    values: Values  # NaN where the metric does not apply
    weights: Values | None


@dataclass(frozen=True)
class Change:
    """One method on one metric in two evaluations."""

    metric: str
    method: str
    first: Interval
    second: Interval
    difference: Interval
    paired: bool  # on the same examples
    better: str
    margin: float  # smaller differences do not matter

    @property
    def verdict(self) -> str:
        """What the interval shows about the second: a clear difference excludes 0 and is large enough to matter."""
        low, high = self.difference.low, self.difference.high
        if not (low == low and high == high) or low <= 0 <= high:
            return "no difference shown"
        if abs(self.difference.value) < self.margin:
            return "different, too little to matter"
        if not self.better:
            return "different"
        return "better" if (low > 0) == (self.better == "higher") else "worse"


def records_of(run: Run, store: Store) -> list[Record]:
    """The records that are there already."""
    return [record for job in run.jobs if (record := store.get(job.key)) is not None]


def is_evaluation(record: Record) -> bool:
    return record.spec.get("kind") == EVALUATE and isinstance(record.rows, dict) and "values" in record.rows


def columns(records: Sequence[Record]) -> dict[tuple[str, str], Column]:
    """(metric, method) -> its values over all slices."""
    parts: dict[tuple[str, str], list[tuple[list[Any], list[Any], list[Any] | None]]] = {}
    for record in filter(is_evaluation, records):
        rows = record.rows
        places = [(str(record.spec["data"]), str(e), i) for i, e in enumerate(rows["examples"])]
        for metric, methods in rows["values"].items():
            weights = rows.get("weights", {}).get(metric)
            for method, values in methods.items():
                parts.setdefault((metric, method), []).append((places, values, weights))
    return {name: _joined(slices) for name, slices in parts.items()}


def _joined(slices: Sequence[tuple[list[Any], list[Any], list[Any] | None]]) -> Column:
    places = tuple(place for part, _, _ in slices for place in part)
    values = np.array([np.nan if v is None else v for _, part, _ in slices for v in part], np.float64)
    if any(part is None for _, _, part in slices):
        return Column(places, values, None)
    weights = [np.nan if w is None else w for _, _, part in slices for w in part or ()]
    return Column(places, values, np.array(weights, np.float64))


def table(records: Sequence[Record]) -> list[Row]:
    """The mean of every method on every metric with its 95 % interval over the examples to which it applies."""
    out = []
    for (metric, method), column in columns(records).items():
        values = _usable(column)
        if len(values):
            mean = interval(values)
            row = {"metric": metric, "method": method, "mean": mean.value, "low": mean.low, "high": mean.high}
            out.append({**row, "n": mean.n, "better": better(metric)})
    return out


def better(metric: str) -> str:
    """The direction of a metric; "" for one of a plugin that is not loaded here."""
    facts = _facts(metric)
    return "" if facts is None else str(facts.better)


def margin(metric: str, records: Sequence[Record]) -> float:
    """The smallest difference that matters; on the output of a regression, relative to its standard deviation."""
    facts = _facts(metric)
    if facts is None:
        return 0.0
    raw = [np.ravel(record.rows["outputs"]) for record in records if record.spec.get("task") == "regression"]
    masks = is_faithfulness(make_metric(metric, "eraser"))  # its values are then differences of outputs
    return float(facts.margin * (np.concatenate(raw).std() if raw and masks else 1.0))


def _facts(metric: str) -> Any:
    try:
        return make_metric(metric, "eraser").facts
    except AssayError:
        return None


def _usable(column: Column, chosen: NDArray[np.bool_] | None = None) -> Values:
    """Values whose mean is that of the metric: weighted, where the metric is."""
    keep = ~np.isnan(column.values) if chosen is None else chosen
    values = column.values[keep]
    return values if column.weights is None or not len(values) else pooled(values, column.weights[keep])


def compare(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    """What changed, for every method and metric that both evaluations have."""
    before, after = columns(first), columns(second)
    shared = [name for name in before if name in after]
    if not shared:
        raise InputError("these two evaluations have no method and metric in common; choose two that share some")
    changes = [_change(*name, before[name], after[name], margin(name[0], first)) for name in shared]
    return [change for change in changes if change is not None]


def _change(metric: str, method: str, first: Column, second: Column, margin: float) -> Change | None:
    """Paired over the examples that both have, if these are the same; else the two means are independent."""
    places = {place: i for i, place in enumerate(second.examples)}
    both = [(i, places[place]) for i, place in enumerate(first.examples) if place in places]
    paired = len(both) == len(first.examples) == len(second.examples)
    if paired:
        order = np.array([j for _, j in both])
        second = Column(first.examples, second.values[order], None if second.weights is None else second.weights[order])
        known = ~np.isnan(first.values) & ~np.isnan(second.values)
        if not known.any():
            return None
        a, b = _usable(first, known), _usable(second, known)
        one, two, difference = intervals(np.stack([a, b, _without_rounding(a, b)]))
    else:
        a, b = _usable(first), _usable(second)
        if not len(a) or not len(b):
            return None
        one, two = interval(a), interval(b)
        difference = independent(a, b)
    return Change(metric, method, one, two, difference, paired, better(metric), margin)


def _without_rounding(a: Values, b: Values) -> Values:
    """b - a; values that differ by the rounding of a forward pass are equal."""
    scale = max(np.abs(a).max(), np.abs(b).max())
    return np.where(np.abs(b - a) <= ROUNDING * scale, 0.0, b - a)


def independent(a: Values, b: Values) -> Interval:
    """The difference of two means over different examples: Welch's interval."""
    from scipy.stats import ttest_ind

    difference = float(b.mean() - a.mean())
    n = min(len(a), len(b))
    if n < 2:
        return Interval(difference, np.nan, np.nan, n)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return Interval(difference, difference, difference, n)
    low, high = ttest_ind(b, a, equal_var=False).confidence_interval()
    return Interval(difference, float(low), float(high), n)


def tidy(records: Sequence[Record]) -> list[Row]:
    """Every number of some records, one per row, with the kind of its job."""
    out: list[Row] = []
    for record in records:
        kind = {"kind": record.spec.get("kind", "")}
        rows = tidy_values(record.rows) if is_evaluation(record) else _scalars(record.rows)
        out += [{**kind, **row} for row in rows]
    cleaned: list[Row] = plain(out)
    return cleaned


def _scalars(rows: Any) -> list[Row]:
    """The single numbers and words of rows of any form."""
    several = rows if isinstance(rows, list) else [rows]
    plain_types = (str, int, float, bool)
    return [
        {str(name): value for name, value in row.items() if isinstance(value, plain_types)}
        for row in several
        if isinstance(row, Mapping)
    ]
