"""Verdicts in plain words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.statistics.power import SMALL

if TYPE_CHECKING:
    from assay.statistics.verdict import Comparison, Standing

LISTED = 5  # more names than this that all share one fate become a number


def verdict(c: Comparison, metric: str) -> str:
    """Who wins, who ties, who is no better than random, and what n examples cannot tell."""
    head = f"{metric} ({c.better} is better, n = {c.n}): "
    return " ".join(part for part in (head + _lead(c), _against_control(c), power_note(c)) if part)


def power_note(c: Comparison) -> str:
    """A warning below 30 examples, and the difference that may have been missed wherever something is left open."""
    undecided = any(s.beats_random is False and not s.worse_than_random for s in c.standings)
    left_open = undecided or any(s.best_group for s in c.standings[1:])
    notes = [f"Careful: n = {c.n} is small, and intervals from so few examples are too narrow."] if c.n < SMALL else []
    if c.detectable == math.inf:
        notes.append("No difference, however large, could be shown with so few.")
    elif c.detectable and (left_open or c.n < SMALL):
        notes.append(f"Mean differences below about {number(c.detectable)} may well have been missed (80 % power).")
    return " ".join(notes)


def overall(comparisons: Mapping[str, Comparison]) -> str:
    """Across metrics: who is in the best group most often, and who never beats random.

    Counted, not tested, and only over metrics on which the methods differ. Weakness: metrics of one family tend to
    agree, so three of them are not three witnesses.
    """
    if not comparisons:
        return "Nothing was measured."
    found = list(comparisons.values())
    several = len({s.method for c in found for s in _methods(c)}) > 1
    return " ".join(part for part in (_most_often(found) if several else "", _never_beats(found)) if part)


def number(value: float) -> str:
    """Three significant digits, never in powers of ten where plain digits will do."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def listed(names: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lead(c: Comparison) -> str:
    """The best and who ties with it; "no difference" where that is everyone."""
    best, methods = c.best, _methods(c)
    tied = [s.method for s in c.standings[1:] if s.best_group]
    if len(c.standings) == 1:
        return f"{best.method} has {_shown(best)}; there is nothing to compare it with."
    if len(tied) == len(c.standings) - 1:
        return f"no difference: {_everyone(c)} cannot be told apart."
    if best.method == c.control:
        rest = f"; {listed(tied)} cannot be told from it." if tied else "."
        return f"no method beats {best.method}, which has the best mean, {_shown(best)}{rest}"
    if len(methods) == 1:
        return f"{best.method} beats {c.control}, {_shown(best)} against {_shown(c.standings[1])}."
    if all(s.best_group for s in methods):
        return f"no difference between the {_many(methods)}; the best mean is {best.method}'s, {_shown(best)}."
    if not tied:
        return f"{best.method} wins with {_shown(best)}."
    return f"{best.method} has the best mean, {_shown(best)}; {listed(tied)} cannot be told from it."


def _against_control(c: Comparison) -> str:
    """Who beats the control, who is no better, who is worse; nothing where the lead has said it all."""
    methods, control = _methods(c), c.control
    said = len(methods) < 2 and c.best.method != control
    if control is None or said or all(s.best_group for s in c.standings):
        return ""
    beating = [s.method for s in methods if s.beats_random]
    worse = [s.method for s in methods if s.worse_than_random]
    alike = [s for s in methods if s.method not in beating + worse]
    noisy = [s.method for s in alike if s.best_group and not c[control].best_group]
    level = [s.method for s in alike if s.method not in noisy]
    parts = [] if c.best.method == control else [_beating(beating, methods, f"{control} ({number(c[control].value)})")]
    if beating and level:
        parts.append(f"{listed(level)} {_is(level)} no better than {control}")
    if noisy:
        parts.append(f"{listed(noisy)} can be told neither from the best nor from {control}")
    if worse:
        parts.append(f"{listed(worse)} {_is(worse)} worse than {control}")
    return "; ".join(parts) + "."


def _beating(beating: Sequence[str], methods: Sequence[Standing], against: str) -> str:
    if not beating:
        return f"No method beats {against}"
    if len(beating) == len(methods):
        return f"All {_many(methods)} beat {against}" if len(methods) > 2 else f"Both methods beat {against}"
    return f"{listed(beating)} {_beat(beating)} {against}"


def _most_often(comparisons: Sequence[Comparison]) -> str:
    decided = [c for c in comparisons if _decided(c)]
    total, some = len(comparisons), len(decided)
    if not decided:
        where = "the one metric" if total == 1 else f"any of the {total} metrics"
        return f"No difference: no method stands out on {where}."
    counts = Counter(s.method for c in decided for s in _methods(c) if s.best_group)
    first, second = ([*_by_count(counts), (0, [])])[:2]
    if total == 1:
        return f"On the one metric the best group is {listed(first[1])}."
    top = f"{listed(first[1])} {_is(first[1])} in the best group most often ({first[0]} of {some}{_each(first[1])})"
    then = f", then {listed(second[1])} ({second[0]}{_each(second[1])})" if second[1] else ""
    return f"The methods differ on {_metrics(some, total)}; there {top}{then}."


def _by_count(counts: Counter[str]) -> list[tuple[int, list[str]]]:
    """Names of equal count together, the highest count first."""
    return [(n, [m for m in counts if counts[m] == n]) for n in sorted(set(counts.values()), reverse=True)]


def _never_beats(comparisons: Sequence[Comparison]) -> str:
    beats: dict[str, list[bool]] = {}
    for s in (s for c in comparisons for s in c.standings if s.beats_random is not None):
        beats.setdefault(s.method, []).append(bool(s.beats_random))
    control = next((c.control for c in comparisons if c.control), None)
    never = [method for method in beats if not any(beats[method])]
    if not beats:
        return ""
    if len(beats) == 1:
        method, each = next(iter(beats.items()))
        return f"{method} beats {control} on {_metrics(sum(each), len(each))}."
    if len(never) == len(beats):
        return f"No method beats {control} on any metric."
    if never:
        return f"{listed(never)} never {_beat(never)} {control}."
    every = all(all(each) for each in beats.values())
    return f"Every method beats {control} on {'every' if every else 'some'} metric."


def _decided(c: Comparison) -> bool:
    """Some method is behind the best one, and the best one beats the control."""
    beaten = c.control is None or not c[c.control].best_group
    return beaten and any(not s.best_group for s in _methods(c))


def _methods(c: Comparison) -> list[Standing]:
    return [s for s in c.standings if s.method != c.control]


def _everyone(c: Comparison) -> str:
    names = [s.method for s in c.standings if s.method != c.control]
    if len(names) > LISTED:
        names = [f"the {len(names)} methods"]
    return listed([*names, c.control] if c.control else names)


def _many(methods: Sequence[Standing]) -> str:
    return "two methods" if len(methods) == 2 else f"{len(methods)} methods"


def _shown(s: Standing) -> str:
    """Value and interval, with the decimals that the interval's width deserves."""
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
    """How many of the metrics, in words where they are few."""
    if total == 1:
        return "the one metric" if some else "no metric"
    if some in (0, total):
        return "no metric" if not some else "both metrics" if total == 2 else f"all {total} metrics"
    return f"{some} of {total} metrics"
