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
    if c.unranked:
        return f"{head}{_means(c)}; not ranked."
    return " ".join(part for part in (head + _lead(c), _against_control(c), power_note(c)) if part)


def power_note(c: Comparison) -> str:
    """A warning below 30 examples, and the detectable difference if some comparison is not significant."""
    undecided = any(s.beats_random is False and not s.worse_than_random for s in c.standings)
    left_open = undecided or any(s.best_group for s in c.standings[1:])
    width = "too narrow" if c.n > 1 else "unknown"
    notes = [f"Caution: n = {c.n} is small, so intervals are {width}."] if c.n < SMALL else []
    if c.detectable == math.inf:
        notes += _too_few(c)
    elif c.detectable and c.detectable > c.margin and (left_open or c.n < SMALL):
        notes.append(f"Mean differences below about {number(c.detectable)} may have been missed (80 % power).")
    return " ".join(notes)


def _too_few(c: Comparison) -> list[str]:
    """What cannot be significant; to beat the control is tested on one side and needs fewer examples than the rest."""
    if _may_beat(c) and len(c.methods) == 1:
        return []
    return [f"No difference {'between methods ' if _may_beat(c) else ''}can be significant with so few examples."]


def _may_beat(c: Comparison) -> bool:
    """Whether n examples can show that a method beats the control: the smallest p-value is 1 / 2^n."""
    return c.control is not None and 2.0**-c.n * len(c.methods) <= c.alpha


def overall(comparisons: Mapping[str, Comparison]) -> str:
    """Across metrics: which methods are most often in the best group, and which never beat random.

    A count over the metrics on which the methods differ, not a test. Weakness: metrics of one family tend to agree, so
    they are not independent evidence.
    """
    if not comparisons:
        return "No metric was computed."
    per_metric = list(comparisons.values())
    reason, small = per_metric[0].unranked, _too_small(per_metric)
    if reason and small:
        return f"{reason}, and {small}: nothing here is worth acting on."
    if reason:
        return f"{reason}, so no method is called best: explanations of such a model say little about the methods."
    if small:
        return f"{small[0].upper()}{small[1:]}: nothing here is worth acting on."
    names = {s.method for c in per_metric for s in c.methods}
    if not names:
        return f"{per_metric[0].control} is only a control; add methods to compare with it."
    if len(names) == 1 and per_metric[0].control is None:
        return f"{names.pop()} is the only method; add others, and random as a control, to know how good it is."
    if all(c.detectable == math.inf and not _may_beat(c) for c in per_metric):
        return "With so few examples no difference can be significant: nothing is known about the methods."
    parts = (_most_often(per_metric) if len(names) > 1 else "", _against_control_overall(per_metric))
    return " ".join(part for part in parts if part)


def _too_small(comparisons: Sequence[Comparison]) -> str:
    """That no difference on any metric is large enough to matter; empty if one is."""
    if any(c.matters for c in comparisons):
        return ""
    margins = {c.margin for c in comparisons}
    size = f"by less than {number(margins.pop())}" if len(margins) == 1 else "too little to matter"
    who = "methods" if comparisons[0].control is None else f"methods and {comparisons[0].control}"
    return f"the means of {who} differ {size}{'' if len(comparisons) == 1 else ' on every metric'}"


