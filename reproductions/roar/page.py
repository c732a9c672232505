"""Write the result pages of ROAR: results.md, statements.md and the figures, from the records of its plans.

    python -m reproductions.roar.page [--store ~/.cache/assay-roar/store] [--output reproductions/roar]

Unpacks records.jsonl.xz from the output folder into the store, adds records that are new in the store to it, and writes
the pages. Figures and verdicts depend on these records only; missing runs are marked. Needs the data and models that
the plans name, because record keys contain their fingerprints.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from assay.experiments.archive import pack_records, unpack_records
from assay.experiments.store import Store

from .babi import explanation
from .claims import CLAIMS, Claim
from .dataset_table import dataset_table
from .evidence import Evidence
from .figures import draw
from .findings import findings
from .plans import HERE, PLANS, load_plan
from .records import TASKS, read_evidence
from .statements import statements, verdict_words, what_would_decide
from .tables import compact_areas, table
from .texts import AREAS_NOTE, CAPTIONS, CLAIMS_NOTE, DIFFERENCES, INTRODUCTION
from .word_vectors import word_vector_table

STORE = Path("~/.cache/assay-roar/store")
RECORDS = "records.jsonl.xz"


def page(e: Evidence, figures: Mapping[str, str]) -> str:
    """results.md: findings, claims, figures in the paper's order, Table 2, and what differs."""
    parts = [
        INTRODUCTION,
        "## Findings\n",
        findings(e),
        "## Claims\n",
        claim_table(e),
        CLAIMS_NOTE,
        "## Figures\n",
        *(figure(name, title) for name, title in figures.items()),
        "## Areas of Recursive ROAR (Table 2)\n",
        compact_areas(e),
        AREAS_NOTE,
        "## bAbI-1\n",
        *explanation(e),
        "## What differs from the paper\n",
        DIFFERENCES,
    ]
    return "\n".join(parts)


def figure(name: str, title: str) -> str:
    heading = f"Figure {title}" if title[0].isdigit() else title  # a number of the paper's
    return f"### {heading}\n\n{CAPTIONS[name]}\n\n![{title}](figures/{name}.png)\n"


def claim_table(e: Evidence) -> str:
    rows = [
        [
            number,
            f"{claim.title} ({claim.source})",
            claim.paper,
            _here(claim, e),
            _verdict(claim, e),
            _readings(claim, e),
        ]
        for number, claim in CLAIMS.items()
    ]
    return table(("", "claim", "paper", "here", "verdict", "other readings"), rows)


def _here(claim: Claim, e: Evidence) -> str:
    return " ".join(part for part in (claim.here(e) or "–", f"({claim.note})" if claim.note else "") if part)


def _verdict(claim: Claim, e: Evidence) -> str:
    judged = claim.judged(e)
    remedy = what_would_decide(judged)
    return "<br>".join(part for part in (f"**{verdict_words(judged)}**", remedy) if part)


def _readings(claim: Claim, e: Evidence) -> str:
    """The verdict under other ways of counting leaks, where it matters, and under later criteria."""
    lines = []
    if claim.fragile(e):
        bound, noise = list(claim.by_leaks(e).values())[1:]
        same = bound.verdict == noise.verdict and bound.counts == noise.counts
        also = "" if same else f"; with noise: {verdict_words(noise)}"
        lines.append(f"**fragile**: leaks as bounds: {verdict_words(bound)}{also}")
    lines += [f"{change}: {verdict_words(judged)}" for change, judged in claim.by_later_criteria(e).items()]
    return "<br>".join(lines) or "–"


def write(store_folder: Path, output: Path) -> Path:
    """Write both pages, their figures and the packed records into the output folder."""
    store, figures, target = Store(store_folder.expanduser()), output / "figures", output / "results.md"
    figures.mkdir(parents=True, exist_ok=True)
    records = output / RECORDS
    if records.exists():
        unpack_records(records, store)
    if not pack_records([load_plan(path, store) for path in PLANS], store, records)[0]:
        raise SystemExit(
            f"{records} has no record of these plans. Record keys contain fingerprints of the data and models that "
            "the plans name: use the same files (reproductions/README.md), or run the plans first."
        )
    e = read_evidence(store)
    sizes = dataset_table(store, {task.place: (task.plan, task.grid, task.data) for task in TASKS})
    titles = draw(e, figures)
    for old in figures.glob("*.png"):
        if old.stem not in titles:
            old.unlink()
    save(target, page(e, titles))
    save(output / "statements.md", statements(e, word_vector_table(store), sizes))
    return target


def save(path: Path, text: str) -> None:
    path.write_text(text.rstrip() + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of results.md and records.jsonl.xz")
    options = parser.parse_args()
    print(f"wrote {write(options.store, options.output)} and statements.md")


if __name__ == "__main__":
    main()
