"""The tables of ROAR for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from assay.evaluation.roar.verdict import Faithfulness
from assay.reports.method_style import short_names
from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import MEASURABLE, Curves
from assay.studies.roar.page import RoarPage, below, between, outside, percent, remarks
from assay.studies.roar.study import RANDOM


def tables(result: RoarPage) -> Iterator[Table | Text]:
    """The tables and remarks of every study with a finished method."""
    for curves, areas in zip(result.curves, result.judged, strict=True):
        if areas:
            yield from _study(curves, areas)


def _study(curves: Curves, areas: Mapping[str, Faithfulness]) -> Iterator[Table | Text]:
    names = short_names([RANDOM, *areas])
    seeds = max(len(area.seeds) for area in areas.values())
    yield Text(f"\n{curves.form}, {seeds} seed{'s' * (seeds != 1)}, {len(curves.gold)} test examples", style="bold")
    yield _areas(areas, names)
    if differences := curves.behind(areas):
        yield _differences(differences, names)
    yield _seconds(curves, names)
    if curves.outside:
        yield _unknown(curves, names)
    for remark in (*remarks(areas), *outside(curves)):
        yield Text(remark, style="yellow" if "leakage" in remark or "MaSF" in remark else "")


def _areas(areas: Mapping[str, Faithfulness], names: Mapping[str, str]) -> Table:
    """Areas in per cent with three confidence intervals."""
    table = _table("method", "area", "seeds and texts", "seeds, BCa", "seeds, t")
    table.add_column("verdict", overflow="fold")
    for method, area in areas.items():
        intervals = (Text(between(interval)) for interval in (area.both, area.bca, area.t))
        table.add_row(names[method], percent(area.value), *intervals, Text(area.verdict, style="bold"))
    return table


def _differences(differences: Mapping[str, Interval], names: Mapping[str, str]) -> Table:
    """How far each area is below the largest."""
    table = _table("below the best", "points, seeds and texts")
    for method, difference in differences.items():
        table.add_row(names[method], Text(below(difference)))
    return table


def _seconds(curves: Curves, names: Mapping[str, str]) -> Table:
    table = _table("seconds" if curves.form == MEASURABLE else "seconds per step", "explain", "train")
    for method, seconds in curves.seconds.items():
        table.add_row(names.get(method, method), *(f"{seconds.get(name, 0):.1f}" for name in ("explain", "train")))
    return table


def _unknown(curves: Curves, names: Mapping[str, str]) -> Table:
    """Inputs in per cent that are out of distribution for a measurable model."""
    table = _table("unknown (MaSF), masked:", *(f"{at:g} %" for at in curves.axis))
    for method, shares in curves.outside.items():
        table.add_row(names.get(method, method), *(f"{100 * share:.0f}" for share in shares))
    return table


def _table(first: str, *others: str) -> Table:
    """Names on the left, numbers on the right, no lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold", no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table
