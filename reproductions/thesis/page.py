"""Write the results of the thesis from its packed records: results.md, statements.md, figures, tables, heat maps.

    python -m reproductions.thesis.page [--output FOLDER] [--only FIGURE | --claim NUMBER]
    python -m reproductions.thesis.page --update [--store ~/.cache/assay-thesis/store]

Needs neither data nor models nor training. `--update` first adds the finished records of a store to records.jsonl.xz;
it reads the plans, which needs the data and models that they name. Missing runs are marked.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.experiments.store import Store
from assay.reports.aggregate import points

from .claims import CLAIMS
from .evidence import Evidence, Row
from .figures import FIGURES, MEASURES
from .findings import Verdicts, findings
from .heat_maps import heat_maps
from .records import HERE, Records, evidence, read_records, update_records
from .statements import claim_section, statements_page
from .tables import TITLES, attack_table, claim_table, model_table, output_table
from .texts import FIGURE_NOTE, INTRODUCTION, STAND_INS, TABLE_NOTE

STORE = Path("~/.cache/assay-thesis/store")


def judge_claims(e: Evidence) -> Verdicts:
    """Each claim in all its readings."""
    return {claim.number: {reading: claim.judge(e, reading) for reading in claim.all_readings} for claim in CLAIMS}


def results_page(e: Evidence, verdicts: Verdicts, records: Records, figures: Sequence[str]) -> str:
    parts = [INTRODUCTION, progress(records), "## Findings\n", *(f"- {text}" for text in findings(e, verdicts)), ""]
    parts += ["## Claims\n", claim_table(e, verdicts), TABLE_NOTE, STAND_INS, figure_section(figures)]
    return "\n".join([*parts, model_table(e), output_table(e), attack_table(e)])


def progress(records: Records) -> str:
    """What is missing, by data set and study."""
    planned: Counter[tuple[str, str]] = Counter()
    missing: Counter[tuple[str, str]] = Counter()
    for place in records.expected:
        planned[place.data, place.study] += 1
        missing[place.data, place.study] += records.of(place) is None
    words: dict[str, list[str]] = {}
    for (data, study), count in missing.items():
        if count:
            some = "" if count == planned[data, study] else f" ({count} of {planned[data, study]} models)"
            words.setdefault(TITLES[data], []).append(f"{study}{some}")
    if not words:
        return ""
    listed = "; ".join(f"{title}: {', '.join(studies)}" for title, studies in words.items())
    return f"**Not run**, so that claims about it are *incomplete*: {listed}.\n"


def figure_section(figures: Sequence[str]) -> str:
    out = ["## Figures", "", FIGURE_NOTE, ""]
    for figure in FIGURES:
        if figure.name in figures:
            out += [f"### {figure.title}", "", f"![{figure.title}](figures/{figure.name}.png)", ""]
    missing = [figure.title for figure in FIGURES if figure.name not in figures]
    return "\n".join([*out, *([f"Not run: {'; '.join(missing)}.", ""] if missing else [])])


def means(e: Evidence) -> list[dict[str, Any]]:
    """Every mean of every study with its interval over examples and range over trainings."""
    out = []
    for data, rows in e.rows.items():
        for measure in ("value", "spearman", *MEASURES):
            measured = [_named(row, measure) for row in rows if "example" in row and _has(row, measure)]
            by_key = points(measured, ("study", "grid", "method", "what"), measure)
            for (study, grid, method, what), p in by_key.items():
                low, high = p.spread
                numbers = {"mean": p.value, "low": p.low, "high": p.high, "lowest_run": low, "highest_run": high}
                tags = {"data": data, "study": study, "model": grid, "method": method, "metric": what}
                shown = {name: f"{number:.4g}" for name, number in numbers.items()}
                out.append({**tags, **shown, "runs": len(p.runs), "examples": p.n})
    return out


def _has(row: Row, measure: str) -> bool:
    return measure in row and (measure != "value" or "metric" in row)  # in a randomisation `value` is the output


def _named(row: Row, measure: str) -> Row:
    what = {"value": row.get("metric"), "spearman": f"{row.get('mode')} block {row.get('block')}"}
    return {**row, "what": what.get(measure, f"{measure} {row.get('objective')}")}


def write(records: Records, output: Path, only: str | None = None) -> Path:
    """Write both pages with all they show, or one figure."""
    e = evidence(records)
    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    figures = [f.name for f in FIGURES if only in (None, f.name) and f.draw(e, folder / f"{f.name}.png")]
    if only is not None:
        return folder / f"{only}.png"
    for old in folder.glob("*.png"):
        if old.stem not in figures:
            old.unlink()
    if rows := means(e):
        with (output / "means.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    heat_maps(records, output / "attacked.html")
    verdicts = judge_claims(e)
    for name, text in (
        ("statements.md", statements_page(verdicts)),
        ("results.md", results_page(e, verdicts, records, figures)),
    ):
        (output / name).write_text(text.rstrip() + "\n", encoding="utf-8")
    return output / "results.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="first add the finished records of the store")
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`, for --update")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the records and pages")
    parser.add_argument("--only", choices=[f.name for f in FIGURES], help="draw only this figure")
    numbers = [claim.number for claim in CLAIMS]
    parser.add_argument("--claim", type=int, choices=numbers, help="judge only this claim and print it")
    options = parser.parse_args()
    if options.update:
        done, jobs = update_records(Store(options.store.expanduser()), options.output)
        print(f"{done} of {jobs} jobs have records")
    records = read_records(options.output)
    if options.claim is not None:
        e, claim = evidence(records), next(claim for claim in CLAIMS if claim.number == options.claim)
        print(claim_section([claim.judge(e, reading) for reading in claim.all_readings]))
    else:
        print(write(records, options.output, options.only))


if __name__ == "__main__":
    main()
