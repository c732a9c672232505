"""The tables of simulability for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from assay.evaluation.simulability.verdict import Judged
from assay.studies.simulate.result import Simulated, Students, gain_words
from assay.studies.simulate.scaffold import OWN
from assay.studies.simulate.study import NONE


def tables(result: Simulated) -> Iterator[Table | Text]:
    """One table per teacher and number of texts, then the verdict and the remarks."""
    for group in result.students:
        for size, judged in group.judged.items():
            yield Text(f"\n{group.title}: {size:,} {group.inputs} for each student", style="bold")
            yield _table(group, judged)
        for sentence in (*group.sentences(), *group.remarks):
            yield Text(sentence)


def _table(group: Students, judged: Mapping[str, Judged]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("explanation", overflow="fold", min_width=min(25, max(map(len, group.methods))))
    score = f"{group.score} x 100" if group.task == "regression" else f"{group.score}, %"
    for name in (score, "median", "quartiles", "over none", "over shuffled"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for method in group.methods:
        if method in judged:
            found = judged[method]
            low, high = (f"{100 * value:.1f}" for value in found.quartiles)
            gains = [gain_cells(found, control)[0] for control in (NONE, group.controls.get(method))]
            numbers = [f"{100 * found.mean.value:.1f}", f"{100 * found.median:.1f}", f"{low}:{high}", *gains]
            table.add_row(
                method,
                *map(Text, numbers),
                found.verdict or ("no shuffled control" if method.endswith(OWN) else "control"),
            )
    return table


def gain_cells(judged: Judged, control: str | None) -> tuple[str, str]:
    """The gain over a control with its interval, and its p-value."""
    gain = None if control is None else judged.gains.get(control)
    return ("", "") if gain is None else (gain_words(gain), f"{gain.p:.3f}")
