"""The records of the plans, packed beside the page, and their index: which belong to which study of which model.

Reading them needs neither data nor models. Updating them from a store does, because record keys contain fingerprints of
the data and weights that the plans name.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.experiments.archive import pack_records, read_archive
from assay.experiments.model_table import model_table
from assay.experiments.plan import Plan, read_plan
from assay.experiments.status import plan_status
from assay.experiments.store import Record, Store
from assay.experiments.study import StudyCell
from assay.studies.attack.study import Attack

from .evidence import ATTACKS, Evidence, Row, bare

HERE = Path(__file__).parent
PLANS = {"sst": "augmented_sst.yaml", "mnli": "mnli.yaml", "esnli": "esnli.yaml"}
RECORDS, INDEX = "records.jsonl.xz", "index.json"


@dataclass(frozen=True)
class Place:
    """A study of one trained model, with the keys of its records."""

    data: str
    study: str
    model: str
    grid: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Records:
    """Packed records with their index."""

    places: Sequence[Place]
    models: Sequence[Row]  # with sizes and validation scores; `skipped` if a model did not learn its task
    by_key: Mapping[str, Record]

    def of(self, place: Place) -> list[Record] | None:
        """The records of a study, or None while one is missing."""
        found = [self.by_key.get(key) for key in place.keys]
        return None if None in found or not found else [record for record in found if record is not None]

    @property
    def expected(self) -> list[Place]:
        """All but the studies of models that did not learn their task, which are never explained."""
        unlearnt = {(row["data"], row["model"]) for row in self.models if row["skipped"]}
        return [place for place in self.places if (place.data, place.model) not in unlearnt]


def read_records(folder: Path = HERE) -> Records:
    """The records and their index in a folder."""
    index, archive = folder / INDEX, folder / RECORDS
    if not index.is_file() or not archive.is_file():
        raise InputError(f"{folder} has no {INDEX} and {RECORDS}. Run the plans, then the page with --update.")
    content = json.loads(index.read_text(encoding="utf-8"))
    places = [Place(**{**place, "keys": tuple(place["keys"])}) for place in content["places"]]
    return Records(places, content["models"], {item.record.key: item.record for item in read_archive(archive)})


def update_records(
    store: Store, output: Path = HERE, plans: Mapping[str, str] = PLANS, folder: Path = HERE
) -> tuple[int, int]:
    """Add the finished records of the plans to those in the output folder and write the index; how many, of all."""
    opened = {data: read_plan(folder / name, store) for data, name in plans.items() if (folder / name).is_file()}
    known = {(row["data"], row["model"]): row for row in _known_models(output / INDEX)}
    places = [asdict(place) for data, plan in opened.items() for place in _places(data, plan)]
    models = [
        row if row["parameters"] else {**row, **_sizes(known.get((data, row["model"]), {}))}
        for data, plan in opened.items()
        for row in _models(data, plan, store)
    ]
    bare_plans = [replace(plan, cells=()) for plan in opened.values()]  # no model files: the index has their sizes
    counts = pack_records(bare_plans, store, output / RECORDS)
    (output / INDEX).write_text(json.dumps({"models": models, "places": places}, indent=1) + "\n", encoding="utf-8")
    return counts


def _known_models(path: Path) -> list[Row]:
    return json.loads(path.read_text(encoding="utf-8"))["models"] if path.is_file() else []


def _sizes(row: Row) -> Row:
    return {name: row[name] for name in ("parameters", "layers") if row.get(name)}


def _places(data: str, plan: Plan) -> Iterator[Place]:
    for cell in plan.cells:
        keys = tuple(job.key for job in cell.jobs)
        yield Place(data, _study_name(cell), cell.model.name, cell.model.grid, keys)


def _study_name(cell: StudyCell) -> str:
    """Attacks are named by what they differentiate and how they step."""
    return ATTACKS[cell.study.scale, cell.study.step] if isinstance(cell.study, Attack) else cell.name


def _models(data: str, plan: Plan, store: Store) -> list[dict[str, Any]]:
    states = plan_status(plan, store).states
    skipped = {job.tags["model"] for key, job in plan.jobs.items() if states[key] == "skipped"}
    return [{**row, "data": data, "skipped": row["model"] in skipped} for row in model_table(plan, store)]


# --- evidence --------------------------------------------------------------------------------------------------------


def evidence(records: Records) -> Evidence:
    """The evidence of all studies that are complete; partial ones would reduce the shared examples."""
    rows: dict[str, list[Row]] = defaultdict(list)
    floors: dict[tuple[str, str], dict[str, float]] = {}
    passes: dict[tuple[str, str, str], list[Any]] = defaultdict(list)
    for place in records.places:
        found = records.of(place) or ()
        rows[place.data] += [{**_tags(place), **row} for record in found for row in tidy(record)]
        if place.study == "probability":
            floors[place.data, place.grid] = floors.get((place.data, place.grid), {}) or _floors(found)
            for method, counts in ((m, c) for record in found for m, c in record.rows["passes"].items()):
                passes[place.data, place.grid, bare(method)] += counts
    means = {key: np.mean(counts, 0) for key, counts in passes.items()}
    by_example = {key: (float(forward), float(backward)) for key, (forward, backward) in means.items()}
    planned = Counter((place.data, place.study, place.grid) for place in records.expected)
    return Evidence(rows, records.models, {key: value for key, value in floors.items() if value}, by_example, planned)


def _tags(place: Place) -> Row:
    return {name: getattr(place, name) for name in ("data", "study", "model", "grid")}


def tidy(record: Record) -> Iterator[Row]:
    """One row per number of an evaluation, or the rows of a randomisation or attack without heat maps."""
    if record.spec["kind"] != "evaluate":
        yield from ({k: v for k, v in row.items() if k not in ("original", "attacked", "curve")} for row in record.rows)
        return
    for metric, methods in record.rows["values"].items():
        for method, values in methods.items():
            for example, value in zip(record.rows["examples"], values, strict=True):
                yield {"method": method, "metric": metric, "example": example, "value": value}


def _floors(records: Sequence[Record]) -> dict[str, float]:
    """The share of marked units: with one cue 1 / n, the mean rank % of a perfect method, for this tokenizer."""
    return {
        example: (marked - hidden_marked) / (units - hidden)
        for record in records
        for example, (units, hidden, marked, hidden_marked) in zip(
            record.rows["examples"], record.rows["unit_counts"], strict=True
        )
        if marked > hidden_marked
    }
