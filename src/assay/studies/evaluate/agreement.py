"""Which methods tell the same story: the mean rank correlation of every two, as a table that is also a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations

from assay.reports.method_style import MethodStyle
from assay.reports.symbols import figures
from assay.statistics.bootstrap import Interval, intervals


def agreement(pairs: Mapping[str, Sequence[float]], styles: Mapping[str, MethodStyle], seed: int) -> str:
    """A symmetric table, and a sentence about its extremes with intervals. `pairs` are "a ~ b" -> (N,)."""
    if not pairs:
        return '<p class="note">There is only one method, so there is nothing to agree with.</p>'
    found = dict(zip(pairs, intervals(list(pairs.values()), seed=seed), strict=True))
    heads = "".join(f'<th scope="col"><div class="turn">{escape(f.short)}</div></th>' for f in styles.values())
    rows = "".join(_row(face, styles, found) for face in styles.values())
    table = f'<table class="matrix"><thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Agreement">{table}</div>{_extremes(found, styles)}'
    )


def _row(face: MethodStyle, styles: Mapping[str, MethodStyle], found: Mapping[str, Interval]) -> str:
    cells = "".join(_cell(face, other, found) for other in styles.values())
    return f'<tr><th scope="row">{face.html}</th>{cells}</tr>'


def _cell(one: MethodStyle, other: MethodStyle, found: Mapping[str, Interval]) -> str:
    if one is other:
        return '<td aria-label="itself">·</td>'
    here = found.get(f"{one.method} ~ {other.method}") or found[f"{other.method} ~ {one.method}"]
    kind = "--for" if here.value < 0 else "--like"
    title = escape(f"{one.short} and {other.short}: {' '.join(figures(here.value, here.low, here.high))}")
    shade = f"background:rgb(var({kind})/{min(1.0, abs(here.value)) * 0.8:.2f})"
    return f'<td style="{shade}" title="{title}">{_short(here.value)}</td>'


def _short(value: float) -> str:
    """Two decimals without the leading zero: eight columns fit a phone."""
    text = f"{abs(value):.2f}".replace("0.", ".", 1)
    return f"−{text}" if value < 0 and text != ".00" else text


def _extremes(found: Mapping[str, Interval], styles: Mapping[str, MethodStyle]) -> str:
    """Who agrees most and least; the control is left out, it agrees with nobody."""
    real = [(found[f"{a.method} ~ {b.method}"], a, b) for a, b in combinations(styles.values(), 2)]
    real = sorted((pair for pair in real if not pair[1].control and not pair[2].control), key=lambda p: p[0].value)
    if not real:
        return ""
    closest = f"Closest: {_said(*real[-1])}."
    return f"<p>{closest}</p>" if len(real) == 1 else f"<p>{closest} Furthest apart: {_said(*real[0])}.</p>"


def _said(interval: Interval, one: MethodStyle, other: MethodStyle) -> str:
    return f"{one.name} and {other.name}, {' '.join(figures(interval.value, interval.low, interval.high))}"
