"""Explanations before and after their attacks: thesis/attacked.html, one sentence of each model and study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evidence import NAMES, Row

from assay.core.types import Example
from assay.experiments.plan import StudyCell
from assay.experiments.results import records
from assay.experiments.status import Status
from assay.reports.method_style import method_styles
from assay.reports.study_page import page, write
from assay.studies.attack.result import before_and_after
from assay.studies.evaluate.examples import KEY

STUDIES = {"attack": "Gradients of the probability", "attack_logit": "Gradients of the logit"}
ABOUT = (
    "Explanations before and after attacks on them.",
    "Of each model the first sentence on which an attack changed the top of integrated gradients within its constraint,"
    " or its first sentence where none did. Heat maps of the first training of each model.",
)


def heat_maps(found: Mapping[str, Status], path: Path) -> bool:
    """The page, if any attack has been run."""
    sections = {words: "".join(_blocks(found, study)) for study, words in STUDIES.items()}
    if any(sections.values()):
        shown = {words: KEY + body for words, body in sections.items() if body}
        write(page("The thesis, run again: attacks", ABOUT, "", shown, over=""), path)
    return any(sections.values())


def _blocks(found: Mapping[str, Status], study: str) -> Iterator[str]:
    seen = set[tuple[str, str]]()
    for data, state in found.items():
        for cell in state.plan.cells:
            if cell.study == study and (data, cell.model.grid) not in seen and (rows := _rows(cell, state)):
                seen.add((data, cell.model.grid))
                yield _block(data, cell, rows)


def _rows(cell: StudyCell, state: Status) -> list[Row]:
    kept = records(cell, state.store)
    return [row for record in kept or () for row in record.rows if "original" in row]


def _block(data: str, cell: StudyCell, rows: list[Row]) -> str:
    hit = [r["example"] for r in rows if r["succeeded"] and r["method"].startswith("integrated_gradients")]
    name = (hit or [rows[0]["example"]])[0]
    example: Example = next(e for e in cell.data.load() if e.id == name)
    mine = [dict(row) for row in rows if row["example"] == name]
    who = method_styles(list(dict.fromkeys(row["method"] for row in mine)), None)
    return before_and_after(f"{NAMES.get(cell.model.grid, cell.model.grid)}, {data}: {name}", mine, example, who)
