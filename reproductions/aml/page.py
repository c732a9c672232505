"""Write results.md from the packed records.

    python -m reproductions.aml.page [--output FOLDER]
    python -m reproductions.aml.page --update [--store ~/.cache/assay-aml/store]

Needs neither data nor models. `--update` first adds the finished records of a store to records.jsonl.xz; it reads the
plans, which needs the data and models that they name. What has not been run is marked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.experiments.archive import pack_records, read_archive
from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Record, Store

from .claims import CELLS, IMDB, LANGUAGE
from .evidence import TRAINING, Cell, Evidence, evidence
from .findings import findings
from .tables import (
    TOP,
    ablation_table,
    aim_table,
    claim_table,
    example_table,
    fit_table,
    hindsight_table,
    method_table,
    missing_list,
    model_table,
    rationale_table,
    start_table,
    statement_list,
    time_table,
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

- *G* is the model that AML fits: it reads a text and gives each token a mask between 0 and 1. `paml` has a G of its
  own (an encoder), fitted in 200 steps with a rate of 5e-4 (paper: about 500 with 4e-5), its checkpoint chosen by
  comprehensiveness; `paml_sufficiency` by sufficiency; `paper` has the paper's rate, for 200 steps. A *trunk* is a
  small G on the explained model's own hidden states: `searched`, `cold`, `warm` and the ablation. `logistic` is the
  default of Assay.
- The losses: L_p keeps the prediction on the masked text, L_inv destroys it under the inverse mask, L_a keeps masks
  sparse.
- `steps=10` is fAML by its last step; `tune=all` refines all of G as in the paper, otherwise the logits of the mask.
- `selection=oracle` chooses the step of each text by the metric that the explainer was fitted for. That is hindsight,
  so it stands only beside searches and its control, the best of ten noisy maps (`tune=noise`). All numbers of fAML in
  the paper are of this kind.
- Brackets are 95 % bootstrap intervals over texts; **bold**: not significantly different from the best. Under
  *Statements* they are wider: all intervals of a claim hold together with 95 % confidence.
- The paper's numbers are of larger models and other texts, and of fits for each of the five metrics; ours are for
  two. They show the order of methods, not values to agree with. Its two AOPC metrics come from code that divides a
  sum of five by 6; ours divide by 5: multiply ours by 0.83 to compare.
- Passes are those of the explained model, forward and backward; those of the paper's G, a second model, come on top.
"""
AIM = """A fitted explainer should be in the best group among methods without a fit that cost up to ten times its
passes. *Gain* is the difference to the best of them, positive if the explainer is better; the best is chosen with the
same texts, which makes that method look too good. The aim is *met* if the explainer is in the best group, beats
a random order, and the interval of its gain does not lie below 0. It is *open* if only the last of these fails, and
*missed* otherwise. *No worse*: the interval rules out a loss of more than 0.02. *Detectable*: the difference that so
many texts show with 80 % power; *met* says nothing about smaller ones.
"""
CLAIMS_NOTE = """Numbers are comprehensiveness unless another metric is named. Claims 1, 2, 11 and 12 were judged by
pairs of methods until the results of SST were there; they are now judged against the best rival, which is stricter.
"""
ABLATION_NOTE = """One fit for each row: 30 steps on 200 texts, more in the rows that say so. All weights of the
losses are 1 and were not tuned for each row, as the paper's are. Each fit has its own order of batches, and the order
alone can matter more than what a row changes ([README.md](README.md) has an example). Intervals are over texts and do
not contain this: the verdicts on claims 5 to 9 are about these fits.
"""
STATEMENTS = """Each number is a difference, positive if the first method is better. *Holds*: the value is in the
allowed range, and the interval does not go beyond it by more than the margin. A claim is *reproduced* if all
statements that were tested hold, *largely reproduced* if three quarters do, *contradicted* if more than a quarter are
ruled out, *incomplete* while one was not run, else *undecided*.
"""
RATIONALES_NOTE = """The paper fits for AOPC comprehensiveness and keeps fAML's best of ten steps by it; ours are
fitted for comprehensiveness, and fAML counts by its last step. Top 25 tokens.
"""
TIME = """Wall time on two cores that other work shared, so only large ratios mean something. The paper used an A100.
"""
NO_PLAN = """Not tried at all: the paper's base models and IMDB in Table 1 ([full](full) has a plan), Llama 2 and
Mistral, language models that LoRA fine-tunes on Emotion, fits for log-odds and the two AOPC metrics, Solvex as
published (`greedy` stands in for it).
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
    for job in plan.trainings:
        model, _, data = re.match(r"\w+", str(job.tags["model"])).group().partition("_")  # type: ignore[union-attr]
        yield Place(job.key, data, model, TRAINING)
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


def _placed(places: list[Place], by_key: dict[str, Record]) -> Iterator[tuple[Cell, str, Record | None]]:
    for place in places:
        yield (place.data, place.model), place.name, by_key.get(place.key)


def page(e: Evidence) -> str:
    parts = [INTRODUCTION, "## Findings\n", findings(e), "## Claims\n", CLAIMS_NOTE, claim_table(e)]
    parts += ["## Our aim\n", AIM, aim_table(e), "## Table 1: encoders\n"]
    for cell, title in TABLE_1.items():
        parts += [f"### {title}\n", method_table(e, cell)]
    parts.append("## Choices in hindsight\n")
    for cell in CELLS:
        parts += [f"### {TABLE_1[cell]}\n", hindsight_table(e, cell)]
    parts += ["## Table 2: SST, prompted SmolLM2 (paper: Llama 2)\n", method_table(e, LANGUAGE), _invented(e)]
    parts += ["## Table 3: human rationales of movie reviews\n", RATIONALES_NOTE, rationale_table(e)]
    parts += ["## Table 4: ablation on Emotion, MiniLM, trunk (paper: DistilBERT)\n", ABLATION_NOTE, ablation_table(e)]
    parts += ["## Table 5: time for a text, pAML on SST = 1\n", TIME, time_table(e)]
    parts += ["## Table 6: examples\n", f"The {TOP} units with the highest scores.\n", example_table(e)]
    parts += ["## Texts of another kind: an explainer of SST on IMDB\n", method_table(e, IMDB)]
    parts += ["## A warm start, on dev texts\n", start_table(e)]
    parts += ["## Explained models\n", model_table(e), "## Fits\n", fit_table(e)]
    parts += ["## What was not run\n", missing_list(e), NO_PLAN]
    return "\n".join([*parts, "## Statements\n", STATEMENTS, statement_list(e)])


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
