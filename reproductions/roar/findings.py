"""The findings in plain words, with numbers and verdicts from the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from .babi import without_rises
from .claims import CLAIMS
from .claims.sparsity import masses
from .evidence import ATTENTION, GRADIENT, IG, IXG, LSTM, MEASURES, TRANSFORMER, Areas, Evidence
from .published import AREAS
from .tables import agreement

LATER = "90 % instead of half"


def findings(e: Evidence) -> str:
    """A list of about ten sentences; those without evidence are left out."""
    sentences = (sentence for write in WRITERS for sentence in write(e))
    return "".join(f"- {sentence}\n" for sentence in sentences)


def _verdicts(e: Evidence) -> Iterator[str]:
    verdicts = Counter(claim.judged(e).verdict for claim in CLAIMS.values())
    counts = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common())
    yield f"**Of {len(CLAIMS)} claims: {counts}.** Most that are undecided rest on one training per model."
    fragile = [number for number, claim in CLAIMS.items() if claim.fragile(e)]
    if fragile:
        yield (
            "**Leaks decide much.** Masks are chosen by the gold label and can reveal it, which lowers an area. Claims "
            f"{', '.join(fragile[:-1])} and {fragile[-1]} depend on how such areas are counted (*fragile*)."
            if len(fragile) > 1
            else f"Claim {fragile[0]} depends on how areas of curves that leak the label are counted."
        )


def _sst(e: Evidence) -> Iterator[str]:
    if areas := e.of("SST", LSTM):
        agree = sum(agreement(e.interval(f), AREAS["SST", LSTM][m]) == "agrees" for m, f in areas.items())
        yield (
            f"**SST**, with the paper's split: {agree} of {len(areas)} areas agree with the paper "
            f"({_pairs(areas, 'SST')}), and the order of the means is {_order(areas)}."
        )


def _babi(e: Evidence) -> Iterator[str]:
    if areas := e.of("bAbI-1", LSTM):
        curves = e.curves[("bAbI-1", LSTM), "recursive"]
        free = {m: 100 * without_rises(curves, m) for m in (IXG, IG)}
        yield (
            f"**bAbI-1** differs from the paper ({_pairs(areas, 'bAbI-1')}). The curves of input x gradient and IG "
            f"rise again, which is enough to explain theirs: without any rise they would be {free[IXG]:.0f} and "
            f"{free[IG]:.0f}. "
            "Why attention is higher is not explained."
        )


def _attention(e: Evidence) -> Iterator[str]:
    places = {data: areas for data in ("bAbI-1", "IMDB", "SST") if (areas := e.of(data, LSTM))}
    best = [data for data, areas in places.items() if max(areas, key=lambda m: areas[m].value) == ATTENTION]
    rest = [data for data in places if data not in best]
    if places:
        elsewhere = f", but not on {' and '.join(rest)}" if rest else ""
        yield (
            f"**Attention** has the largest area on {' and '.join(best) or 'no data set'}{elsewhere}; that it is "
            f"*among the best* except on SST is {CLAIMS['3'].judged(e).verdict} (one training on IMDB)."
        )


def _ig(e: Evidence) -> Iterator[str]:
    babi, other = e.of("bAbI-1", LSTM), e.of("bAbI-1", TRANSFORMER)
    if babi and other:
        yield (
            f"**IG is not generally better**: on bAbI-1 gradient has {100 * babi[GRADIENT].value:.1f} and IG "
            f"{100 * babi[IG].value:.1f} (LSTM, leaking); {100 * other[GRADIENT].value:.1f} and "
            f"{100 * other[IG].value:.1f} with MiniLM. Without the leaking curve nothing is shown."
        )


def _recursion(e: Evidence) -> Iterator[str]:
    roar, recursive = e.of("IMDB", LSTM, "roar"), e.of("IMDB", LSTM)
    if roar and recursive:
        yield (
            f"**Recursion matters**: IG on IMDB has {100 * roar[IG].value:.1f} without and "
            f"{100 * recursive[IG].value:.1f} with it; the claim is {CLAIMS['7'].judged(e).verdict}."
        )


def _words(e: Evidence) -> Iterator[str]:
    if e.of("SST", LSTM, "words"):
        judged = CLAIMS["9"].judged(e)
        yield (
            f"**Numbers of words instead of shares**: {judged.counts['holds']} of {judged.tested} measures are shown "
            f"to be on the same side of random, {judged.counts['contradicted']} on the other; the rest lacks power."
        )


def _sparsity(e: Evidence) -> Iterator[str]:
    shares = {data: known for data in ("bAbI-1", "IMDB", "SST", "SNLI") if (known := masses(e, data))}
    if len(shares) > 1:
        leaders = {data: max(known, key=lambda m: sum(known[m]) / len(known[m])) for data, known in shares.items()}
        names = ", ".join(f"{leader} on {data}" for data, leader in leaders.items())
        yield (
            f"**Sparsity**: the top 10 % of words hold most mass for {names}; the paper says attention. Whether ten "
            "words hold *too little* (13) depends on a line that the paper does not draw: below half is "
            f"{CLAIMS['13'].judged(e).verdict}, below 90 % is {CLAIMS['13'].by_later_criteria(e)[LATER].verdict}."
        )


def _synthetic(e: Evidence) -> Iterator[str]:
    verdict = CLAIMS["10"].judged(e).verdict
    yield f"**The synthetic problem** is {verdict}: Recursive ROAR falls with the truth, ROAR much later."


def _limits(e: Evidence) -> Iterator[str]:
    if e.ran("SNLI", LSTM) and not e.of("SNLI", LSTM):
        single = [" ".join(place) for place, areas in e.recursive.items() if len(areas[IG].seeds) == 1]
        yield (
            "**Limits**: SNLI with the LSTM cannot be tested (10,000 pairs teach it little more than the hypothesis "
            f"does); one training each for {', '.join(single)}; MiniLM stands in for RoBERTa; no MIMIC, no "
            "bAbI-2 and 3."
        )


def _pairs(areas: Areas, data: str) -> str:
    numbers = [f"{m} {100 * areas[m].value:.1f} against {AREAS[data, LSTM][m][0]:g}" for m in MEASURES[LSTM]]
    return ", ".join(numbers)


def _order(areas: Areas) -> str:
    ours, paper = (sorted(areas, key=key) for key in (lambda m: -areas[m].value, lambda m: -AREAS["SST", LSTM][m][0]))
    return "the paper's" if ours == paper else " > ".join(ours)


WRITERS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    _verdicts, _sst, _babi, _attention, _ig, _recursion, _words, _sparsity, _synthetic, _limits,
)  # fmt: skip
