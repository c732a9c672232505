"""What the records say: the values of each method on each text, what it cost, and how explainers were fitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.spec import Spec, parse
from assay.evaluation import METRICS
from assay.experiments.store import Record
from assay.statistics.quantities import Exact, Quantity

from ..retrained import retrained

PLACES = ("_sst", "_rotten", "_emotion", "_distilbert")  # ends of names that only say where an explainer is used
HINDSIGHT, SEARCHES, CONTROL = "selection=oracle", ("greedy",), "random"
TRAINING = "training"  # name of the part that trains an explained model
Cell = tuple[str, str]  # data, model
Values = Mapping[str, float]  # by example
Column = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """By (data, model): values of metric, method and example; costs and counts; cards of fits; shown explanations.

    `trained` has the dev scores of the explained models, `units` the mean number of units of a text, and `records` how
    many of the jobs of each study or fit have a record. `retrained` has a sentence for each model that was trained more
    than once.
    """

    values: Mapping[Cell, Mapping[str, Mapping[str, Values]]] = field(default_factory=dict)
    weights_of_examples: Mapping[Cell, Mapping[str, Values]] = field(default_factory=dict)  # by metric
    passes: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    seconds: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    counts: Mapping[Cell, Mapping[str, Mapping[str, list[int]]]] = field(default_factory=dict)
    fits: Mapping[Cell, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    shown: Mapping[Cell, Mapping[str, Mapping[str, Mapping[str, Any]]]] = field(default_factory=dict)  # method, example
    trained: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    units: Mapping[Cell, float] = field(default_factory=dict)
    records: Mapping[tuple[Cell, str], tuple[int, int]] = field(default_factory=dict)  # there, planned
    retrained: Sequence[str] = ()
    took: float = 0.0  # seconds of all jobs, by the clock

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

    def columns(self, cell: Cell, metric: str, methods: Iterable[str]) -> dict[str, Column]:
        """The values of those of the methods that were run, on the texts that all of them explained."""
        found = {m: values for m in methods if (values := self.of(cell, metric, m))}
        shared = sorted(set.intersection(*(set(values) for values in found.values()))) if found else []
        return {m: np.array([values[x] for x in shared]) for m, values in found.items()} if shared else {}

    def best(self, cell: Cell, metric: str, methods: Iterable[str]) -> str | None:
        """The method with the best mean on shared texts."""
        means = {m: float(column.mean()) for m, column in self.columns(cell, metric, methods).items()}
        higher = METRICS.make(metric).facts.better == "higher"
        return (max if higher else min)(means, key=means.__getitem__) if means else None

    def baselines(self, cell: Cell, metric: str) -> list[str]:
        """The methods without a fit that do not look at the metric, without the control."""
        return [m for m in self.values.get(cell, {}).get(metric, {}) if self._plain(m)]

    def _plain(self, method: str) -> bool:
        fitted = {name for fits in self.fits.values() for name in fits}
        return method.partition("(")[0] not in {*fitted, *SEARCHES, CONTROL} and HINDSIGHT not in method

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
        """The methods without a fit that cost at most `times` times the passes of one; None if nothing was compared."""
        passes = self.passes.get(cell, {})
        if method not in passes:
            return None
        rivals = [m for m in passes if self._plain(m) and passes[m] <= times * passes[method]]
        return rivals or None


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


def evidence(records: Iterable[tuple[Cell, str, Record | None]]) -> Evidence:
    """Join the records of the cells, each with the name of its study or fit; None is a job that was not run."""
    joined = _Joined()
    for cell, name, record in records:
        joined.planned[cell, name] += 1
        if record is not None:
            joined.done[cell, name] += 1
            joined.add(cell, name, record)
    return joined.evidence()


@dataclass
class _Joined:
    """What the records said so far."""

    planned: Counter[tuple[Cell, str]] = field(default_factory=Counter)
    done: Counter[tuple[Cell, str]] = field(default_factory=Counter)
    values: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(dict))))
    sizes: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))
    passes: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    seconds: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    counts: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list))))
    fits: dict[Cell, Any] = field(default_factory=lambda: defaultdict(dict))
    trained: dict[Cell, Any] = field(default_factory=dict)
    shown: dict[Cell, Any] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))
    units: dict[Cell, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    names: dict[str, str] = field(default_factory=dict)  # of the fits, by their keys
    models: dict[str, str] = field(default_factory=dict)  # names of the explained models, by their keys
    parts: list[tuple[str, Record]] = field(default_factory=list)  # what was measured with them
    took: float = 0.0

    def add(self, cell: Cell, name: str, record: Record) -> None:
        self.took += float(record.provenance.get("took") or 0.0)
        if record.spec["kind"] == "fit":
            self.fits[cell][placeless(name)] = record.rows
            self.names[record.key] = placeless(name)
        elif record.spec["kind"] == "train":
            self.trained[cell] = record.rows
            self.models[record.key] = f"{cell[1]} on {cell[0]}"
        else:
            self.parts.append((name, record))
            self._measured(cell, record.rows)
            self._shown(cell, record.rows, record.provenance["seconds"])

    def _named(self, card: Mapping[str, Any]) -> dict[str, Any]:
        """The card with the name of the fit whose weights it reuses; its settings hold a key."""
        source = card["settings"].get("weights_of")
        return {**card, "settings": {**card["settings"], "weights_of": self.names.get(source, source)}}

    def _measured(self, cell: Cell, rows: Mapping[str, Any]) -> None:
        for given, methods in rows["values"].items():
            for method, column in methods.items():
                found = self.values[cell][short_metric(given)][short_name(method)]
                found |= {e: v for e, v in zip(rows["examples"], column, strict=True) if v is not None}
        for given, column in rows["weights"].items():
            found = self.sizes[cell][short_metric(given)]
            found |= {e: w for e, w in zip(rows["examples"], column, strict=True) if w is not None}
        self.units[cell] |= {e: n for e, (n, *_) in zip(rows["examples"], rows["unit_counts"], strict=True)}

    def _shown(self, cell: Cell, rows: Mapping[str, Any], seconds: Mapping[str, list[float]]) -> None:
        for method, pairs in rows["passes"].items():
            counted = [sum(pair) for pair in pairs]
            alone = [units + 1 for units, *_ in rows["unit_counts"]]  # other methods may have run its masks before it
            self.passes[cell][short_name(method)] += alone if method == "occlusion" else counted
        for method, spent in seconds.items():
            self.seconds[cell][short_name(method)] += spent
        for method, by_name in rows.get("counts", {}).items():
            for count, column in by_name.items():
                self.counts[cell][short_name(method)][count] += column
        for method, explained in rows["attributions"].items():
            self.shown[cell][short_name(method)] |= {a["example_id"]: a for a in explained}

    def evidence(self) -> Evidence:
        return Evidence(
            values=self.values,
            weights_of_examples=self.sizes,
            passes=_means(self.passes),
            seconds=_means(self.seconds),
            counts=self.counts,
            fits={cell: {name: self._named(card) for name, card in fits.items()} for cell, fits in self.fits.items()},
            shown=self.shown,
            trained=self.trained,
            units={cell: float(np.mean(list(by_example.values()))) for cell, by_example in self.units.items()},
            records={place: (self.done[place], jobs) for place, jobs in self.planned.items()},
            retrained=retrained(
                (self.models[record.spec["model"]], part, record)
                for part, record in self.parts
                if record.spec["model"] in self.models
            ),
            took=self.took,
        )


def _means(by_cell: Mapping[Cell, Mapping[str, list[float]]]) -> dict[Cell, dict[str, float]]:
    return {cell: {m: float(np.mean(c)) for m, c in by.items() if c} for cell, by in by_cell.items()}
