"""What the pages of all studies share: facts and warnings above the sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.datasets.dataset import Dataset
from assay.models.model import Model
from assay.statistics.power import SMALL


@dataclass(frozen=True)
class Fact:
    """One box of the row of facts on top of a page."""

    name: str
    value: str
    detail: str = ""


def data_fact(data: Dataset) -> Fact:
    split = f", {data.split}" if data.split else ""
    columns = [data.roles[role] for role in ("text", "text_pair", "label", "score") if role in data.roles]
    read = f"; columns: {', '.join(columns)}" if columns else ""
    return Fact("data", data.name or "unnamed", f"{len(data)} examples{split}{read}")


def study_facts(model: Model, data: Dataset, more: Sequence[Fact]) -> list[Fact]:
    """Model and data, then the facts of the study."""
    return [Fact("model", model.title, f"{model.family.name}, {model.n_blocks} blocks"), data_fact(data), *more]


def data_warnings(data: Dataset) -> list[str]:
    """Warnings about the data: too few examples, and what may have been misread."""
    return [*few_examples(len(data)), *data.notes]


def few_examples(n: int) -> list[str]:
    """A warning if there are too few examples for reliable intervals."""
    if n >= SMALL:
        return []
    return [
        f"Only {n} example{'s' * (n != 1)}. With fewer than {SMALL}, intervals are too narrow and real differences "
        "are easily missed."
    ]
