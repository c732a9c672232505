"""What the pages of all studies share: facts and warnings above the sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.names import shareable
from assay.datasets.dataset import Dataset
from assay.experiments.preset import PresetUse
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
    return Fact("data", shareable(data.name) or "unnamed", f"{_examples(len(data))}{split}{read}")


def study_facts(model: Model, data: Dataset, more: Sequence[Fact], preset: PresetUse | None = None) -> list[Fact]:
    """Model and data, then the facts of the study."""
    first = [Fact("model", model.title, f"{model.family.name}, {model.n_blocks} blocks"), data_fact(data)]
    return [*first, *more, *preset_fact(preset)]


def preset_fact(preset: PresetUse | None) -> list[Fact]:
    """The preset, and whether it was used as it is."""
    if preset is None:
        return []
    changed, left = len(preset.changes), len(preset.left_out)
    words = [f"{changed} changed"] * bool(changed) + [f"{left} left out"] * bool(left)
    return [Fact("preset", preset.name, ", ".join(words) or "nothing changed")]


def study_warnings(data: Dataset, preset: PresetUse | None = None) -> list[str]:
    """Warnings: what a preset leaves out, too few examples, and what may have been misread."""
    return [*(preset.warnings if preset else ()), *few_examples(len(data)), *data.notes]


def few_examples(counts: int | Mapping[str, int]) -> list[str]:
    """A warning if there are too few examples for reliable intervals; given counts by metric, it names the metrics."""
    by_name = counts if isinstance(counts, Mapping) else {"": counts}
    few = {name: n for name, n in by_name.items() if n < SMALL}
    if not few:
        return []
    shared = len(few) == len(by_name) and len(set(few.values())) == 1
    n = next(iter(few.values()))
    words = _examples(n) if shared else ", ".join(f"{_examples(n)} for {name}" for name, n in few.items())
    return [
        f"Only {words}. With fewer than {SMALL}, intervals are too narrow and real differences are easily missed."
        if max(few.values()) > 1
        else f"Only {words}: there is no interval and no test."
    ]


def _examples(n: int) -> str:
    return f"{n} example{'s' * (n != 1)}"
