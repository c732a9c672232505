"""An evaluation: slices of a data set through all methods and metrics, each slice a record that is computed once."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from assay.core.errors import SpecError, TargetError
from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Attribution, Example
from assay.datasets.dataset import Dataset
from assay.evaluation.metrics import metric
from assay.experiments.slices import evaluate_slice
from assay.experiments.store import Record, Store, key_of
from assay.explainers.explain import Job, named_methods
from assay.models.encode import TextEncoder
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.target import label_index

SLICE = 64  # examples per record
REVISION = 2  # of the rows of a record
SHOWN = 10  # examples whose attributions are kept for the report


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
    protocol: str = "eraser",
    removal: str | None = None,
    units: str = "token",
    scope: int | str | None = None,
    target: str = "predicted",
    seed: int = 0,
    store: Store | None = None,
    batch_tokens: int | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Explain and measure every example; slices that the store has are not computed again."""
    if target not in ("predicted", "gold"):
        raise SpecError(f"target={target!r}: give 'predicted' or 'gold'")
    loaded = load_model(model)
    job = Job.make(loaded, named_methods(methods), units, removal, scope, seed, batch_tokens)
    made = {str(Spec.of(m, full=False)): m for m in (metric(spec, protocol) for spec in metrics)}
    gold = tuple(gold_of(loaded, dataset, example) for example in dataset)
    settings = _settings(job, made, target)
    parts = []
    with Progress("evaluating", len(dataset) * len(job.methods), progress) as bar:
        for start in range(0, len(dataset), SLICE):
            piece = dataset[start : start + SLICE]
            aims = [None] * len(piece) if target == "predicted" else list(gold[start : start + SLICE])
            chunk = list(enumerate(piece, start=start))
            spec = {**settings, "data": piece.fingerprint, "shown": max(0, SHOWN - start)}
            work = _work(job, chunk, aims, made, bar, keep=spec["shown"])
            parts.append(_remembered(store, spec, work, bar, len(chunk) * len(job.methods)))
    return _joined(job, dataset, made, settings, gold, parts)


def gold_of(model: Model, dataset: Dataset, example: Example) -> int | float | None:
    """The example's label as the model counts labels, its score for regression, or None where it has neither."""
    if example.label is None:
        return None
    if model.task == "regression":
        return float(example.label)
    named = dataset.labels[example.label] if dataset.labels and isinstance(example.label, int) else example.label
    names = [name.casefold() for name in model.labels]
    try:
        return label_index(named.casefold() if isinstance(named, str) else int(named), names)
    except TargetError:
        return None  # other labels than the model's: it can be explained, not scored


def _work(
    job: Job,
    chunk: Sequence[tuple[int, Example]],
    aims: list[Any],
    metrics: Mapping[str, Any],
    bar: Progress,
    keep: int,
) -> Callable[[], dict[str, Any]]:
    def work() -> dict[str, Any]:
        rows = evaluate_slice(job, chunk, aims, metrics, bar)
        rows["attributions"] = {method: part[:keep] for method, part in rows["attributions"].items()}
        return rows

    return work


def _remembered(
    store: Store | None, spec: Mapping[str, Any], work: Callable[[], dict[str, Any]], bar: Progress, steps: int
) -> dict[str, Any]:
    """The rows of a slice, from the store if it is there. Seconds are provenance: they differ from run to run."""
    key = key_of(spec)
    record = None if store is None else store.get(key)
    if record is not None:
        bar.advance(steps)
        return {**record.rows, "seconds": record.provenance["seconds"]}
    rows = work()
    seconds = rows.pop("seconds")
    if store is not None:
        store.put(Record(key, spec, rows, {**versions(), "seconds": seconds, "created": time.time()}))
    return {**rows, "seconds": seconds}


def versions() -> dict[str, str]:
    from assay import __version__

    return {
        "assay": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
    }


def _settings(job: Job, metrics: Mapping[str, Any], target: str) -> dict[str, Any]:
    """Everything that changes a number."""
    prompt = job.model.encoder.prompt if isinstance(job.model.encoder, TextEncoder) else None
    return {
        "kind": "evaluate",
        "revision": REVISION,
        "model": job.model.fingerprint,
        "labels": list(job.model.labels),
        "task": job.model.task,
        "prompt": None if prompt is None else repr(prompt),
        "methods": {name: [str(Spec.of(m)), m.revision] for name, m in job.methods.items()},
        "metrics": {name: [str(Spec.of(m)), m.revision] for name, m in metrics.items()},
        "units": job.units,
        "removal": f"{type(job.removal).__name__}{getattr(job.removal, 'token', '')}",
        "scope": job.scope,
        "target": target,
        "seed": job.seed,
    }


def _joined(
    job: Job,
    dataset: Dataset,
    metrics: Mapping[str, Any],
    settings: Mapping[str, Any],
    gold: tuple[int | float | None, ...],
    parts: Sequence[Mapping[str, Any]],
) -> Evaluation:
    def column(*path: str) -> NDArray[np.float64]:
        rows: list[Any] = []
        for part in parts:
            value: Any = part
            for name in path:
                value = value[name]
            rows += value
        return np.array([np.nan if row is None else row for row in rows], np.float64)

    return Evaluation(
        model=job.model,
        dataset=dataset,
        methods=job.methods,
        metrics=metrics,
        settings=settings,
        examples=tuple(name for part in parts for name in part["examples"]),
        values={m: {k: column("values", m, k) for k in job.methods} for m in metrics},
        weights={m: column("weights", m) for m in parts[0]["weights"]},
        curves={m: {k: column("curves", m, k) for k in job.methods} for m in metrics if m in parts[0]["curves"]},
        agreement={pair: column("agreement", pair) for pair in parts[0]["agreement"]},
        passes={k: column("passes", k) for k in job.methods},
        seconds={k: column("seconds", k) for k in job.methods},
        outputs=column("outputs"),
        gold=gold,
        shown={k: tuple(Attribution.from_dict(a) for p in parts for a in p["attributions"][k]) for k in job.methods},
        unseen=column("unseen").astype(np.int64),
        provenance=versions(),
    )
