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
from assay.experiments.store import Record
from assay.experiments.worker import versions
from assay.models.model import Model
from assay.studies.evaluate.task import EvaluateTask
from assay.training.gold_labels import gold_label


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
    gold: tuple[int | float | None, ...]  # label index or score per example
    shown: Mapping[str, tuple[Attribution, ...]]  # method -> attributions of the first examples
    unit_counts: NDArray[np.int64]  # (N,4) units, units past the length limit, and both of rationale units
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Evaluation: {self.summary}>"

    @property
    def summary(self) -> str:
        """Model, data, methods and metrics in one line."""
        counts = f"{len(self.examples)} examples, {len(self.methods)} methods, {len(self.metrics)} metrics"
        return one_line(f"{self.model.title} on {self.dataset.name or 'a list'}, {counts}")

    @classmethod
    def join(cls, task: EvaluateTask, model: Model, dataset: Dataset, records: Sequence[Record]) -> Evaluation:
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
            gold=tuple(gold_label(example, dataset, model) for example in dataset),
            shown={k: tuple(a for rows in slices for a in _attributions(rows, k)) for k in methods},
            unit_counts=column("unit_counts").astype(np.int64),
            provenance=versions(),
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


def _attributions(rows: Mapping[str, Any], method: str) -> list[Attribution]:
    """The attributions that a slice stores (of its first examples), with their seconds."""
    pairs = zip(rows["attributions"][method], rows["seconds"][method], strict=False)
    return [Attribution.from_dict({**a, "cost": {**a["cost"], "seconds": seconds}}) for a, seconds in pairs]
