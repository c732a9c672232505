"""The values of the explain page: prediction, heat maps, numbers, agreement and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from assay.core.display import extras
from assay.core.explanation_page import Picture
from assay.core.heat import pieces, reach
from assay.core.printable import shortened
from assay.core.types import Attribution, Example
from assay.evaluation.agreement.spearman import Spearman
from assay.reports.heat_maps import LEVELS, HeatMap, heat_map
from assay.web.explain.changes import Word, change, partners, words
from assay.web.explain.work import Explained

BEFORE = "picture-before"
SHOWN = 8  # classes whose probability is shown


@dataclass(frozen=True)
class ClassRow:
    """The probability of one class, in per cent, and before an edit."""

    label: str
    now: float
    before: float | None
    predicted: bool
    explained: bool

    @property
    def change(self) -> float:
        return self.now - (self.now if self.before is None else self.before)


@dataclass(frozen=True)
class Panel:
    """One method: its heat map, or why there is none."""

    method: str
    spec: str = ""
    maps: Sequence[tuple[str, HeatMap]] = ()  # heading and map: one, or before, after and change
    darkest: str = ""
    signed: bool = True
    cost: str = ""
    extra: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class NumberRow:
    """The scores of one unit."""

    unit: str
    scores: Sequence[str]


@dataclass(frozen=True)
class AgreementRow:
    method: str
    cells: Sequence[tuple[str, str] | None]  # value and class of its colour; None: the method itself


@dataclass(frozen=True)
class Patch:
    """One patch of an image that can be taken out."""

    place: str
    row: int
    column: int
    removed: bool


@dataclass(frozen=True)
class View:
    """All that the page shows of an explanation."""

    explained: Explained
    before: Explained | None
    classes: Sequence[ClassRow]
    more_classes: int
    about: str  # the class explained
    words: Sequence[tuple[Sequence[Word], str]]
    pictures: Sequence[Picture]  # of the image, and of the one before patches were taken out
    patches: Sequence[Sequence[Patch]]  # of the image, row by row
    panels: Sequence[Panel]
    numbers: Sequence[NumberRow]
    agreement: Sequence[AgreementRow]


def view(explained: Explained, before: Explained | None = None) -> View:
    """The values of a page; before: the explanation of the text before an edit."""
    classes = _classes(explained, before)
    return View(
        explained=explained,
        before=before,
        classes=classes[:SHOWN],
        more_classes=max(0, len(classes) - SHOWN),
        about=_about(next(iter(explained.attributions.values()))),
        words=_words(explained, before),
        pictures=[picture for picture in (_picture(explained), before and _picture(before, BEFORE)) if picture],
        patches=_patches(explained),
        panels=[_panel(name, explained, before) for name in explained.wanted.methods],
        numbers=_numbers(explained, before),
        agreement=_agreement(explained.attributions),
    )


def _classes(explained: Explained, before: Explained | None) -> list[ClassRow]:
    if explained.probabilities is None:
        return []
    earlier = before.probabilities if before is not None else None
    about = next(iter(explained.attributions.values())).label
    rows = [
        ClassRow(
            label, 100 * p, None if earlier is None else 100 * earlier[label], label == explained.label, label == about
        )
        for label, p in explained.probabilities.items()
    ]
    return sorted(rows, key=lambda row: (not (row.predicted or row.explained), -row.now))


def _about(attribution: Attribution) -> str:
    if attribution.target.scale == "raw":
        return "the value"
    return attribution.label if attribution.against is None else f"{attribution.label} against {attribution.against}"


def _words(explained: Explained, before: Explained | None) -> list[tuple[list[Word], str]]:
    texts = (explained.wanted.text, explained.wanted.text_pair)
    old = (None, None) if before is None else (before.wanted.text, before.wanted.text_pair)
    return [words(text, earlier, i) for i, (text, earlier) in enumerate(zip(texts, old, strict=True)) if text]


def _picture(explained: Explained, name: str = "picture") -> Picture | None:
    return None if explained.picture is None else Picture(name, explained.picture)


def _patches(explained: Explained) -> list[list[Patch]]:
    """The grid of patches that can be clicked; none for a text."""
    units = next(iter(explained.attributions.values())).units
    if units[0].box is None:
        return []
    rows = groupby(units, key=lambda unit: unit.box[1] if unit.box else 0)
    return [
        [Patch(f"0:{u.start}-{u.end}", i + 1, j + 1, u.start in explained.wanted.removed) for j, u in enumerate(row)]
        for i, (_, row) in enumerate(rows)
    ]


def _panel(name: str, explained: Explained, before: Explained | None) -> Panel:
    if name not in explained.attributions:
        return Panel(name, refusal=explained.refusals.get(name, "There is no explanation."))
    now = explained.attributions[name]
    old = _earlier(name, now, before)
    steps = {"": now} if old is None else {"before": old, "after": now, "change": change(old, now)}
    largest = reach([now] if old is None else [old, now])
    pictures = {} if before is None else {"before": _picture(before, BEFORE)}
    maps = [(heading, _map(a, largest, pictures.get(heading, _picture(explained)))) for heading, a in steps.items()]
    return Panel(
        name,
        spec=str(now.method),
        maps=maps,
        darkest=f"{largest:.2g}",
        signed=bool((now.scores < 0).any()) or old is not None,
        cost=_cost(now),
        extra="; ".join(shortened(extra, 60) for extra in extras(now)),
    )


def _earlier(name: str, now: Attribution, before: Explained | None) -> Attribution | None:
    """The explanation before an edit, if it answers the same question: method, class and scale."""
    old = before.attributions.get(name) if before is not None else None
    return old if old is not None and (old.method, old.target) == (now.method, now.target) else None


def _map(attribution: Attribution, largest: float, picture: Picture | None) -> HeatMap:
    example = Example(attribution.text or "", attribution.text_pair)
    return heat_map(attribution, example, set(attribution.units), picture, largest)


def _cost(attribution: Attribution) -> str:
    cost = attribution.cost
    passes = [f"{cost.forwards:,.0f} forward"] + ([f"{cost.backwards:,.0f} backward"] if cost.backwards else [])
    return f"{' and '.join(passes)} pass{'es' * (cost.forwards + cost.backwards != 1)}, {cost.seconds:.2g} s"


def _numbers(explained: Explained, before: Explained | None) -> list[NumberRow]:
    """The scores of every unit in reading order, by method; with the change since before."""
    columns = [_column(name, a, before) for name, a in explained.attributions.items()]
    first = next(iter(explained.attributions.values()))
    order = [unit for _, unit, _ in pieces(first)] if first.units[0].box is None else list(first.units)
    index = {unit: i for i, unit in enumerate(first.units)}
    return [NumberRow(unit.text, [column[index[unit]] for column in columns]) for unit in order]


def _column(name: str, attribution: Attribution, before: Explained | None) -> list[str]:
    scores = [
        f"{float(s):+.3g}" if u.seen else "unread" for u, s in zip(attribution.units, attribution.scores, strict=True)
    ]
    old = _earlier(name, attribution, before)
    if old is None:
        return scores
    known = partners(old.units, attribution.units)
    changes = change(old, attribution).scores
    return [
        f"{score} (new)" if partner is None else f"{score} ({float(c):+.2g})"
        for score, partner, c in zip(scores, known, changes, strict=True)
    ]


def _agreement(attributions: Mapping[str, Attribution]) -> list[AgreementRow]:
    """Spearman's correlation of every two methods; none for a single method or a single unit."""
    first = next(iter(attributions.values()))
    if len(attributions) < 2 or len(first) < 2:
        return []
    pairs = {
        frozenset((a, b)): Spearman().compare(attributions[a], attributions[b])
        for a, b in combinations(attributions, 2)
    }
    return [
        AgreementRow(a, [None if a == b else _agreement_cell(pairs[frozenset((a, b))]) for b in attributions])
        for a in attributions
    ]


def _agreement_cell(value: float) -> tuple[str, str]:
    level = min(LEVELS, round(abs(value) * LEVELS))
    return f"{value:.2f}".replace("-", "−"), f"{'l' if value > 0 else 'f'}{level}" if level else ""
