"""The result of a study of one model on one data set: its rows, settings and provenance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.core.names import shareable
from assay.core.printable import one_line, printable
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.experiments.preset import PresetUse
from assay.experiments.worker import versions
from assay.models.model import Model
from assay.reports.method_style import MethodStyle, method_styles
from assay.reports.notebook import Block, fragment
from assay.reports.plain_json import plain

Row = dict[str, Any]


@dataclass(frozen=True, repr=False)
class StudyResult:
    """Rows of a study; subclasses add the summary, the verdict and the page."""

    model: Model
    data: Dataset
    study: Any
    rows: list[Row]
    preset: PresetUse | None = None  # that its settings come from

    def __repr__(self) -> str:
        verdict = "\n".join(self.verdict)
        return f"<{type(self).__name__}: {one_line(self.about)}, {len(self.rows)} rows>\n{printable(verdict)}"

    def _repr_html_(self) -> str:
        return fragment(self.verdict, self.about, self.blocks)

    @property
    def about(self) -> str:
        """What was studied, in a few words."""
        return f"{self.model.title} on {self.data.name or 'a list'}, {len(self.data)} examples"

    @property
    def verdict(self) -> list[str]:
        """The result in sentences."""
        raise NotImplementedError

    @property
    def blocks(self) -> list[Block]:
        """Tables for a notebook."""
        raise NotImplementedError

    @cached_property
    def summary(self) -> list[Row]:
        """Means with their intervals."""
        raise NotImplementedError

    @cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(row["method"] for row in self.rows))

    @cached_property
    def method_styles(self) -> dict[str, MethodStyle]:
        return method_styles(self.methods, None)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that changes a number."""
        return {
            "model": shareable(self.model.name),
            "model fingerprint": self.model.fingerprint,
            "data": shareable(self.data.name),
            "data fingerprint": self.data.fingerprint,
            "study": str(Spec.of(self.study)),
            "revision": self.study.revision,
        }

    def to_dict(self) -> Row:
        """Plain JSON; only `provenance` differs between two runs of the same study."""
        content: Row = plain(
            {
                "settings": self.settings,
                **({} if self.preset is None else {"preset": self.preset.to_dict()}),
                "notes": list(self.data.notes),
                "summary": self.summary,
                "rows": self.rows,
                "provenance": versions(),
            }
        )
        return content
