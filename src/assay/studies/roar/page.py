"""The page of a ROAR run: curves with bands, areas and verdicts, class leakage, sparsity, walltime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.verdict import COVERAGE, ENOUGH, FAITHFUL, INCONCLUSIVE, NOT_FAITHFUL, Faithfulness
from assay.experiments.status import Status
from assay.reports import study_page as parts
from assay.reports.method_style import MethodStyle, method_styles, short_names
from assay.reports.plots import banded
from assay.reports.symbols import Symbol
from assay.statistics.bootstrap import Interval
from assay.statistics.sentences import listed
from assay.studies.roar.curves import MEASURABLE, Curves
from assay.studies.roar.study import RANDOM

MARKS = {
    FAITHFUL: Symbol("★", FAITHFUL, "best"),
    NOT_FAITHFUL: Symbol("▼", NOT_FAITHFUL, "bad"),
    INCONCLUSIVE: Symbol("○", INCONCLUSIVE, "open"),
}
UNKNOWN = 0.1  # share of inputs outside of what a measurable model knows that is too much; 0.05 is to be expected
SHOWN = ("top_1", "top_3", "top_5", "top_10", "share_10", "share_20", "share_50")  # of the sparsity
RETRAINED = "after training on data without the most important words"
ONE_MODEL = "of one model that was trained with masks, as it loses the most important words"
NOTE = (
    "The {score} on the test split {how}; bands are 95 % intervals over "
    "seeds and test examples. The area is what lies between random's curve and the method's, as a share of what lies "
    "between random's curve and its end."
)

PAIRED = "Below the best: the difference of two areas of the same trainings tested on the same texts."


@dataclass(frozen=True)
class RoarPage:
    """The curves of a run with all that is said about them."""

    curves: Sequence[Curves]
    score: Score = "macro_f1"
    clip: bool = False
    status: Status | None = None  # of the run that made the curves

    @cached_property
    def judged(self) -> list[dict[str, Faithfulness]]:
        return [part.judged(self.score, clip=self.clip) for part in self.curves]

    @property
    def verdict(self) -> list[str]:
        """One sentence per study."""
        found = zip(self.curves, self.judged, strict=True)
        return [sentence(_title(part), judged, part.behind(judged)) for part, judged in found if judged]

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        parts.write(self.html(command), path)

    def html(self, command: str | None = None) -> str:
        """One self-contained page."""
        who = self._faces()
        sections = {}
        for part, judged in zip(self.curves, self.judged, strict=True):
            if judged:
                sections[_title(part)] = self._curves(part, judged, who)
        sections["Sparsity"] = _sparsity(self.curves, who)
        sections["Walltime"] = _walltime(self.curves, who)
        sections["Reproduce"] = f"<pre>{escape(command)}</pre>" if command else ""
        title = f"Which words does a model of {self.curves[0].data} need?"
        first = self.verdict or ["No method is finished yet."]
        return parts.page(title, first, self._facts(), sections, "seeds and test examples")

    def _faces(self) -> dict[str, MethodStyle]:
        """One face per method in all studies; random is the control."""
        methods = dict.fromkeys(m for part in self.curves for m in part.predicted)
        return method_styles(list(methods), RANDOM)

    def _facts(self) -> str:
        seeds = sorted({seed for part in self.curves for mine in part.seeds.values() for seed in mine})
        about = {
            "model": ", ".join(dict.fromkeys(part.base for part in self.curves)),
            "data": ", ".join(dict.fromkeys(part.data for part in self.curves)),
            "test examples": str(len(self.curves[0].gold)),
            "seeds": ", ".join(map(str, seeds)),
            "score": self.score,
        }
        cells = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in about.items())
        return f'<dl class="facts">{cells}</dl>'

    def _curves(self, part: Curves, judged: Mapping[str, Faithfulness], who: Mapping[str, MethodStyle]) -> str:
        bands, n = part.bands(self.score), len(part.axis)
        plot = banded(
            {m: b.mean[:n] for m, b in bands.items()},
            {m: (b.low[:n], b.high[:n]) for m, b in bands.items()},
            [f"{at:g}" for at in part.axis],
            who,
            f"{self.score} of {_title(part)}",
            part.unit,
        )
        said = [*remarks(judged), *outside(part)]
        notes = "".join(f'<p class="{_tone(note)}">{escape(note)}</p>' for note in said)
        how = ONE_MODEL if part.form == MEASURABLE else RETRAINED
        about = f'<p class="note">{NOTE.format(score=self.score, how=how)}</p>'
        table = f'<div class="wide">{_areas(judged, part.behind(judged), who)}</div><p class="note">{PAIRED}</p>'
        return f'{about}<div class="grid half"><figure>{plot}</figure></div>{table}{notes}{_outside(part, who)}'


def _title(part: Curves) -> str:
    return part.form if part.study in ("recursive", "roar", "measurable") else f"{part.form}, {part.study}"


def sentence(title: str, judged: Mapping[str, Faithfulness], behind: Mapping[str, Interval] | None = None) -> str:
    """Who is faithful and by how much, who is not, who can be told neither, and whether the best is alone."""
    names = short_names(list(judged))
    ranked = sorted(judged, key=lambda m: (judged[m].value != judged[m].value, -judged[m].value))  # unknown areas last
    said = []
    for verdict, words in (
        (FAITHFUL, "faithful to a degree"),
        (NOT_FAITHFUL, "not faithful"),
        (INCONCLUSIVE, "inconclusive"),
    ):
        mine = [m for m in ranked if judged[m].verdict == verdict]
        if mine:
            shown = listed([f"{names[m]} ({percent(judged[m].value)})" for m in mine])
            said.append(f"{shown} {'is' if len(mine) == 1 else 'are'} {words}")
    return f"{title}{_few(judged)}: {'; '.join(said)}.{_first(judged, ranked[0], names, behind or {})}"


def _few(judged: Mapping[str, Faithfulness]) -> str:
    """How many seeds a sentence speaks of, where they are fewer than say much about others."""
    seeds = min(len(f.seeds) for f in judged.values())
    return "" if seeds >= ENOUGH else f" of {seeds} seed{'s' * (seeds != 1)}"


def _first(
    judged: Mapping[str, Faithfulness], best: str, names: Mapping[str, str], behind: Mapping[str, Interval]
) -> str:
    """Whether the largest area is significantly the largest."""
    if not behind:
        return ""
    level = [names[m] for m, gap in behind.items() if not gap.low > 0]
    if not level:
        first = "is the most faithful" if judged[best].verdict == FAITHFUL else "has the largest area"
        return f" {names[best]} {first}, by the interval of its difference from every other."
    return f" Not told apart from {names[best]}: {listed(level)}."


def remarks(judged: Mapping[str, Faithfulness]) -> list[str]:
    """What was noted of methods, each sentence once: with their names unless it holds for all."""
    names = short_names(list(judged))
    found: dict[str, list[str]] = {}
    for method, f in judged.items():
        for note in f.notes:
            found.setdefault(note, []).append(names[method])
    return [f"{'' if len(mine) == len(judged) > 1 else listed(mine) + ': '}{note}." for note, mine in found.items()]


def _tone(note: str) -> str:
    return "note" if COVERAGE in note else "warn"


def outside(part: Curves) -> list[str]:
    """Where the answers of a measurable model say nothing, because it does not know what it is asked about."""
    worst = {m: max(range(len(shares)), key=lambda i: shares[i]) for m, shares in part.outside.items()}
    names = short_names(list(part.outside))
    return [
        f"{names[m]}: with {100 * part.ratios[i]:.0f} % of the words masked the model does not know "
        f"{100 * part.outside[m][i]:.0f} % of the inputs (MaSF, p below 5 %), so that its curve says little there."
        for m, i in worst.items()
        if part.outside[m][i] > UNKNOWN
    ]


def percent(value: float) -> str:
    return "unknown" if value != value else f"{100 * value:.1f} %"


def between(interval: Interval) -> str:
    if interval.low != interval.low:
        return "unknown"
    return f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def below(gap: Interval | None) -> str:
    """How far an area is below the largest; nothing for the largest itself."""
    return "" if gap is None else f"{100 * gap.value:.1f} {between(gap)}"


def _areas(judged: Mapping[str, Faithfulness], behind: Mapping[str, Interval], who: Mapping[str, MethodStyle]) -> str:
    rows = []
    for method in sorted(judged, key=lambda m: -judged[m].value):
        f = judged[method]
        spans = "".join(f'<td class="n">{between(i)}</td>' for i in (f.both, f.bca, f.t))
        rows.append(
            f'<tr><th scope="row">{who[method].html}</th><td class="n"><b>{percent(f.value)}</b></td>{spans}'
            f'<td class="n">{below(behind.get(method))}</td><td class="n">{len(f.seeds)}</td>'
            f"<td>{MARKS[f.verdict].html}</td></tr>"
        )
    names = ("area", "seeds and texts", "seeds, BCa", "seeds, t", "below the best", "seeds")
    return _table("method", names, rows, "verdict")


def _outside(part: Curves, who: Mapping[str, MethodStyle]) -> str:
    """Of a measurable model: is what it is asked about like what it has seen?"""
    if not part.outside:
        return ""
    rows = [
        f'<tr><th scope="row">{who[m].html}</th>{"".join(f"<td class=n>{100 * s:.1f}</td>" for s in shares)}</tr>'
        for m, shares in part.outside.items()
    ]
    note = (
        '<p class="note">Inputs in per cent that the model does not know (MaSF, p below 5 %), by the share of words '
        "masked; about 5 % if masked texts are as ordinary to it as those that it was validated on.</p>"
    )
    return note + f'<div class="wide">{_table("method", [f"{100 * r:.0f} %" for r in part.ratios], rows)}</div>'


def _sparsity(curves: Sequence[Curves], who: Mapping[str, MethodStyle]) -> str:
    found = {method: masses for part in curves for method, masses in part.sparsity.items()}
    if not found:
        return ""
    rows = [
        f'<tr><th scope="row">{who[m].html}</th>'
        + "".join(f'<td class="n">{100 * masses[name]:.1f}</td>' for name in SHOWN)
        + "</tr>"
        for m, masses in found.items()
        if m in who
    ]
    heads = [
        name.replace("top_", "top ").replace("share_", "top ") + (" %" if "share" in name else "") for name in SHOWN
    ]
    note = (
        '<p class="note">Mean share of the mass of |scores|, in per cent, that the highest words hold; '
        "unmasked models, validation split.</p>"
    )
    return note + _table("method", heads, rows)


def _walltime(curves: Sequence[Curves], who: Mapping[str, MethodStyle]) -> str:
    rows = []
    for part in curves:
        steps = part.steps
        for method, spent in part.seconds.items():
            if method not in who:
                continue
            seconds = [spent.get(name, 0.0) for name in ("explain", "train")]
            explained = steps if part.form == "Recursive ROAR" and method != RANDOM else 1
            total = (seconds[0] * explained + seconds[1] * (steps if part.form != MEASURABLE else 1)) / 60
            cells = "".join(f'<td class="n">{value:.1f}</td>' for value in (*seconds, total))
            rows.append(f'<tr><th scope="row">{who[method].html}</th><td>{_title(part)}</td>{cells}</tr>')
    note = '<p class="note">Means over steps and seeds; the total is of one seed, without the runs that all share.</p>'
    return note + _table("method", ("form", "s explaining", "s training", "min in total"), rows, left=1)


def _table(first: str, heads: Sequence[str], rows: Sequence[str], last: str | None = None, left: int = 0) -> str:
    """The first `left` of the columns are words."""
    cells = "".join(
        f'<th scope="col"{"" if i < left else " class=n"}>{escape(head)}</th>' for i, head in enumerate(heads)
    )
    end = f'<th scope="col">{last}</th>' if last else ""
    return (
        f'<table><thead><tr><th scope="col">{first}</th>{cells}{end}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
