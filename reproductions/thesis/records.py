"""Read the stored records: rows, models, E[1/n] and passes of every plan of the thesis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.api.status import status
from assay.evaluation.attribution_metric import rationale_units
from assay.experiments.model_table import model_table, model_without_weights
from assay.experiments.results import tidy_results
from assay.experiments.status import Status
from assay.masking.units import divide

from .evidence import Evidence, Row, bare

HERE = Path(__file__).parent
PLANS = {"sst": "augmented_sst.yaml", "mnli": "mnli.yaml", "esnli": "esnli.yaml"}


def read_evidence(
    store: Path, plans: Mapping[str, str] = PLANS, folder: Path = HERE
) -> tuple[Evidence, dict[str, Status]]:
    """The evidence of all plans in the folder, and the status of each."""
    rows: dict[str, list[Row]] = {}
    models: list[Row] = []
    floors: dict[tuple[str, str], float] = {}
    passes: dict[tuple[str, str, str], tuple[float, float]] = {}
    planned: Counter[tuple[str, str, str]] = Counter()
    states: dict[str, Status] = {}
    for data, name in plans.items():
        if (folder / name).is_file():
            state = states[data] = status(folder / name, store=store)
            rows[data] = _finished(state)
            trained = _models(data, state)
            unlearnt = {row["model"] for row in trained if row["skipped"]}  # will never be explained
            cells = (cell for cell in state.plan.cells if cell.model.name not in unlearnt)
            planned.update((data, cell.name, cell.model.grid) for cell in cells)
            models += trained
            floors |= {(data, grid): value for grid, value in _floors(state).items()}
            passes |= {(data, *key): value for key, value in _passes(state).items()}
    return Evidence(rows, models, floors, passes, planned), states


def _finished(state: Status) -> list[Row]:
    """The rows of all models and studies that are complete; partial ones would reduce the shared examples."""
    complete = {(c.name, c.model.name) for c in state.plan.cells if all(state.states[j.key] == "done" for j in c.jobs)}
    return [row for row in tidy_results(state.plan, state.store) if (row["study"], row["model"]) in complete]


def _models(data: str, state: Status) -> list[Row]:
    skipped = {job.tags["model"] for key, job in state.plan.jobs.items() if state.states[key] == "skipped"}
    return [{"data": data, **row, "skipped": row["model"] in skipped} for row in model_table(state.plan, state.store)]


def _floors(state: Status) -> dict[str, float]:
    """Mean rank % of a perfect method, E[|L|/n]; with one cue E[1/n], which depends on the tokenizer."""
    out: dict[str, float] = {}
    for cell in state.plan.cells:
        grid, key = cell.model.grid, getattr(cell.model, "key", "")
        if cell.name != "probability" or grid in out or state.store.get(key) is None:
            continue
        model = model_without_weights(key, state.store)
        if model is not None:
            shares = [_share(model, example) for example in cell.data.load()]
            known = [share for share in shares if share]
            if known:
                out[grid] = float(np.mean(known))
    return out


def _share(model: Any, example: Any) -> float:
    units = [unit for unit in divide(model.encode(example), "token").units if unit.seen]
    return float(rationale_units(units, example).mean())


def _passes(state: Status) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean forward and backward passes per example of each model and method."""
    counts_by: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for cell in state.plan.cells:
        if cell.name == "probability":
            for record in filter(None, (state.store.get(job.key) for job in cell.jobs)):
                for method, counts in record.rows["passes"].items():
                    counts_by[cell.model.grid, bare(method)] += counts
    means = {key: np.mean(counts, 0) for key, counts in counts_by.items()}
    return {key: (float(forward), float(backward)) for key, (forward, backward) in means.items()}
