"""How much data each task has, and how long its texts are (Tables 1 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from files import HERE, planned
from published import SIZES

from assay.experiments.plan import Plan
from assay.experiments.store import Store
from assay.studies.roar.tasks import Rank, Source

SPECIAL = 2  # [CLS] and [EOS], which the paper counts
NOTE = """Length: mean words of the test texts and two special tokens, as the paper counts; of SNLI the premise, of bAbI
the story, which are what is masked.
"""


def described(store: Store, tasks: Mapping[tuple[str, str], tuple[str, str, str]], folder: Path = HERE) -> str:
    """A table of what there is of (data, model): plan, grid and name of the data in the plan."""
    plans = {name: planned(folder / name, store) for name in dict.fromkeys(plan for plan, _, _ in tasks.values())}
    rows = ["| data | model | training / validation / test | paper | length | paper |", "|---|---|---|---|---|---|"]
    for (data, model), (plan, grid, name) in tasks.items():
        source = _source(plans[plan], grid, name)
        if source is not None:
            parts = source.load()
            counts = " / ".join(f"{len(part):,}" for part in parts.values())
            length = np.mean([len(example.text.split()) for example in parts["test"] if example.text]) + SPECIAL
            paper = SIZES.get(data, ("", 0))
            theirs = " / ".join(f"{int(n):,}" for n in paper[0].split("/") if n)
            rows.append(f"| {data} | {model} | {counts} | {theirs} | {length:.1f} | {paper[1]} |")
    return "\n".join([*rows, "", NOTE])


def _source(plan: Plan, grid: str, name: str) -> Source | None:
    """The splits of the first ranking of a model on some data."""
    for cell in plan.cells:
        if (cell.model.grid, dict(cell.model.about)["trained_on"]) == (grid, name):
            ranks = [job.kind for job in cell.jobs if isinstance(job.kind, Rank)]
            if ranks:
                return ranks[0].source
    return None
