"""Write results.md from the packed records.

    python -m reproductions.aml.page [--output FOLDER]
    python -m reproductions.aml.page --update [--store ~/.cache/assay-aml/store]

Needs neither data nor models. `--update` first adds the finished records of a store to records.jsonl.xz; it reads the
plans, which needs the data and models that they name. What has not been run is marked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.experiments.archive import pack_records, read_archive
from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Record, Store

from .claims import CELLS, IMDB, LANGUAGE
from .evidence import Cell, Evidence, evidence
from .tables import (
    TOP,
    ablation_table,
    claim_table,
    example_table,
    hindsight_table,
    method_table,
    rationale_table,
    start_table,
    statement_list,
    time_table,
    weight_table,
)

HERE = Path(__file__).parent
STORE = Path("~/.cache/assay-aml/store")
PLANS = ("encoders.yaml", "language.yaml")
RECORDS, INDEX = "records.jsonl.xz", "index.json"
TABLE_1 = {
    ("sst", "minilm"): "SST, MiniLM",
    ("rotten", "minilm"): "Rotten Tomatoes, MiniLM",
    ("emotion", "minilm"): "Emotion, MiniLM",
    ("sst", "roberta"): "SST, granite RoBERTa",
    ("sst", "distilbert"): "SST, DistilBERT",
}
INTRODUCTION = """# AML: results

"LLM Explainability via Attributive Masking Learning" (Barkan et al. 2024) at a small scale; [README.md](README.md)
says what was run and how.

- `paml` is the paper's pAML, fitted for comprehensiveness; `paml_sufficiency` is fitted for sufficiency. `paper` has
  the paper's learning rate, `logistic` is the default of Assay, and `cold` and `warm` are masking fits of a trunk.
- `steps=10` is fAML by its last step. `selection=oracle` chooses the step of each text by the metric that is reported:
  that is hindsight, so it stands only beside searches and its control, `tune=noise`.
- 95 % bootstrap intervals; **bold**: not significantly different from the best. The paper's numbers, in brackets, are
  of larger models and other texts.
"""


@dataclass(frozen=True)
class Place:
    """Where a record belongs: data set, model, and the study or fit that made it."""

    key: str
    data: str
    model: str
    name: str


def update(store: Store, output: Path = HERE, plans: Sequence[Path] | None = None) -> tuple[int, int]:
    """Pack the finished records of the plans and write the index; how many, of all."""
    found = [read_plan(path, store) for path in plans or [HERE / name for name in PLANS]]
    places = [asdict(place) for plan in found for place in _places(plan)]
    counts = pack_records([replace(plan, cells=()) for plan in found], store, output / RECORDS)
    (output / INDEX).write_text(json.dumps(places, indent=1) + "\n", encoding="utf-8")
    return counts


def _places(plan: Plan) -> Iterator[Place]:
    for job in plan.fits:
        data, model = _first(str(job.tags["data"])), _first(str(job.tags["model"]))
        yield Place(job.key, "language" if model == "smollm" else data, model, str(job.tags["method"]))
    for cell in plan.cells:
        for job in cell.jobs:
            yield Place(job.key, _first(cell.data.name), _first(cell.model.grid), cell.name)


def _first(name: str) -> str:
    """The model or data that a name of the plans begins with: minilm_sst is minilm, sst_half a part of sst."""
    return name.partition("(")[0].partition("_")[0]


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
    parts = [INTRODUCTION, "## Claims\n", claim_table(e), "## Table 1: encoders\n"]
    for cell, title in TABLE_1.items():
        parts += [f"### {title}\n", method_table(e, cell)]
    parts.append("## Choices in hindsight\n")
    for cell in CELLS:
        parts += [f"### {TABLE_1[cell]}\n", hindsight_table(e, cell)]
    parts += ["## Table 2: SST, prompted SmolLM2\n", method_table(e, LANGUAGE), _invented(e)]
    parts += ["## Table 3: human rationales of movie reviews\n", rationale_table(e)]
    parts += ["## Table 4: ablation on Emotion, MiniLM, trunk\n", ablation_table(e)]
    parts += ["## Table 5: time for a text, pAML on SST = 1\n", time_table(e)]
    parts += ["## Table 6: examples\n", f"The {TOP} units with the highest scores.\n", example_table(e)]
    parts += ["## Texts of another kind: an explainer of SST on IMDB\n", method_table(e, IMDB)]
    parts += ["## Weights of the losses\n", weight_table(e), "## A warm start\n", start_table(e)]
    return "\n".join([*parts, "## Statements\n", statement_list(e)])


def _invented(e: Evidence) -> str:
    found = e.share(LANGUAGE, "self_ranking(mode=free)", "dropped", "named")
    if found is None:
        return "How many words the model invents: not run yet.\n"
    return f"Of the words that SmolLM2 names freely, {float(found.values.mean()):.0%} are not in the text.\n"


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
