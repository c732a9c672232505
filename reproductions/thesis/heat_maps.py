"""Write attacked.html: explanations before and after attacks, one sentence per model and study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.core.render import write_page
from assay.core.types import Example
from assay.experiments.status import Status
from assay.experiments.study import StudyCell
from assay.reports.method_style import method_styles
from assay.studies.attack.page import AttackedExample, attacked_example, examples_page

from .evidence import NAMES, Row

STUDIES = {"attack": "Gradients of the probability", "attack_logit": "Gradients of the logit"}
INTRODUCTION = (
    "Explanations before and after attacks.",
    "For each model: the first sentence where an attack changed the top words of integrated gradients within its"
    " constraint, or the first sentence if there is none. First training of each model.",
)


def heat_maps(states: Mapping[str, Status], path: Path) -> bool:
    """Write the page, if any attack has been run."""
    sections = {words: list(_examples(states, study)) for study, words in STUDIES.items()}
    if any(sections.values()):
        write_page(examples_page("Thesis reproduction: attacks", INTRODUCTION, sections), path)
    return any(sections.values())


def _examples(states: Mapping[str, Status], study: str) -> Iterator[AttackedExample]:
    seen = set[tuple[str, str]]()
    for data, state in states.items():
        for cell in state.plan.cells:
            if cell.name == study and (data, cell.model.grid) not in seen and (rows := _rows(cell, state)):
                seen.add((data, cell.model.grid))
                yield _example(data, cell, rows)


def _rows(cell: StudyCell, state: Status) -> list[Row]:
    stored = cell.records(state.store)
    return [row for record in stored or () for row in record.rows if "original" in row]


def _example(data: str, cell: StudyCell, rows: list[Row]) -> AttackedExample:
    succeeded = [r["example"] for r in rows if r["succeeded"] and r["method"].startswith("integrated_gradients")]
    name = (succeeded or [rows[0]["example"]])[0]
    example: Example = next(e for e in cell.data.load() if e.id == name)
    own_rows = [dict(row) for row in rows if row["example"] == name]
    styles = method_styles(list(dict.fromkeys(row["method"] for row in own_rows)), None)
    title = f"{NAMES.get(cell.model.grid, cell.model.grid)}, {data}: {name}"
    return attacked_example(title, own_rows, example, styles)
