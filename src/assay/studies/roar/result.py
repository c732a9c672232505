"""The result of a ROAR run: areas, verdicts and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.core.printable import printable
from assay.core.render import write_page
from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.verdict import ENOUGH, FAITHFUL, INCONCLUSIVE, NOT_FAITHFUL, Faithfulness
from assay.experiments.preset import PresetUse
from assay.experiments.status import Status
from assay.reports.method_style import MethodStyle, method_styles, short_names
from assay.reports.notebook import Block, Line, fragment
from assay.statistics.bootstrap import Interval
from assay.statistics.sentences import listed
from assay.studies.roar.curves import Curves
from assay.studies.roar.study import RANDOM

WORDS = {FAITHFUL: "faithful to a degree", NOT_FAITHFUL: "not faithful", INCONCLUSIVE: "inconclusive"}
OUT_OF_DISTRIBUTION = 0.1  # share of inputs above which a measurable model's curve is not reliable; 0.05 is expected


@dataclass(frozen=True, repr=False)
class RoarResult:
    """The curves of a run with their verdicts."""

    curves: Sequence[Curves]
    score: Score = "macro_f1"
    clip: bool = False
    status: Status | None = None  # of the run that made the curves
    preset: PresetUse | None = None  # that its settings come from

    def __repr__(self) -> str:
        verdict = "\n".join(self.verdict)
        return f"<RoarResult: {len(self.curves)} sets of curves, {self.score}>\n{printable(verdict)}"

    def _repr_html_(self) -> str:
        return fragment(self.verdict, f"ROAR by {self.score}", self.blocks)

    @property
    def blocks(self) -> list[Block]:
        """The areas with the intervals that decide, for each of the curves."""
        pairs = zip(self.curves, self.judged, strict=True)
        return [_block(title(curves), judged) for curves, judged in pairs if judged]

    @cached_property
    def judged(self) -> list[dict[str, Faithfulness]]:
        """The verdicts on the methods, for each of the curves."""
        return [curves.judged(self.score, clip=self.clip) for curves in self.curves]

    @cached_property
    def verdict(self) -> list[str]:
        """One sentence per study."""
        pairs = zip(self.curves, self.judged, strict=True)
        return [sentence(title(curves), judged, curves.behind(judged)) for curves, judged in pairs if judged]

    @cached_property
    def method_styles(self) -> dict[str, MethodStyle]:
        """One style per method in all studies; random is the control."""
        return method_styles(list(dict.fromkeys(m for curves in self.curves for m in curves.predicted)), RANDOM)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write a self-contained page."""
        from assay.studies.roar.page import page

        write_page(page(self, command), path)


def title(curves: Curves) -> str:
    return curves.form if curves.study in ("recursive", "roar", "measurable") else f"{curves.form}, {curves.study}"


def sentence(name: str, judged: Mapping[str, Faithfulness], behind: Mapping[str, Interval] | None = None) -> str:
    """Which methods are faithful and to what degree, which are not, and whether the best one is significantly best."""
    names, order = short_names(list(judged)), ranked(judged)
    head = f"{name}{_few_seeds(judged)}"
    if _unknown(judged[order[0]]):  # and so are all others
        return f"{head}: no verdict on {listed([names[m] for m in order])}, because {judged[order[0]].notes[0]}."
    clauses = []
    for verdict, words in WORDS.items():
        methods = [m for m in order if judged[m].verdict == verdict]
        if methods:
            areas = listed([f"{names[m]} ({_area(judged[m])})" for m in methods])
            clauses.append(f"{areas} {'is' if len(methods) == 1 else 'are'} {words}")
    return f"{head}: {'; '.join(clauses)}.{_lead(judged, order[0], names, behind or {})}"


def ranked(judged: Mapping[str, Faithfulness]) -> list[str]:
    """Methods by their areas, largest first; unknown areas last."""
    return sorted(judged, key=lambda m: (_unknown(judged[m]), -judged[m].value))


def _block(name: str, judged: Mapping[str, Faithfulness]) -> Block:
    names, order = short_names(list(judged)), [(m, judged[m]) for m in ranked(judged)]
    lines = [Line(names[m], f.value, f.both.low, f.both.high, WORDS[f.verdict]) for m, f in order]
    return Block(name, "area between random and the method, higher is better", lines)


def _unknown(faithfulness: Faithfulness) -> bool:
    return faithfulness.value != faithfulness.value


def _area(faithfulness: Faithfulness) -> str:
    return "area undefined" if _unknown(faithfulness) else percent(faithfulness.value)


def _few_seeds(judged: Mapping[str, Faithfulness]) -> str:
    """The number of seeds, if there are too few to generalise."""
    seeds = min(len(f.seeds) for f in judged.values())
    return "" if seeds >= ENOUGH else f" ({seeds} seed{'s' * (seeds != 1)})"


def _lead(
    judged: Mapping[str, Faithfulness], best: str, names: Mapping[str, str], behind: Mapping[str, Interval]
) -> str:
    """Whether the largest area is significantly larger than all others."""
    if not behind:
        return ""
    tied = [names[m] for m, gap in behind.items() if not gap.low > 0]
    if not tied:
        lead = "is the most faithful" if judged[best].verdict == FAITHFUL else "has the largest area"
        return f" {names[best]} {lead}: its area differs significantly from every other."
    return f" Not significantly different from {names[best]}: {listed(tied)}."


def remarks(judged: Mapping[str, Faithfulness]) -> list[str]:
    """The notes on methods, each once, with the names of the methods unless it applies to all."""
    names = short_names(list(judged))
    methods_of: dict[str, list[str]] = {}
    for method, faithfulness in judged.items():
        for note in faithfulness.notes:
            methods_of.setdefault(note, []).append(names[method])
    return [
        f"{note[:1].upper()}{note[1:]}." if len(methods) == len(judged) > 1 else f"{listed(methods)}: {note}."
        for note, methods in methods_of.items()
    ]


def out_of_distribution(curves: Curves) -> list[str]:
    """Where a measurable model's curve is not reliable because its inputs differ too much from its training data."""
    worst = {m: max(range(len(shares)), key=lambda i: shares[i]) for m, shares in curves.outside.items()}
    names = short_names(list(curves.outside))
    return [
        f"{names[m]}: with {100 * curves.ratios[i]:.0f} % of the words masked, {100 * curves.outside[m][i]:.0f} % of "
        "the inputs are out of distribution for the model (MaSF, p < 5 %), so its curve is not reliable there."
        for m, i in worst.items()
        if curves.outside[m][i] > OUT_OF_DISTRIBUTION
    ]


def percent(value: float) -> str:
    return "unknown" if value != value else f"{100 * value:.1f} %"


def percent_interval(interval: Interval) -> str:
    if interval.low != interval.low:
        return "unknown"
    return f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def percent_gap(gap: Interval | None) -> str:
    """How far an area is below the largest; empty for the largest itself."""
    return "" if gap is None else f"{100 * gap.value:.1f} {percent_interval(gap)}"
