"""What the records say: the values of each method on each text, what it cost, and how explainers were fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.core.spec import Spec, parse
from assay.evaluation import METRICS
from assay.experiments.store import Record
from assay.statistics.quantities import Exact, Quantity

PLACES = ("_sst", "_rotten", "_emotion", "_distilbert")  # ends of names that only say where an explainer is used
HINDSIGHT, SEARCHES, CONTROL = "selection=oracle", ("greedy",), "random"
Cell = tuple[str, str]  # data, model
Values = Mapping[str, float]  # by example


@dataclass(frozen=True)
class Evidence:
    """By (data, model): values of metric, method and example; costs and counts; cards of fits; shown explanations."""

    values: Mapping[Cell, Mapping[str, Mapping[str, Values]]] = field(default_factory=dict)
    weights_of_examples: Mapping[Cell, Mapping[str, Values]] = field(default_factory=dict)  # by metric
    passes: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    seconds: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    counts: Mapping[Cell, Mapping[str, Mapping[str, list[int]]]] = field(default_factory=dict)
    fits: Mapping[Cell, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    shown: Mapping[Cell, Mapping[str, Mapping[str, Mapping[str, Any]]]] = field(default_factory=dict)  # method, example

    def of(self, cell: Cell, metric: str, method: str) -> Values | None:
        return self.values.get(cell, {}).get(metric, {}).get(method)

    def gain(self, cell: Cell, metric: str, method: str, other: str) -> Quantity | None:
        """How much better a method is than another on the same texts, positive if it is; None if one was not run."""
        first, second = self.of(cell, metric, method), self.of(cell, metric, other)
        if first is None or second is None:
            return None
        sign = 1 if METRICS.make(metric).facts.better == "higher" else -1
        shared = [example for example in first if example in second]
        return Quantity(np.array([sign * (first[e] - second[e]) for e in shared])) if shared else None

    def weights(self, cell: Cell, name: str) -> Mapping[str, float] | None:
        """The weights of the losses with which an explainer was fitted."""
        card = self.fits.get(cell, {}).get(name)
        return None if card is None else {w: card["settings"][w] for w in ("preservation", "sparsity", "inverse")}

    def slowdown(self, cell: Cell, other: Cell, method: str) -> Exact | None:
        """How many times as long a method takes for a text of one cell as of another."""
        slow, fast = (self.seconds.get(c, {}).get(method) for c in (cell, other))
        return None if slow is None or fast is None else Exact(slow / fast)

    def share(self, cell: Cell, method: str, part: str, whole: str) -> Quantity | None:
        """The mean share of what a method counted, over the texts where there is something to count."""
        found = self.counts.get(cell, {}).get(method)
        pairs = [] if found is None else [(a, b) for a, b in zip(found[part], found[whole], strict=True) if b]
        return Quantity(np.array([a / b for a, b in pairs])) if pairs else None

    def within(self, cell: Cell, times: float, method: str) -> list[str] | None:
        """The methods without a fit that cost up to so many times the passes of one; None if that was not run."""
        passes, fitted = self.passes.get(cell, {}), self.fits.get(cell, {})
        if method not in passes:
            return None
        rivals = [m for m in passes if m.partition("(")[0] not in fitted and m != CONTROL and HINDSIGHT not in m]
        return [m for m in rivals if passes[m] <= times * passes[method]]


def short_name(method: str) -> str:
    """The name of a method in tables: a fitted explainer has the name it has in the plan, without where it is used."""
    spec = parse(method)
    if spec.name != "aml" or not spec.args:
        return method
    name = placeless(str(spec.args[0]))
    return str(Spec(name, spec.params)) if spec.params else name


def short_metric(metric: str) -> str:
    """The name of a metric without the protocol, which the plans set for all of them."""
    spec = parse(metric)
    return str(replace(spec, params=tuple((key, value) for key, value in spec.params if key != "protocol")))


def placeless(name: str) -> str:
    for place in PLACES:
        name = name.removesuffix(place)
    return name


def evidence(records: Iterable[tuple[Cell, str, Record]]) -> Evidence:
    """Join the records of the cells, each with the name of its study or fit."""
    values: dict[Cell, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    weights: dict[Cell, Any] = defaultdict(lambda: defaultdict(dict))
    passes: dict[Cell, Any] = {}
    seconds: dict[Cell, Any] = {}
    shown: dict[Cell, Any] = {}
    counts: dict[Cell, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    fits: dict[Cell, Any] = defaultdict(dict)
    for cell, name, record in records:
        rows = record.rows
        if record.spec["kind"] == "fit":
            fits[cell][placeless(name)] = rows
            continue
        for given, methods in rows["values"].items():
            metric = short_metric(given)
            for method, column in methods.items():
                pairs = zip(rows["examples"], column, strict=True)
                values[cell][metric][short_name(method)] |= {e: v for e, v in pairs if v is not None}
        for metric, column in rows["weights"].items():
            weights[cell][short_metric(metric)] |= {
                e: w for e, w in zip(rows["examples"], column, strict=True) if w is not None
            }
        for method, pairs in rows["passes"].items():
            passes.setdefault(cell, {}).setdefault(short_name(method), []).extend(sum(pair) for pair in pairs)
        for method, spent in record.provenance["seconds"].items():
            seconds.setdefault(cell, {}).setdefault(short_name(method), []).extend(spent)
        for method, by_name in rows.get("counts", {}).items():
            for count, column in by_name.items():
                counts[cell][short_name(method)][count] += column
        for method, explained in rows["attributions"].items():
            known = shown.setdefault(cell, {}).setdefault(short_name(method), {})
            known |= {a["example_id"]: a for a in explained}
    return Evidence(values, weights, _means(passes), _means(seconds), counts, fits, shown)


def _means(by_cell: Mapping[Cell, Mapping[str, list[float]]]) -> dict[Cell, dict[str, float]]:
    return {cell: {m: float(np.mean(c)) for m, c in by.items() if c} for cell, by in by_cell.items()}
