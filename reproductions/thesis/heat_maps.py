"""Write attacked.html: explanations before and after attacks, one sentence per model and study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.core.render import write_page
from assay.core.types import Example
from assay.reports.method_style import method_styles
from assay.studies.attack.page import AttackedExample, attacked_example, examples_page

from .evidence import NAMES, Row
from .records import Place, Records

STUDIES = {"attack": "Gradients of the probability", "attack_logit": "Gradients of the logit"}
INTRODUCTION = (
    "Explanations before and after attacks.",
    "For each model: the first sentence where an attack changed the top words of integrated gradients within its"
    " constraint, or the first sentence if there is none. First training of each model.",
)


def heat_maps(records: Records, path: Path) -> bool:
    """Write the page, if any attack has been run."""
    sections = {words: list(_examples(records, study)) for study, words in STUDIES.items()}
    if any(sections.values()):
        write_page(examples_page("Thesis reproduction: attacks", INTRODUCTION, sections), path)
    return any(sections.values())


def _examples(records: Records, study: str) -> Iterator[AttackedExample]:
    seen = set[tuple[str, str]]()
    for place in records.places:
        if place.study == study and (place.data, place.grid) not in seen and (rows := _rows(records, place)):
            seen.add((place.data, place.grid))
            yield _example(place, rows)


def _rows(records: Records, place: Place) -> list[Row]:
    return [row for record in records.of(place) or () for row in record.rows if "original" in row]


def _example(place: Place, rows: list[Row]) -> AttackedExample:
    succeeded = [r["example"] for r in rows if r["succeeded"] and r["method"].startswith("integrated_gradients")]
    name = (succeeded or [rows[0]["example"]])[0]
    own_rows = [dict(row) for row in rows if row["example"] == name]
    original = own_rows[0]["original"]  # holds its text: the data are not needed
    example = Example(original["text"], original["text_pair"], id=name)
    styles = method_styles(list(dict.fromkeys(row["method"] for row in own_rows)), None)
    title = f"{NAMES.get(place.grid, place.grid)}, {place.data}: {name}"
    return attacked_example(title, own_rows, example, styles)
