"""Claims about which areas are above which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from assay.statistics.claims import Criterion, Statement
from assay.statistics.estimates import Estimate, Largest, Smallest

from ..evidence import ATTENTION, GRADIENT, IG, IXG, LSTM, MEASURES, TRANSFORMER, Evidence, Place
from .base import ABOVE, NOT_BELOW, statement

SHORT = {IXG: "IxG", IG: "IG"}


def numbers(e: Evidence, *places: tuple[str, str] | tuple[str, str, str]) -> str:
    """The areas of some places in per cent, e.g. "SST: attention 22.0, gradient 9.2"."""
    shown = []
    for data, model, *study in places:
        if areas := e.of(data, model, *study):
            values = ", ".join(f"{SHORT.get(m, m)} {100 * f.value:.1f}" for m, f in areas.items())
            shown.append(f"{data}{' MiniLM' * (model == TRANSFORMER)}: {values}")
    return "; ".join(shown)


# --- models and tasks ------------------------------------------------------------------------------------------------


def model_dependent(e: Evidence) -> list[Statement]:
    """For some data set a measure's area differs between the LSTM and the transformer. Both are taken at 0, 20, ...,
    100 % masked; the two models also differ in their training data."""
    places = [((d, LSTM), (d, TRANSFORMER)) for d in ("SST", "SNLI", "bAbI-1")]
    return [_differs("some area differs between the two models", e, places)]


def task_dependent(e: Evidence) -> list[Statement]:
    """For some model a measure's area differs between two data sets, both at 0, 20, ..., 100 % masked."""
    places = [(a, b) for a, b in combinations(e.fifths, 2) if a[1] == b[1]]
    return [_differs("some area differs between two data sets", e, places)]


def _differs(text: str, e: Evidence, places: Sequence[tuple[Place, Place]]) -> Statement:
    parts = list(differences(e, places).values())
    return Statement(text, ABOVE, Largest([part.size for part in parts]) if parts else None)


def differences(e: Evidence, places: Sequence[tuple[Place, Place]]) -> dict[tuple[Place, Place, str], Estimate]:
    """The differences of the areas of every measure between two places."""
    known = [(a, b, e.fifths[a], e.fifths[b]) for a, b in places if a in e.fifths and b in e.fifths]
    return {(a, b, m): e.apart(x[m], y[m]) for a, b, x, y in known for m in MEASURES[LSTM] if m in x and m in y}


def models_here(e: Evidence) -> str:
    places = [((d, LSTM), (d, TRANSFORMER)) for d in ("SST", "bAbI-1")]
    known = [(a[0], m, e.fifths[a][m].value, e.fifths[b][m].value) for a, b, m in differences(e, places)]
    return "; ".join(f"{data} {SHORT.get(m, m)} {100 * x:.1f} / {100 * y:.1f}" for data, m, x, y in known)


def tasks_here(e: Evidence) -> str:
    known = {d: areas for (d, model), areas in e.fifths.items() if model == LSTM}
    return "LSTM attention: " + ", ".join(f"{data} {100 * areas[ATTENTION].value:.1f}" for data, areas in known.items())


# --- attention -------------------------------------------------------------------------------------------------------


def attention_among_the_best(e: Evidence) -> list[Statement]:
    """With the LSTM no measure is above attention, but on SST one is."""
    return list(_attention(e))


def _attention(e: Evidence) -> Iterator[Statement]:
    for data in ("SST", "bAbI-1", "SNLI", "IMDB"):
        areas = e.of(data, LSTM)
        gaps = [e.gap(areas[m], areas[ATTENTION]) for m in areas if m != ATTENTION]
        ran = e.ran(data, LSTM)
        if data == "SST":
            yield statement("SST: some measure is above attention", ABOVE, Largest(gaps) if gaps else None, ran=ran)
        else:
            quantity = Smallest([-gap for gap in gaps]) if gaps else None
            yield statement(f"{data}: attention is not below any measure", NOT_BELOW, quantity, ran=ran)


# --- integrated gradients --------------------------------------------------------------------------------------------


def ig_not_generally_better(e: Evidence) -> list[Statement]:
    """For some data set and model, gradient or input x gradient is above integrated gradients."""
    places = [*e.recursive.values()]
    gaps = [e.gap(areas[m], areas[IG]) for areas in places for m in (GRADIENT, IXG) if m in areas]
    ran = all(e.ran(data, LSTM) for data in ("SST", "SNLI", "bAbI-1"))
    return [Statement("some measure is above IG somewhere", ABOVE, Largest(gaps) if gaps and ran else None)]


def ig_worst_on_babi(e: Evidence) -> list[Statement]:
    """With the transformer on bAbI-1 every other measure is above integrated gradients."""
    areas = e.of("bAbI-1", TRANSFORMER)
    gaps = [e.gap(areas[m], areas[IG]) for m in areas if m != IG]
    text = "bAbI-1, transformer: every other measure is above IG"
    return [statement(text, ABOVE, Smallest(gaps) if gaps else None, ran=e.ran("bAbI-1", TRANSFORMER))]


