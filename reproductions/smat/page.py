"""Write results.md and its figures from the packed records.

    python -m reproductions.smat.page [--output FOLDER]
    python -m reproductions.smat.page --update [--store ~/.cache/assay-smat/store]

Needs neither data nor models. `--update` first adds the finished records of a store to records.jsonl.xz, and measures
the best layer and head and draws the heads (heads.json, figures); it reads the plans, which needs the data and models
that they name. What has not been run is marked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

from assay.experiments.archive import pack_records, read_archive
from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Store
from assay.studies.simulate.study import Simulate

from .claims import AUC
from .evidence import Evidence, Place, evidence
from .figures import draw
from .findings import findings
from .heads import HEADS_FILE, measure_heads
from .planted_table import Planted, planted_finding, planted_table, read_planted
from .tables import (
    NOT_RUN,
    claim_table,
    normaliser_table,
    not_run,
    plausibility_table,
    statement_list,
    student_table,
)

HERE = Path(__file__).parent
STORE = Path("~/.cache/assay-smat/store")
PLANS = {"sst": "sst.yaml", "movies": "movies.yaml", "cifar": "cifar.yaml", "mlqe": "mlqe.yaml"}
SAME = {"others": "students", "more_texts": "students"}  # parts of one table
RECORDS, INDEX = "records.jsonl.xz", "index.json"
OWN_ALONE = "claim 5 needs only its `smat, own student`"
PARTS = {  # of the plans, in the order of run.sh, with what each fills
    ("sst", "students"): "Table 1 (claims 1 to 3, 7, 8) and Figure 5 for SST, `sst.yaml` study `students`",
    ("movies", "plausibility"): "Table 2 (claims 4, 5) and Figure 3, `movies.yaml`",
    (
        "sst",
        "others",
    ): "the last layer, gradient x input and integrated gradients in Table 1 (claims 1 to 3), `sst.yaml` "
    "study `others`",
    ("sst", "softmax"): f"Table 7, softmax; {OWN_ALONE}, `sst.yaml` study `softmax`",
    ("sst", "entmax15"): f"Table 7, entmax; {OWN_ALONE}, `sst.yaml` study `entmax15`",
    ("sst", "no_normaliser"): f"Table 7, no normaliser; {OWN_ALONE}, `sst.yaml` study `no_normaliser`",
    ("cifar", "students"): "Table 3 (claims 1, 2, 6 to 8) and Figures 4, 5, 7 and 8 for images, `cifar.yaml`",
    ("mlqe", "students"): "Table 5 (in claims 2, 3, 6 to 8; three students decide nothing) and Figure 5 for quality "
    "estimation, `mlqe.yaml` study `students`",
    ("ro-en", "plausibility"): "Table 6, `mlqe.yaml` study `plausibility`",
    ("sst", "more_texts"): "twice the texts in Table 1, `sst.yaml` study `more_texts`",
    ("sst", "weaker"): "students of a weaker model, `sst.yaml` study `weaker`",
}
NONE_PLANTED: Planted = MappingProxyType({})
NEVER = "- Table 4, the ranking by people: needs volunteers, and is not part of this folder.\n"
STATEMENTS = """Differences of students are of agreements or correlations (0.01 is a point), those of plausibility
are of AUC. The intervals of one claim hold together with 95 % confidence. Those of students are t intervals with
seeds and texts crossed, those of the movies bootstrap intervals over the reviews for the heads of one fit, and those
of shares and places of heads bootstrap intervals over fits. None covers another teacher or other texts to stop by.

"""
INTRODUCTION = """# SMaT: results

