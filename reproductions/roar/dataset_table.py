"""The size of each data set and the length of its texts (Tables 1 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from assay.experiments.plan import Plan
from assay.experiments.store import Store
from assay.studies.roar.tasks import RankTask, RoarData

from .plans import HERE, load_plan
from .published import SIZES

SPECIAL = 2  # [CLS] and [EOS], which the paper counts
NOTE = """Length: mean number of words in a test text plus two special tokens, as in the paper. For SNLI this is the
premise and for bAbI the story, because only these are masked.
"""


def dataset_table(store: Store, tasks: Mapping[tuple[str, str], tuple[str, str, str]], folder: Path = HERE) -> str:
    """A Markdown table. `tasks` maps (data, model) to the plan, the grid and the name of the data in the plan."""
    plans = {name: load_plan(folder / name, store) for name in dict.fromkeys(plan for plan, _, _ in tasks.values())}
    rows = ["| data | model | training / validation / test | paper | length | paper |", "|---|---|---|---|---|---|"]
    for (data, model), (plan, grid, name) in tasks.items():
        source = _source(plans[plan], grid, name)
        if source is not None:
            splits = source.load()
            counts = " / ".join(f"{len(split):,}" for split in splits.values())
            length = np.mean([len(example.text.split()) for example in splits["test"] if example.text]) + SPECIAL
            published = SIZES.get(data, ("", 0))
            published_counts = " / ".join(f"{int(n):,}" for n in published[0].split("/") if n)
            rows.append(f"| {data} | {model} | {counts} | {published_counts} | {length:.1f} | {published[1]} |")
    return "\n".join([*rows, "", NOTE])


def _source(plan: Plan, grid: str, name: str) -> RoarData | None:
    """The splits used by the first ranking job of a model on a data set."""
    for cell in plan.cells:
        if (cell.model.grid, dict(cell.model.tags)["trained_on"]) == (grid, name):
            ranks = [job.task for job in cell.jobs if isinstance(job.task, RankTask)]
            if ranks:
                return ranks[0].source
    return None
