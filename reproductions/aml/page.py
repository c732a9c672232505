"""Write results.md from the packed records.

    python -m reproductions.aml.page [--output FOLDER]
    python -m reproductions.aml.page --update [--store ~/.cache/assay-aml/store]

Needs neither data nor models. `--update` first adds the finished records of a store to records.jsonl.xz; it reads the
plans, which needs the data and models that they name. What has not been run is marked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.experiments.archive import pack_records, read_archive
from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Record, Store

from .evidence import Cell, Evidence, evidence
from .tables import claim_table, method_table, statement_list

HERE = Path(__file__).parent
STORE = Path("~/.cache/assay-aml/store")
PLANS = {"sst": "sst.yaml", "rotten": "rotten_tomatoes.yaml", "emotion": "emotion.yaml", "language": "language.yaml"}
RECORDS, INDEX = "records.jsonl.xz", "index.json"
TITLES = {
    ("sst", "minilm"): "SST, MiniLM",
    ("rotten", "minilm"): "Rotten Tomatoes, MiniLM",
    ("emotion", "minilm"): "Emotion, MiniLM",
    ("sst", "roberta"): "SST, granite RoBERTa",
    ("language", "smollm"): "SST, prompted SmolLM2",
    ("imdb", "minilm"): "IMDB, MiniLM and explainer of SST: texts of another kind",
}
INTRODUCTION = """# AML: results

"LLM Explainability via Attributive Masking Learning" (Barkan et al. 2024) at a small scale; [README.md](README.md)
says what was run and how. `faster` is the paper's fit with a learning rate of 2e-4, `paper` with its own 4e-5;
`logistic` is the default of Assay. `steps=10` is fAML; `selection=oracle` chooses its step by the reported metric, so
it is compared with searches and with `tune=noise` only.

95 % bootstrap intervals; **bold**: not significantly different from the best. The paper's numbers, in brackets, are of
larger models and other texts.
"""


@dataclass(frozen=True)
class Place:
    """Where a record belongs: data set, model, and the study or fit that made it."""

    key: str
    data: str
    model: str
    name: str


def update(store: Store, output: Path = HERE) -> tuple[int, int]:
    """Pack the finished records of the plans and write the index; how many, of all."""
    plans = {data: read_plan(HERE / name, store) for data, name in PLANS.items()}
    places = [asdict(place) for data, plan in plans.items() for place in _places(data, plan)]
    counts = pack_records([replace(plan, cells=()) for plan in plans.values()], store, output / RECORDS)
    (output / INDEX).write_text(json.dumps(places, indent=1) + "\n", encoding="utf-8")
    return counts


def _places(data: str, plan: Plan) -> Iterator[Place]:
    for job in plan.fits:
        yield Place(job.key, data, _grid(str(job.tags["model"])), str(job.tags["method"]))
    for cell in plan.cells:
        explained = cell.data.name if cell.data.name != "test" else data
        for job in cell.jobs:
            yield Place(job.key, explained, cell.model.grid, cell.name)


def _grid(model: str) -> str:
    return model.partition("(")[0]


def read(folder: Path = HERE) -> Evidence:
    """The evidence of the packed records; none if nothing has been run."""
    if not (folder / INDEX).is_file() or not (folder / RECORDS).is_file():
        return Evidence()
    by_key = {item.record.key: item.record for item in read_archive(folder / RECORDS)}
    places = [Place(**place) for place in json.loads((folder / INDEX).read_text(encoding="utf-8"))]
    return evidence(_placed(places, by_key))


def _placed(places: list[Place], by_key: dict[str, Record]) -> Iterator[tuple[Cell, str, Record]]:
    for place in places:
        if place.key in by_key:
            yield (place.data, place.model), place.name, by_key[place.key]


def page(e: Evidence) -> str:
    parts = [INTRODUCTION, "## Claims\n", claim_table(e)]
    for cell, title in TITLES.items():
        parts += [f"## {title}\n", method_table(e, cell)]
    return "\n".join([*parts, "## Statements\n", statement_list(e)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="first add the finished records of the store")
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`, for --update")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the records and the page")
    options = parser.parse_args()
    if options.update:
        done, jobs = update(Store(options.store.expanduser()), options.output)
        print(f"{done} of {jobs} jobs have records")
    (options.output / "results.md").write_text(page(read(options.output)).rstrip() + "\n", encoding="utf-8")
    print(options.output / "results.md")


if __name__ == "__main__":
    main()
