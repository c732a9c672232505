"""Verdicts in words: one sentence per metric, and one across metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.statistics.power import SMALL

if TYPE_CHECKING:
    from assay.statistics.verdict import Comparison, Standing

MAX_LISTED = 5  # longer lists of methods are given as a number


def verdict(c: Comparison, metric: str) -> str:
    """The best methods, how the methods compare with random, and what n examples cannot show."""
    head = f"{metric} ({c.better} is better, n = {c.n}): "
    return " ".join(part for part in (head + _lead(c), _against_control(c), power_note(c)) if part)


def power_note(c: Comparison) -> str:
    """A warning below 30 examples, and the detectable difference if some comparison is not significant."""
    undecided = any(s.beats_random is False and not s.worse_than_random for s in c.standings)
    left_open = undecided or any(s.best_group for s in c.standings[1:])
    notes = [f"Caution: n = {c.n} is small, so intervals are too narrow."] if c.n < SMALL else []
    if c.detectable == math.inf:
        notes.append("No difference can be significant with so few examples.")
    elif c.detectable and (left_open or c.n < SMALL):
        notes.append(f"Mean differences below about {number(c.detectable)} may have been missed (80 % power).")
    return " ".join(notes)


def overall(comparisons: Mapping[str, Comparison]) -> str:
    """Across metrics: which methods are most often in the best group, and which never beat random.

    A count over the metrics on which the methods differ, not a test. Weakness: metrics of one family tend to agree, so
    they are not independent evidence.
    """
    if not comparisons:
        return "No metric was computed."
    per_metric = list(comparisons.values())
    several = len({s.method for c in per_metric for s in _methods(c)}) > 1
    parts = (_most_often(per_metric) if several else "", _against_control_overall(per_metric))
    return " ".join(part for part in parts if part)


def number(value: float) -> str:
    """Three significant digits, without an exponent where possible."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def listed(names: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lead(c: Comparison) -> str:
    """The best method and the methods not significantly different from it."""
    best, methods = c.best, _methods(c)
    tied = [s.method for s in c.standings[1:] if s.best_group]
    if len(c.standings) == 1:
        return f"{best.method} has {_shown(best)}; no other method to compare with."
    if len(tied) == len(c.standings) - 1:
        return f"no significant difference between {_everyone(c)}."
    if best.method == c.control:
        rest = f"; {_not_different(tied)} from it." if tied else "."
        return f"no method beats {best.method}, which has the best mean, {_shown(best)}{rest}"
    if len(methods) == 1:
        return f"{best.method} beats {c.control}: {_shown(best)} versus {_shown(c.standings[1])}."
    if all(s.best_group for s in methods):
        return (
            f"no significant difference between the {_many(methods)}; {best.method} has the best mean, {_shown(best)}."
        )
    if not tied:
        return f"{best.method} is best with {_shown(best)}."
    return f"{best.method} has the best mean, {_shown(best)}; {_not_different(tied)} from it."


def _against_control(c: Comparison) -> str:
    """Which methods beat the control, which do not, which are worse; empty if the first sentence says it."""
    methods, control = _methods(c), c.control
    redundant = len(methods) < 2 and c.best.method != control
    if control is None or redundant or all(s.best_group for s in c.standings):
        return ""
    beating = [s.method for s in methods if s.beats_random]
    worse = [s.method for s in methods if s.worse_than_random]
    undecided = [s for s in methods if s.method not in beating + worse]
    between = [s.method for s in undecided if s.best_group and not c[control].best_group]
    not_better = [s.method for s in undecided if s.method not in between]
    parts = [] if c.best.method == control else [_beating(beating, methods, f"{control} ({number(c[control].value)})")]
    if beating and not_better:
        parts.append(f"{listed(not_better)} {_is(not_better)} not significantly better than {control}")
    if between:
        parts.append(f"{_not_different(between)} from the best or from {control}")
    if worse:
        parts.append(f"{listed(worse)} {_is(worse)} significantly worse than {control}")
    return "; ".join(parts) + "."


