"""What results, pages and records of all studies share: head, facts, sections, how to get the same numbers again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.experiments.worker import versions
from assay.models.model import Model
from assay.reports.plain_json import plain
from assay.reports.style import style
from assay.statistics.power import SMALL

Row = dict[str, Any]


@dataclass(frozen=True)
class StudyResult:
    """What a study of a model's explanations on some data found; a subclass says it in its own words."""

    model: Model
    data: Dataset
    study: Any
    rows: list[Row]

    @cached_property
    def summary(self) -> list[Row]:
        """Means with their intervals."""
        raise NotImplementedError

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(row["method"] for row in self.rows))

    def html(self, command: str | None = None) -> str:
        """One self-contained page."""
        raise NotImplementedError

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        write(self.html(command), path)

    def to_dict(self) -> Row:
        """As plain JSON; all but `provenance` is the same whenever it is run again."""
        about = settings(self.model, self.data, self.study)
        found: Row = plain({"settings": about, "summary": self.summary, "rows": self.rows, "provenance": versions()})
        return found


def page(title: str, verdict: Sequence[str], facts: str, sections: Mapping[str, str], over: str = "examples") -> str:
    """The whole page, self-contained; the verdict stands first. `over`: what intervals are over, "" without any."""
    intervals = f" Intervals are of 95 %, over {escape(over)}." if over else ""
    blocks = "".join(f"<section><h2>{escape(name)}</h2>{body}</section>" for name, body in sections.items() if body)
    first = f'<p class="big">{escape(verdict[0])}</p>' + "".join(f"<p>{escape(s)}</p>" for s in verdict[1:])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style()}</style></head><body>"
        f'<header class="top"><div class="brand"><b>Assay</b></div><h1>{escape(title)}</h1></header>'
        f"<main>{first}{facts}{blocks}</main>"
        f"<footer>Made on {date.today():%Y-%m-%d} with Assay {escape(versions()['assay'])}.{intervals}</footer>"
        "</body></html>\n"
    )


def facts(model: Model, data: Dataset, more: Sequence[tuple[str, str, str]]) -> str:
    """Model, data and what else a reader wants to know first: name, value, small print."""
    split = f", {data.split}" if data.split else ""
    all_facts = [
        ("model", model.title, f"{model.family.name}, {model.n_blocks} blocks"),
        ("data", data.name or "given", f"{len(data)} examples{split}"),
        *more,
    ]
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(small)}</small></dd></div>"
        for name, value, small in all_facts
    )
    return f'{_careful(len(data))}<dl class="facts">{cells}</dl>'


def _careful(n: int) -> str:
    if n >= SMALL:
        return ""
    return f'<p class="warn"><b>Careful:</b> {n} examples are few; below {SMALL}, intervals are too narrow.</p>'


def reproduce(model: Model, data: Dataset, study: Any, command: str | None) -> str:
    shell = f"<p>On the command line:</p><pre>{escape(command)}</pre>" if command else ""
    return shell + pairs({name: str(value) for name, value in settings(model, data, study).items()}, "wide")


def settings(model: Model, data: Dataset, study: Any) -> dict[str, Any]:
    """Everything that changes a number."""
    return {
        "model": model.name,
        "model fingerprint": model.fingerprint,
        "data": data.name,
        "data fingerprint": data.fingerprint,
        "study": str(Spec.of(study)),
        "revision": study.revision,
    }


def write(text: str, path: str | Path) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error


def pairs(words: dict[str, str], kind: str = "") -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in words.items())
    return f'<dl class="pairs {kind}">{rows}</dl>'