def ig_by_words(e: Evidence) -> list[Statement]:
    """Masking numbers of words, with the LSTM: every other measure is above IG on IMDB, and none is on bAbI-1."""
    statements = []
    for data in ("IMDB", "bAbI-1"):
        areas = e.of(data, LSTM, "words")
        gaps = [e.gap(areas[m], areas[IG]) for m in areas if m != IG]
        ran = e.ran(data, LSTM, "words")
        if data == "IMDB":
            quantity = Smallest(gaps) if gaps else None
            statements.append(statement("IMDB: every other measure is above IG", ABOVE, quantity, ran=ran))
        else:
            quantity = Smallest([-gap for gap in gaps]) if gaps else None
            statements.append(statement("bAbI-1: IG is not below any measure", NOT_BELOW, quantity, ran=ran))
    return statements


def ig_by_words_above_some(e: Evidence) -> list[Statement]:
    """Also, IG is above some other measure on bAbI-1."""
    areas = e.of("bAbI-1", LSTM, "words")
    gaps = [e.gap(areas[IG], areas[m]) for m in areas if m != IG]
    ran = e.ran("bAbI-1", LSTM, "words")
    text = "bAbI-1: IG is above some measure"
    return [*ig_by_words(e), statement(text, ABOVE, Largest(gaps) if gaps else None, ran=ran)]


# --- recursion, order and conclusions --------------------------------------------------------------------------------


def recursion_matters(e: Evidence) -> list[Statement]:
    """On SST and on IMDB the area of some measure is higher with recursion (LSTM)."""
    statements = []
    for data in ("SST", "IMDB"):
        roar, recursive = e.of(data, LSTM, "roar"), e.of(data, LSTM)
        gaps = [e.gap(recursive[m], roar[m]) for m in recursive if m in roar]
        ran = e.ran(data, LSTM, "roar") and e.ran(data, LSTM)
        text = f"{data}: some area is higher with recursion"
        statements.append(statement(text, ABOVE, Largest(gaps) if gaps else None, ran=ran))
    return statements


def recursion_here(e: Evidence) -> str:
    shown = []
    for data in ("SST", "IMDB"):
        roar, recursive = e.of(data, LSTM, "roar"), e.of(data, LSTM)
        if roar and recursive:
            pairs = [f"{SHORT.get(m, m)} {100 * roar[m].value:.1f} → {100 * recursive[m].value:.1f}" for m in recursive]
            shown.append(f"{data}: {', '.join(pairs)}")
    return "; ".join(shown)


BEST = {
    ("SNLI", LSTM): (ATTENTION,),
    ("SST", LSTM): (IG, IXG),
    ("SNLI", TRANSFORMER): (IG,),
    ("bAbI-1", TRANSFORMER): (GRADIENT,),
}


def best_measures(e: Evidence) -> list[Statement]:
    """No measure is above the paper's best one: attention on SNLI, IG or input x gradient on SST (LSTM), IG on SNLI,
    gradient on bAbI-1 (transformer)."""
    return [_best(e, place, "not below any other", NOT_BELOW) for place in BEST]


def best_are_above(e: Evidence) -> list[Statement]:
    """The paper's best measure is above all others."""
    return [_best(e, place, "above all others", ABOVE) for place in BEST]


def _best(e: Evidence, place: Place, words: str, criterion: Criterion) -> Statement:
    areas, names = e.of(*place), BEST[place]
    rest = [m for m in areas if m not in names]
    quantity = Smallest([Largest([e.gap(areas[n], areas[m]) for n in names]) for m in rest]) if areas else None
    return statement(f"{' '.join(place)}: {' or '.join(names)} is {words}", criterion, quantity, ran=e.ran(*place))


def order_on_sst(e: Evidence) -> list[Statement]:
    """IG is above input x gradient, that above attention, and that above gradient."""
    areas, names = e.of("SST", LSTM), (IG, IXG, ATTENTION, GRADIENT)
    return [
        statement(f"{a} is above {b}", ABOVE, e.gap(areas[a], areas[b]) if areas else None, ran=e.ran("SST", LSTM))
        for a, b in pairwise(names)
    ]


WORDS = ("SST", "bAbI-1", "IMDB")


def same_conclusions(e: Evidence) -> list[Statement]:
    """Masking numbers of words puts every measure on the same side of random as masking shares does, on every data set
    (the first criterion looked at SST alone)."""
    return [_same_side(e, data, m) for data in WORDS for m in MEASURES[LSTM]]


def same_conclusions_on_sst(e: Evidence) -> list[Statement]:
    """The same on SST alone."""
    return [_same_side(e, "SST", m) for m in MEASURES[LSTM]]


def _same_side(e: Evidence, data: str, m: str) -> Statement:
    both = [e.of(data, LSTM, study) for study in ("recursive", "words")]
    quantity = None
    if all(both):
        areas = [e.area(part[m]) for part in both]
        quantity = Smallest([-a for a in areas] if areas[0].value < 0 else areas)
    ran = e.ran(data, LSTM) and e.ran(data, LSTM, "words")
    return statement(f"{data}: {m} is on the same side of random", ABOVE, quantity, ran=ran)


def words_here(e: Evidence) -> str:
    shown = []
    for data in WORDS:
        shares, words = e.of(data, LSTM), e.of(data, LSTM, "words")
        if shares and words:
            pairs = [f"{SHORT.get(m, m)} {100 * shares[m].value:.1f} → {100 * words[m].value:.1f}" for m in shares]
            shown.append(f"{data}: {', '.join(pairs)}")
    return "; ".join(shown)
