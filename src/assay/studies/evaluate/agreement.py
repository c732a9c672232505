"""Agreement of methods: the mean rank correlation of every pair, as a table that is also a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from assay.reports.method_style import MethodStyle
from assay.reports.symbols import format_interval
from assay.statistics.bootstrap import Interval, intervals


@dataclass(frozen=True)
class AgreementCell:
    """The correlation of two methods."""

    text: str
    title: str
    colour: str  # name of a CSS variable: `like`, or `for` if negative
    opacity: str


@dataclass(frozen=True)
class Extreme:
    """The pair of methods that agrees most or least."""

    first: MethodStyle
    second: MethodStyle
    text: str


@dataclass(frozen=True)
class Agreement:
    rows: Sequence[tuple[MethodStyle, Sequence[AgreementCell | None]]]  # None: the method itself
    closest: Extreme | None
    furthest: Extreme | None


def agreement(
    correlations: Mapping[str, Sequence[float]], styles: Mapping[str, MethodStyle], seed: int
) -> Agreement | None:
    """A symmetric table and its extremes. correlations: "a ~ b" -> (N,); None if there is only one method."""
    if not correlations:
        return None
    pairs = dict(zip(correlations, intervals(list(correlations.values()), seed=seed), strict=True))
    rows = [(style, [_cell(style, other, pairs) for other in styles.values()]) for style in styles.values()]
    methods = [style for style in styles.values() if not style.control]  # the control agrees with no method
    ranked = sorted(combinations(methods, 2), key=lambda pair: _of(pairs, *pair).value)
    closest = _extreme(*ranked[-1], pairs) if ranked else None
    return Agreement(rows, closest, _extreme(*ranked[0], pairs) if len(ranked) > 1 else None)


def _of(pairs: Mapping[str, Interval], first: MethodStyle, second: MethodStyle) -> Interval:
    return pairs.get(f"{first.method} ~ {second.method}") or pairs[f"{second.method} ~ {first.method}"]


def _cell(first: MethodStyle, second: MethodStyle, pairs: Mapping[str, Interval]) -> AgreementCell | None:
    if first is second:
        return None
    interval = _of(pairs, first, second)
    title = f"{first.short} and {second.short}: {_formatted(interval)}"
    opacity = f"{min(1.0, abs(interval.value)) * 0.8:.2f}"
    return AgreementCell(_short(interval.value), title, "for" if interval.value < 0 else "like", opacity)


def _short(value: float) -> str:
    """Two decimals without the leading zero, so that eight columns fit a phone."""
    text = f"{abs(value):.2f}".replace("0.", ".", 1)
    return f"−{text}" if value < 0 and text != ".00" else text


def _extreme(first: MethodStyle, second: MethodStyle, pairs: Mapping[str, Interval]) -> Extreme:
    return Extreme(first, second, _formatted(_of(pairs, first, second)))


def _formatted(interval: Interval) -> str:
    return " ".join(format_interval(interval.value, interval.low, interval.high))