def number(value: float) -> str:
    """Three significant digits, without an exponent where possible."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"  # .3g rounds 999.5 up to 1e+03


def listed(names: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lead(c: Comparison) -> str:
    """The best method and the methods not significantly different from it."""
    best, methods = c.best, c.methods
    tied = [s.method for s in c.standings[1:] if s.best_group]
    if len(c.standings) == 1:
        return f"{best.method} has {_shown(best)}; no other method to compare with."
    if not c.matters:
        return f"{_means(c)}: differences below {number(c.margin)} do not matter."
    if len(tied) == len(c.standings) - 1:
        return f"no {_clear(c)} difference between {_everyone(c)}."
    if best.method == c.control and len(methods) > 1 and all(s.worse_than_random for s in methods):
        everyone = "both methods" if len(methods) == 2 else f"all {len(methods)} methods"
        return f"{best.method} beats {everyone}: {_shown(best)} versus {_shown(methods[0])} at best."
    if best.method == c.control:
        rest = f"; {_not_different(c, tied)} from it." if tied else "."
        return f"no method beats {best.method}, which has the best mean, {_shown(best)}{rest}"
    if len(methods) == 1:
        return f"{best.method} beats {c.control}: {_shown(best)} versus {_shown(c.standings[1])}."
    if all(s.best_group for s in methods):
        return (
            f"no {_clear(c)} difference between the {_many(methods)}; {best.method} has the best mean, {_shown(best)}."
        )
    if not tied:
        return f"{best.method} is best with {_shown(best)}."
    return f"{best.method} has the best mean, {_shown(best)}; {_not_different(c, tied)} from it."


def _against_control(c: Comparison) -> str:
    """Which methods beat the control, which do not, which are worse; empty if the first sentence says it."""
    methods, control = c.methods, c.control
    redundant = len(methods) < 2 and c.best.method != control
    beaten = c.best.method == control and len(methods) > 1 and all(s.worse_than_random for s in methods)
    if control is None or redundant or beaten or all(s.best_group for s in c.standings):
        return ""
    beating = [s.method for s in methods if s.beats_random]
    worse = [s.method for s in methods if s.worse_than_random]
    undecided = [s for s in methods if s.method not in beating + worse]
    between = [s.method for s in undecided if s.best_group and not c[control].best_group]
    not_better = [s.method for s in undecided if s.method not in between]
    parts = [] if c.best.method == control else [_beating(beating, methods, f"{control} ({number(c[control].value)})")]
    if beating and not_better:
        parts.append(f"{listed(not_better)} {_is(not_better)} not {_clearly(c)} better than {control}")
    if between:
        parts.append(f"{_not_different(c, between)} from the best or from {control}")
    if worse:
        parts.append(f"{listed(worse)} {_is(worse)} {_clearly(c)} worse than {control}")
    return "; ".join(parts) + "."


def _not_different(c: Comparison, names: Sequence[str]) -> str:
    return f"{listed(names)} {_is(names)} not {_clearly(c)} different"


def _clear(c: Comparison) -> str:
    """Clear: significant and at least as large as the margin."""
    return "clear" if c.margin else "significant"


def _clearly(c: Comparison) -> str:
    return "clearly" if c.margin else "significantly"


def _means(c: Comparison) -> str:
    first, last = c.standings[0], c.standings[-1]
    if first is last:
        return f"{first.method} has {_shown(first)}"
    return f"means from {number(first.value)} ({first.method}) to {number(last.value)} ({last.method})"


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
        where = {1: "the only metric", 2: "either metric"}.get(total, f"any of the {total} metrics")
        return f"No method stands out on {where}."
    counts = Counter(s.method for c in decided for s in c.methods if s.best_group)
    first, second = ([*_by_count(counts), (0, [])])[:2]
    if total == 1:
        return f"The best group on the only metric is {listed(first[1])}."
    if some == 1:
        return f"The methods differ on 1 of {total} metrics; the best group there is {listed(first[1])}."
    if first[0] == 1:
        return (
            f"The methods differ on {_metrics(some, total)}, but none is in the best group twice; "
            f"{listed(first[1])} are in it once each."
        )
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
        if _all_worse(comparisons):
            return f"{control} beats {method} on {_metrics(len(each), len(each))}."
        if never:
            return f"{method} does not beat {control} on any metric."
        return f"{method} beats {control} on {_metrics(sum(each), len(each))}."
    if len(never) == len(beats) and _all_worse(comparisons):
        return f"{control} beats every method on {_metrics(len(comparisons), len(comparisons))}."
    if len(never) == len(beats):
        return f"No method beats {control} on any metric."
    if never:
        return f"{listed(never)} never {_beat(never)} {control}."
    every = all(all(each) for each in beats.values())
    return f"Every method beats {control} on {'every' if every else 'at least one'} metric."


def _all_worse(comparisons: Sequence[Comparison]) -> bool:
    return all(s.worse_than_random for c in comparisons for s in c.methods)


def _decided(c: Comparison) -> bool:
    """Whether the best method beats the control and at least one other method."""
    beaten = c.control is None or not c[c.control].best_group
    return beaten and any(not s.best_group for s in c.methods)


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
