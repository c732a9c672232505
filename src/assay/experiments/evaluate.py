"""An evaluation: slices of a data set through all methods and metrics, each slice a record that is computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.progress import Progress
from assay.core.types import Attribution
from assay.datasets.dataset import Dataset
from assay.experiments.job import Job, StudyContext
from assay.experiments.kinds.evaluate import Evaluate
from assay.experiments.references import InMemoryData, InMemoryModel
from assay.experiments.store import Record, Store, default_folder
from assay.experiments.worker import Worker, versions
from assay.models.load import load_model
from assay.models.model import Model
from assay.training.gold_labels import gold_label


@dataclass(frozen=True)
class Evaluation:
    """All values of an evaluation, and everything that made them."""

    model: Model
    dataset: Dataset
    methods: Mapping[str, Any]
    metrics: Mapping[str, Any]
    settings: Mapping[str, Any]
    examples: tuple[str, ...]
    values: Mapping[str, Mapping[str, NDArray[np.float64]]]  # metric -> method -> (N,), NaN where not applicable
    weights: Mapping[str, NDArray[np.float64]]  # metric -> (N,), of those whose mean is not a plain one
    curves: Mapping[str, Mapping[str, NDArray[np.float64]]]  # metric -> method -> (N,K)
    agreement: Mapping[str, NDArray[np.float64]]  # "a ~ b" -> (N,)
    passes: Mapping[str, NDArray[np.float64]]  # method -> (N,2) forward and backward
    seconds: Mapping[str, NDArray[np.float64]]  # method -> (N,)
    outputs: NDArray[np.float64]  # (N,C) the model's own
    gold: tuple[int | float | None, ...]  # label index or score per example
    shown: Mapping[str, tuple[Attribution, ...]]  # method -> the first few
    unseen: NDArray[np.int64]  # (N,) units past the length limit
    provenance: Mapping[str, Any] = field(default_factory=dict)


def run_evaluation(
    model: Any,
    dataset: Dataset,
    methods: Sequence[Any],
    metrics: Sequence[str],
    *,
    store: Store | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Evaluation:
    """Explain and measure every example; slices that the store has are not computed again.

    settings: protocol, removal, units, scope, target, seed and batch_tokens of the kind `evaluate`. The jobs and their
    keys are those of a plan with this model and these data.
    """
    kind = Evaluate(tuple(methods), tuple(metrics), **settings)
    loaded = load_model(model)
    bench = Worker(store or Store(default_folder()))
    jobs = kind.jobs(StudyContext(InMemoryModel(loaded), InMemoryData(dataset), {"study": "evaluate"}, bench))
    with Progress("evaluating", len(dataset) * len(kind.made_methods), progress) as bar:
        records = [_remembered(store, job, bench, bar) for job in jobs]
    return joined(kind, loaded, dataset, records)


def _remembered(store: Store | None, job: Job, bench: Worker, bar: Progress) -> Record:
    """The record of a slice, from the store if it is there."""
    record = None if store is None else store.get(job.key)
    if record is not None:
        bar.advance(len(record.rows["examples"]) * len(record.rows["attributions"]))
        return record
    record = bench.compute(job, bar)
    if store is not None:
        store.put(record)
    return record


def joined(kind: Evaluate, model: Model, dataset: Dataset, records: Sequence[Record]) -> Evaluation:
    """The slices as one."""
    parts = [{**record.rows, "seconds": record.provenance["seconds"]} for record in records]

    def column(*path: str) -> NDArray[np.float64]:
        rows: list[Any] = []
        for part in parts:
            value: Any = part
            for name in path:
                value = value[name]
            rows += value
        return np.array([np.nan if row is None else row for row in rows], np.float64)

    methods, metrics = kind.made_methods, kind.made_metrics(dataset)
    return Evaluation(
        model=model,
        dataset=dataset,
        methods=methods,
        metrics=metrics,
        settings=kind.settings_of(model, dataset),
        examples=tuple(name for part in parts for name in part["examples"]),
        values={m: {k: column("values", m, k) for k in methods} for m in metrics},
        weights={m: column("weights", m) for m in parts[0]["weights"]},
        curves={m: {k: column("curves", m, k) for k in methods} for m in metrics if m in parts[0]["curves"]},
        agreement={pair: column("agreement", pair) for pair in parts[0]["agreement"]},
        passes={k: column("passes", k) for k in methods},
        seconds={k: column("seconds", k) for k in methods},
        outputs=column("outputs"),
        gold=tuple(gold_label(example, dataset, model) for example in dataset),
        shown={k: tuple(a for part in parts for a in _timed(part, k)) for k in methods},
        unseen=column("unseen").astype(np.int64),
        provenance=versions(),
    )


def _timed(part: Mapping[str, Any], method: str) -> list[Attribution]:
    """The attributions that a slice kept, with the seconds that its provenance has."""
    kept = zip(part["attributions"][method], part["seconds"][method], strict=False)  # only the first few are kept
    return [Attribution.from_dict({**a, "cost": {**a["cost"], "seconds": seconds}}) for a, seconds in kept]