"Learning to Scaffold: Optimizing Model Explanations for Teaching" (Fernandes et al. 2022) at a small scale;
[README.md](README.md) says what was run and how. A score is the agreement of a student with its teacher in percent
(Pearson's r x 100 for quality estimation) on examples that no student has seen. `smat, own student` learnt while the
heads were found, as in the paper; `smat` is a fresh student that the final, frozen heads teach. The heads of both
were chosen with the teacher's answers to further texts (the outer loss), which no other method uses. `shuffled`
controls are taught the same shares, shuffled over the tokens; `uniform` gives all tokens equal shares.

An explanation *teaches* if its students are better than those without one **and** than those with its shuffled
shares; without the second it may only regularise, as any explanation might. Medians [quartiles] over seeds as in the
paper, <u>underlined</u> where the quartiles are above those of `none`; gains are differences of means, with 95 %
intervals over seeds and texts. *Verdict* uses wider intervals, corrected for the number of methods; *detectable* is
the gain over none, in points, that it would have found about four times in five. A claim is *reproduced* if all its
statements that can be tested here hold (the verdict counts the others), *largely reproduced* if three quarters of
them do, *contradicted* if more than a quarter are ruled out, *incomplete* while one was not run, *not testable here*
if fewer than a third can be tested, else *undecided*. The paper's numbers are as printed (Pearson's r not x 100), of
larger models, other data and more texts.
"""


def update(store: Store, output: Path = HERE) -> tuple[int, int]:
    """Pack the finished records of the plans and write the index; how many, of all."""
    plans = {data: read_plan(HERE / name, store) for data, name in PLANS.items()}
    places = [asdict(place) for data, plan in plans.items() for place in _places(data, plan)]
    counts = pack_records([replace(plan, cells=()) for plan in plans.values()], store, output / RECORDS)
    (output / INDEX).write_text(json.dumps(places, indent=1) + "\n", encoding="utf-8")
    measure_heads(plans, store, output)
    return counts


def _places(data: str, plan: Plan) -> Iterator[Place]:
    yield from (Place(job.key, data, "", "teacher") for job in plan.trainings)
    yield from (Place(job.key, data, "", "fit") for job in plan.fits)
    for cell in plan.cells:
        # a language pair is a data set of its own; the students of all pairs of one plan are those of the first
        place = _pair(cell.data.name) or data
        for job in cell.jobs:
            if not isinstance(cell.study, Simulate):
                yield Place(job.key, place, cell.name, "evaluate", part=cell.name)
                continue
            tags = job.tags
            size, seed = int(tags.get("size", 0)), int(tags.get("seed", 0))
            study = SAME.get(cell.name, cell.name)
            yield Place(job.key, data, study, str(tags["step"]), str(tags.get("method", "")), size, seed, cell.name)


def _pair(name: str) -> str | None:
    """The language pair in the name of a data set of rationales, such as ro-en."""
    found = name.removesuffix("_dev").replace("_", "-")
    return found if len(found) == 5 and found[2] == "-" else None


def read(folder: Path = HERE) -> Evidence:
    """The evidence of the packed records; none if nothing has been run."""
    if not (folder / INDEX).is_file() or not (folder / RECORDS).is_file():
        return Evidence()
    by_key = {item.record.key: item.record for item in read_archive(folder / RECORDS)}
    places = [Place(**place) for place in json.loads((folder / INDEX).read_text(encoding="utf-8"))]
    heads = folder / HEADS_FILE
    oracle = json.loads(heads.read_text(encoding="utf-8")) if heads.is_file() else {}
    return evidence(((place, by_key.get(place.key)) for place in places), oracle)


def page(e: Evidence, figures: dict[str, str], planted: Planted = NONE_PLANTED) -> str:
    pair = [f"auc(words=sum, part={part})" for part in ("text", "text_pair")]
    sections = {
        "Findings": findings(e) + planted_finding(planted),
        "Claims": claim_table(e),
        "Table 1: SST sentences (paper: IMDB)": student_table(e, 1, "sst"),
        "Table 2: plausibility, ERASER movies, AUC": plausibility_table(e, 2, "movies", [AUC]),
        "Table 3: CIFAR-10 (paper: CIFAR-100)": student_table(e, 3, "cifar"),
        "Table 5: quality estimation, Romanian to English (paper: six pairs)": student_table(e, 5, "mlqe"),
        "Table 6: plausibility, Romanian to English, AUC, source and translation apart": plausibility_table(
            e, 6, "ro-en", pair, ("text", "text_pair")
        ),
        "Table 7: normalisers of the head weights, SST (paper: MLQE, Pearson's r)": normaliser_table(e),
        "Planted heads (ours)": planted_table(planted),
        "Figures": "\n".join(f"![{title}](figures/{name})\n\n{title}\n" for name, title in figures.items()) or NOT_RUN,
        "Not run": not_run(e, PARTS) + NEVER,
        "Statements": STATEMENTS + statement_list(e),
    }
    return "\n".join([INTRODUCTION, *(f"## {title}\n\n{text}" for title, text in sections.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="first add the finished records of the store")
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`, for --update")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the records and the page")
    options = parser.parse_args()
    if options.update:
        done, jobs = update(Store(options.store.expanduser()), options.output)
        print(f"{done} of {jobs} jobs have records")
    e = read(options.output)
    figures = draw(e, options.output / "figures")
    (options.output / "results.md").write_text(page(e, figures, read_planted(HERE)).rstrip() + "\n", encoding="utf-8")
    print(options.output / "results.md")


if __name__ == "__main__":
    main()
