"""Write attacked.html: explanations before and after attacks, one sentence per model and study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.core.types import Example
from assay.experiments.status import Status
from assay.experiments.study import StudyCell
from assay.reports.heat_maps import KEY
from assay.reports.method_style import method_styles
from assay.reports.study_page import page, write
from assay.studies.attack.result import before_and_after

from .evidence import NAMES, Row

STUDIES = {"attack": "Gradients of the probability", "attack_logit": "Gradients of the logit"}
INTRODUCTION = (
    "Explanations before and after attacks.",
    "For each model: the first sentence where an attack changed the top words of integrated gradients within its"
    " constraint, or the first sentence if there is none. First training of each model.",
)


def heat_maps(states: Mapping[str, Status], path: Path) -> bool:
    """Write the page, if any attack has been run."""
    sections = {words: "".join(_blocks(states, study)) for study, words in STUDIES.items()}
    if any(sections.values()):
        shown = {words: KEY + body for words, body in sections.items() if body}
        write(page("Thesis reproduction: attacks", INTRODUCTION, "", shown, over=""), path)
    return any(sections.values())


def _blocks(states: Mapping[str, Status], study: str) -> Iterator[str]:
    seen = set[tuple[str, str]]()
    for data, state in states.items():
        for cell in state.plan.cells:
            if cell.name == study and (data, cell.model.grid) not in seen and (rows := _rows(cell, state)):
                seen.add((data, cell.model.grid))
                yield _block(data, cell, rows)


def _rows(cell: StudyCell, state: Status) -> list[Row]:
    stored = cell.records(state.store)
    return [row for record in stored or () for row in record.rows if "original" in row]


def _block(data: str, cell: StudyCell, rows: list[Row]) -> str:
    succeeded = [r["example"] for r in rows if r["succeeded"] and r["method"].startswith("integrated_gradients")]
    name = (succeeded or [rows[0]["example"]])[0]
    example: Example = next(e for e in cell.data.load() if e.id == name)
    own_rows = [dict(row) for row in rows if row["example"] == name]
    styles = method_styles(list(dict.fromkeys(row["method"] for row in own_rows)), None)
    return before_and_after(f"{NAMES.get(cell.model.grid, cell.model.grid)}, {data}: {name}", own_rows, example, styles)
