"""The section on measurable models, which need no retraining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from .evidence import LSTM, Areas, Evidence
from .tables import percent, table
from .texts import MASF


def measurable_section(e: Evidence) -> Iterator[str]:
    """A measurable model beside Recursive ROAR on SST: areas, order, in-distribution check, cost."""
    measurable, recursive = (e.areas.get((("SST", LSTM), study), {}) for study in ("measurable", "recursive"))
    if not measurable:
        yield "Not run yet.\n"
        return
    part = e.curves[("SST", LSTM), "measurable"]
    rows = []
    for m, f in measurable.items():
        n = str(len(f.seeds))
        cell = percent(recursive[m].value, recursive[m].both.low, recursive[m].both.high) if m in recursive else "–"
        shares = [f"{100 * part.outside[m][i]:.0f}" for i in (0, len(part.ratios) // 2, -1)]
        rows.append([m, percent(f.value, f.both.low, f.both.high), n, cell, " / ".join(shares)])
    yield table(
        ("measure", "measurable model", "seeds", "Recursive ROAR", "unknown inputs % at 0 / 50 / 100 % (MaSF)"), rows
    )
    both = [m for m in measurable if m in recursive]
    if len(both) > 1:
        orders = [" > ".join(sorted(both, key=lambda m: -areas[m].value)) for areas in (measurable, recursive)]
        yield f"Order: {orders[0]} with the measurable model; {orders[1]} with Recursive ROAR.\n"
        yield _agreement(e, measurable, recursive, both)
    yield MASF
    other = e.curves.get((("SST", LSTM), "recursive"))
    if other is not None:
        rankings = {m: 1 if m == "random" else other.steps for m in other.seconds}
        recursive_seconds = [
            rankings[m] * s.get("explain", 0) + other.steps * s.get("train", 0) for m, s in other.seconds.items()
        ]
        recursive_cost = sum(recursive_seconds) / 60
        seconds = [s for m, s in part.seconds.items() if m != "occlusion"]
        cost = (sum(s.get("explain", 0) for s in seconds) + sum(s.get("train", 0) for s in seconds)) / 60
        yield f"Cost per seed: {cost:.0f} min (without occlusion), Recursive ROAR {recursive_cost:.0f} min.\n"


def _agreement(e: Evidence, measurable: Areas, recursive: Areas, measures: Sequence[str]) -> str:
    """On how many pairs of measures that both approaches decide they agree."""
    alone = Evidence({}, {(("SST", LSTM), "recursive"): measurable})  # training with masks has its own variance
    orders = {
        (a, b): [alone.ordered(measurable[a], measurable[b]), e.ordered(recursive[a], recursive[b])]
        for a, b in combinations(measures, 2)
    }
    decided = {pair: both for pair, both in orders.items() if None not in both}
    reversed_pairs = [f"{a} and {b}" for (a, b), (first, second) in decided.items() if first != second]
    counts = [sum(both[i] is not None for both in orders.values()) for i in (0, 1)]
    return (
        f"Of {len(orders)} pairs of measures, {counts[0]} differ significantly with the measurable model and\n"
        f"{counts[1]} with Recursive ROAR; {len(decided)} with both, "
        f"{len(decided) - len(reversed_pairs)} of them in the same order"
        + (f". The order of {', '.join(reversed_pairs)} is reversed.\n" if reversed_pairs else ".\n")
    )