def _not_different(names: Sequence[str]) -> str:
    return f"{listed(names)} {_is(names)} not significantly different"


def _beating(beating: Sequence[str], methods: Sequence[Standing], control: str) -> str:
    if not beating:
        return f"No method beats {control}"
    if len(beating) == len(methods):
        return f"All {_many(methods)} beat {control}" if len(methods) > 2 else f"Both methods beat {control}"
    return f"{listed(beating)} {_beat(beating)} {control}"


def _most_often(comparisons: Sequence[Comparison]) -> str:
    decided = [c for c in comparisons if _decided(c)]
    total, some = len(comparisons), len(decided)
    if not decided:
        where = "the only metric" if total == 1 else f"any of the {total} metrics"
        return f"No method stands out on {where}."
    counts = Counter(s.method for c in decided for s in _methods(c) if s.best_group)
    first, second = ([*_by_count(counts), (0, [])])[:2]
    if total == 1:
        return f"The best group on the only metric is {listed(first[1])}."
    top = f"{listed(first[1])} {_is(first[1])} most often in the best group ({first[0]} of {some}{_each(first[1])})"
    then = f", followed by {listed(second[1])} ({second[0]}{_each(second[1])})" if second[1] else ""
    return f"The methods differ on {_metrics(some, total)}; on these, {top}{then}."


def _by_count(counts: Counter[str]) -> list[tuple[int, list[str]]]:
    """Names grouped by count, highest count first."""
    return [(n, [m for m in counts if counts[m] == n]) for n in sorted(set(counts.values()), reverse=True)]


def _against_control_overall(comparisons: Sequence[Comparison]) -> str:
    beats: dict[str, list[bool]] = {}
    for s in (s for c in comparisons for s in c.standings if s.beats_random is not None):
        beats.setdefault(s.method, []).append(bool(s.beats_random))
    control = next((c.control for c in comparisons if c.control), None)
    never = [method for method in beats if not any(beats[method])]
    if not beats:
        return ""
    if len(beats) == 1:
        method, each = next(iter(beats.items()))
        if never:
            return f"{method} does not beat {control} on any metric."
        return f"{method} beats {control} on {_metrics(sum(each), len(each))}."
    if len(never) == len(beats):
        return f"No method beats {control} on any metric."
    if never:
        return f"{listed(never)} never {_beat(never)} {control}."
    every = all(all(each) for each in beats.values())
    return f"Every method beats {control} on {'every' if every else 'at least one'} metric."


def _decided(c: Comparison) -> bool:
    """Whether the best method beats the control and at least one other method."""
    beaten = c.control is None or not c[c.control].best_group
    return beaten and any(not s.best_group for s in _methods(c))


def _methods(c: Comparison) -> list[Standing]:
    return [s for s in c.standings if s.method != c.control]


def _everyone(c: Comparison) -> str:
    names = [s.method for s in c.standings if s.method != c.control]
    if len(names) > MAX_LISTED:
        names = [f"the {len(names)} methods"]
    return listed([*names, c.control] if c.control else names)


def _many(methods: Sequence[Standing]) -> str:
    return "two methods" if len(methods) == 2 else f"{len(methods)} methods"


def _shown(s: Standing) -> str:
    """Value and interval, with as many decimals as the width of the interval justifies."""
    width = s.high - s.low
    if not width > 0:
        return f"{number(s.value)} (interval unknown)" if math.isnan(width) else f"{number(s.value)} on every example"
    digits = min(9, max(0, 2 - math.floor(math.log10(width))))
    return f"{s.value:.{digits}f} [{s.low:.{digits}f}, {s.high:.{digits}f}]"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _each(names: Sequence[str]) -> str:
    return "" if len(names) == 1 else " each"


def _beat(names: Sequence[str]) -> str:
    return "beats" if len(names) == 1 else "beat"


def _metrics(some: int, total: int) -> str:
    """How many of the metrics; `some` is at least 1."""
    if total == 1:
        return "the only metric"
    if some == total:
        return "both metrics" if total == 2 else f"all {total} metrics"
    return f"{some} of {total} metrics"
