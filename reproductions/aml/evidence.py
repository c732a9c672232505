"""What the records say: the values of each method on each text, and how explainers were fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.core.spec import Spec, parse
from assay.experiments.store import Record
from assay.faithfulness import FAITHFULNESS
from assay.statistics.quantities import Quantity

HIDDEN = ("explainer", "job", "digest")  # parts of the spec of a fitted explainer that its name stands for
Cell = tuple[str, str]  # data, model
Values = Mapping[str, float]  # by example


@dataclass(frozen=True)
class Evidence:
    """Values by (data, model), metric and method; mean passes; the cards of fits by (data, model) and name."""

    values: Mapping[Cell, Mapping[str, Mapping[str, Values]]] = field(default_factory=dict)
    passes: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    seconds: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    fits: Mapping[Cell, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    def of(self, cell: Cell, metric: str, method: str) -> Values | None:
        return self.values.get(cell, {}).get(metric, {}).get(method)

    def gain(self, cell: Cell, metric: str, method: str, other: str) -> Quantity | None:
        """How much better a method is than another on the same texts, positive if it is; None if one was not run."""
        first, second = self.of(cell, metric, method), self.of(cell, metric, other)
        if first is None or second is None:
            return None
        sign = 1 if FAITHFULNESS.make(metric).facts.better == "higher" else -1
        shared = [example for example in first if example in second]
        return Quantity(np.array([sign * (first[e] - second[e]) for e in shared])) if shared else None

    def weights(self, cell: Cell, name: str) -> Mapping[str, float] | None:
        """The weights of the losses with which an explainer was fitted."""
        card = self.fits.get(cell, {}).get(name)
        return None if card is None else {w: card["settings"][w] for w in ("preservation", "sparsity", "inverse")}


def short_name(method: str) -> str:
    """The name of a method in tables: a fitted explainer has the name it has in the plan."""
    spec = parse(method)
    own = dict(spec.params)
    if "explainer" not in own:
        return method
    more = tuple((key, value) for key, value in spec.params if key not in HIDDEN)
    return str(Spec(str(own["explainer"]), more)) if more else str(own["explainer"])


def evidence(records: Iterable[tuple[Cell, str, Record]]) -> Evidence:
    """Join the records of the cells, each with the name of its study or fit."""
    values: dict[Cell, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    passes: dict[Cell, Any] = defaultdict(lambda: defaultdict(list))
    seconds: dict[Cell, Any] = defaultdict(lambda: defaultdict(list))
    fits: dict[Cell, Any] = defaultdict(dict)
    for cell, name, record in records:
        if record.spec["kind"] == "fit":
            fits[cell][name] = record.rows
            continue
        rows = record.rows
        for metric, methods in rows["values"].items():
            for method, column in methods.items():
                values[cell][metric][short_name(method)] |= dict(zip(rows["examples"], column, strict=True))
        for method, counts in rows["passes"].items():
            passes[cell][short_name(method)] += [sum(pair) for pair in counts]
            seconds[cell][short_name(method)] += record.provenance["seconds"].get(method, [])
    mean = {cell: {m: float(np.mean(c)) for m, c in by.items() if c} for cell, by in passes.items()}
    spent = {cell: {m: float(np.mean(c)) for m, c in by.items() if c} for cell, by in seconds.items()}
    return Evidence(values, mean, spent, fits)
