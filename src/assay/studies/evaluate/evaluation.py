"""An evaluation: the records of all its slices joined into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.printable import one_line
from assay.core.types import Attribution
from assay.datasets.dataset import Dataset
from assay.experiments.preset import PresetUse
from assay.experiments.store import Record
from assay.experiments.worker import versions
from assay.models.model import Model
from assay.studies.evaluate.task import EvaluateTask
from assay.training.gold_labels import GoldLabels, gold_labels


@dataclass(frozen=True, repr=False)
class Evaluation:
    """All values of an evaluation, and everything that produced them."""

    model: Model
    dataset: Dataset
    methods: Mapping[str, Any]
    metrics: Mapping[str, Any]
    settings: Mapping[str, Any]
    examples: tuple[str, ...]
    values: Mapping[str, Mapping[str, NDArray[np.float64]]]  # metric -> method -> (N,), NaN where not applicable
    weights: Mapping[str, NDArray[np.float64]]  # metric -> (N,), for metrics whose mean is weighted
    curves: Mapping[str, Mapping[str, NDArray[np.float64]]]  # metric -> method -> (N,K)
    agreement: Mapping[str, NDArray[np.float64]]  # "a ~ b" -> (N,)
    passes: Mapping[str, NDArray[np.float64]]  # method -> (N,2) forward and backward
    seconds: Mapping[str, NDArray[np.float64]]  # method -> (N,)
    outputs: NDArray[np.float64]  # (N,C) the model's own
    labels: GoldLabels  # of the examples, and whether they meet the model's
    shown: Mapping[str, tuple[Attribution, ...]]  # method -> attributions of the first examples
    unit_counts: NDArray[np.int64]  # (N,4) units, units past the length limit, and both of rationale units
    by_size: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)  # signs of scores ignored
    counts: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)  # method -> name -> (N,)
    margin: float | None = None  # None: that of each metric
    provenance: Mapping[str, Any] = field(default_factory=dict)
    preset: PresetUse | None = None  # that its settings come from

    def __repr__(self) -> str:
        return f"<Evaluation: {self.summary}>"

    @property
    def summary(self) -> str:
        """Model, data, methods and metrics in one line."""
        counts = f"{len(self.examples)} examples, {len(self.methods)} methods, {len(self.metrics)} metrics"
        return one_line(f"{self.model.title} on {self.dataset.name or 'a list'}, {counts}")

    @property
    def gold(self) -> tuple[int | float | None, ...]:
        """Label index or score per example."""
        return self.labels.values

    @classmethod
    def join(
        cls,
        task: EvaluateTask,
        model: Model,
        dataset: Dataset,
        records: Sequence[Record],
        preset: PresetUse | None = None,
    ) -> Evaluation:
        """Join the records of all slices."""
        slices = [{**record.rows, "seconds": record.provenance["seconds"]} for record in records]
        methods, metrics = task.methods, task.metrics

        def column(*path: str) -> NDArray[np.float64]:
            return _column(slices, path)

        return cls(
            model=model,
            dataset=dataset,
            methods=methods,
            metrics=metrics,
            settings=task.spec(model.identity, model),
            examples=tuple(name for rows in slices for name in rows["examples"]),
            values={m: {k: column("values", m, k) for k in methods} for m in metrics},
            weights={m: column("weights", m) for m in slices[0]["weights"]},
            curves={m: {k: column("curves", m, k) for k in methods} for m in metrics if m in slices[0]["curves"]},
            agreement={pair: column("agreement", pair) for pair in slices[0]["agreement"]},
            passes={k: column("passes", k) for k in methods},
            seconds={k: column("seconds", k) for k in methods},
            outputs=column("outputs"),
            labels=gold_labels(dataset, model),
            shown={k: tuple(a for rows in slices for a in _attributions(rows, k)) for k in methods},
            unit_counts=column("unit_counts").astype(np.int64),
            by_size={m: {k: column("by_size", m, k) for k in rows} for m, rows in _by_size(slices).items()},
            counts={k: {c: column("counts", k, c) for c in names} for k, names in slices[0].get("counts", {}).items()},
            margin=task.settings.margin,
            provenance=versions(),
            preset=preset,
        )


def _column(slices: Sequence[Mapping[str, Any]], path: Sequence[str]) -> NDArray[np.float64]:
    """The values at a path, over all slices; None becomes NaN."""
    column: list[Any] = []
    for rows in slices:
        value: Any = rows
        for name in path:
            value = value[name]
        column += value
    return np.array([np.nan if item is None else item for item in column], np.float64)


def _by_size(slices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Of the first slice; records of older versions have none."""
    readings: Mapping[str, Any] = slices[0].get("by_size", {})
    return readings if all("by_size" in rows for rows in slices) else {}


def _attributions(rows: Mapping[str, Any], method: str) -> list[Attribution]:
    """The attributions that a slice stores (of its first examples), with their seconds."""
    pairs = zip(rows["attributions"][method], rows["seconds"][method], strict=False)
    return [Attribution.from_dict({**a, "cost": {**a["cost"], "seconds": seconds}}) for a, seconds in pairs]
