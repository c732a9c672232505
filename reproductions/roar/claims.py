"""The claims of Madsen et al. 2022 (the fact sheet's section 8), each as a function of what the store holds.

A claim that looks at many pairs divides the level by their number (Bonferroni). Where a claim needs an order that
cannot be told it is undecided; one whose runs are not all there is "not run yet".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np
from scipy.stats import binom
from weighed import (
    AT_FIFTHS,
    ATTENTION,
    FEW,
    GRADIENT,
    IG,
    IXG,
    LSTM,
    MEASURES,
    RETRAINED,
    TRANSFORMER,
    Evidence,
    percent,
    shared,
)

from assay.evaluation.roar.curves import curves as scores_of

CONFIRMED, REFUTED, UNDECIDED, MISSING = "confirmed", "refuted", "undecided", "not run yet"
Said = tuple[str, str]  # the verdict, and the numbers


def somewhere(differ: Sequence[str], looked: Sequence[str], complete: bool) -> Said:
    """A claim that one case is enough for: found, or not found although all was looked at, or still open."""
    if differ:
        return CONFIRMED, "; ".join(differ)
    return (UNDECIDED if complete else MISSING), "; ".join(looked)


def everywhere(holds: Sequence[bool | None], said: Sequence[str], complete: bool) -> Said:
    """A claim that all cases are needed for; None: it cannot be told."""
    if False in holds:
        return REFUTED, "; ".join(said)
    verdict = MISSING if not complete else UNDECIDED if None in holds else CONFIRMED
    return verdict, "; ".join(said)


def mostly(holds: Sequence[bool], said: Sequence[str], complete: bool) -> Said:
    """A claim about most of a few data sets."""
    if not complete or not holds:
        return MISSING, "; ".join(said)
    more = 2 * sum(holds) - len(holds)
    return (CONFIRMED if more > 0 else REFUTED if more < 0 else UNDECIDED), "; ".join(said)


def tends(holds: Sequence[bool]) -> bool | None:
    """Whether it is so more often than not, by a sign test; None: it cannot be told."""
    n, k = len(holds), sum(holds)
    return True if n and binom.sf(k - 1, n, 0.5) <= 0.05 else False if n and binom.cdf(k, n, 0.5) <= 0.05 else None


def model_dependent(e: Evidence) -> Said:
    """For some data set a measure's area differs between the LSTM and the transformer, both at 0, 20, ..., 100 %. They
    also differ in their training data."""
    pairs = [(d, e.fifths.get((d, LSTM), {}), e.fifths.get((d, TRANSFORMER), {})) for d in ("SST", "SNLI", "bAbI-1")]
    cases = [(d, m, a[m], b[m]) for d, a, b in pairs for m in sorted(set(a) & set(b))]
    words = {c: f"{c[0]} {e.show(c[1], c[2])} with the LSTM, {e.show(c[1], c[3])} with MiniLM" for c in cases}
    differ = [words[c] for c in cases if e.apart(c[2], c[3], shared(cases))]
    return somewhere(differ, list(words.values()), all(e.ran(d, m, AT_FIFTHS) for d, *_ in pairs for m in MEASURES))


def task_dependent(e: Evidence) -> Said:
    """For some model a measure's area differs between two data sets, both at 0, 20, ..., 100 %."""
    cases = [
        (m, a, b, x[m], y[m])
        for (a, x), (b, y) in combinations(e.fifths.items(), 2)
        if a[1] == b[1]
        for m in sorted(set(x) & set(y))
    ]
    words = {c: f"{c[1][0]} {e.show(c[0], c[3])}, {c[2][0]} {e.show(c[0], c[4])} ({c[1][1]})" for c in cases}
    differ = [words[c] for c in cases if e.apart(c[3], c[4], shared(cases))]
    return somewhere(differ[:6], list(words.values())[:6], bool(cases))


def attention_among_the_best(e: Evidence) -> Said:
    """With the LSTM no measure beats attention, which beats some other, but on SST one does."""
    said, holds = [], []
    for (data, model), found in e.recursive.items():
        if model == LSTM:
            rest = {m: f for m, f in found.items() if m != ATTENTION}
            others = {m: e.ordered(f, found[ATTENTION], shared(rest)) for m, f in rest.items()}
            better = [m for m, over in others.items() if over]
            lowest = all(over is False for over in others.values())
            among = False if better else True if False in others.values() else None
            holds.append((True if better else False if lowest else None) if data == "SST" else among)
            said.append(f"{data}: {e.show(ATTENTION, found[ATTENTION])}, beaten by {', '.join(better) or 'none'}")
    return everywhere(holds, said, all(e.ran(data, LSTM) for data in ("SST", "bAbI-1", "SNLI", "IMDB")))


def ig_not_generally_better(e: Evidence) -> Said:
    """Somewhere gradient or input x gradient beats integrated gradients, the gold label or the predicted one explained;
    refuted if integrated gradients beat both everywhere."""
    places = {(d, m, s): e.of(d, m, s) for (d, m), s in e.areas if s in ("recursive", "predicted")}
    found = [(" ".join((d, m, *(["predicted"] * (s == "predicted")))), f) for (d, m, s), f in places.items() if f]
    pairs = [(name, f, o) for name, f in found for o in (GRADIENT, IXG) if o in f]
    above = [(name, f, o) for name, f, o in pairs if e.above(f[o], f[IG], shared(pairs))]
    beaten = [f"{name}: {e.show(o, f[o])} over {e.show(IG, f[IG])}" for name, f, o in above]
    looked = [f"{name}: {e.show(IG, f[IG])}, beaten by neither" for name, f in found]
    wanted = ("SST", "SNLI", "bAbI-1")
    complete = all(e.ran(d, LSTM) for d in wanted)
    if all(e.of(d, LSTM) for d in wanted) and all(e.above(f[IG], f[o], shared(pairs)) for _, f, o in pairs):
        return REFUTED, "; ".join(looked)
    return somewhere(beaten, looked, complete)


def ig_worst_on_babi(e: Evidence) -> Said:
    """With the transformer on bAbI-1 every other measure beats integrated gradients."""
    found = e.of("bAbI-1", TRANSFORMER)
    if not found:
        return MISSING, ""
    holds = [e.ordered(f, found[IG]) for m, f in found.items() if m != IG]
    return everywhere(holds, [e.show(m, f) for m, f in found.items()], True)


def drops_at_once(e: Evidence) -> Said:
    """Of faithful measures the largest drop in one step begins below 20 % masked (where steps are of 20 %: it is the
    first) more often than not (sign test): by the task's score and by accuracy, because macro-F1 falls to a third when
    a model says one class for all, and with and without the last step, to what all measures share. Three data sets."""
    if len({data for data, _ in e.recursive}) < FEW:
        return MISSING, ""
    said, holds = [], []
    for (data, model), found in e.recursive.items():
        part = e.curves[(data, model), "recursive"]
        for measure in (m for m, f in found.items() if e.faithful(f)):
            accuracy = scores_of(part.predicted[measure], part.gold, "accuracy")[0].mean(0)
            drops = [-np.diff(curve) for curve in (found[measure].curve, accuracy)]
            starts = [part.ratios[int(np.argmax(d))] for drop in drops for d in (drop[:-1], drop)]
            holds.append([start < 0.2 for start in starts])
            said.append(f"{data} {model} {measure} {', '.join(f'{100 * start:.0f}' for start in starts)} %")
    ways = list(zip(*holds, strict=True))
    each = {tends(way) for way in ways}
    names = ("by the task's score", "with the last step", "by accuracy", "with the last step")
    counts = ", ".join(f"{sum(way)} {name}" for way, name in zip(ways, names, strict=False))
    verdict = CONFIRMED if each == {True} else REFUTED if each == {False} else UNDECIDED
    return verdict, f"of {len(holds)} measures {counts or 'none'}; so ordered, they begin at: {'; '.join(said)}"


def leakage(e: Evidence) -> Said:
    """With retraining the accuracy rises significantly somewhere, where random's does not, in a measure with three
    seeds or more (here those of SST and bAbI-1 with the LSTM); with fewer the noise of trainings is known too little. p
    is of all curves together."""
    parts = [(p, s, m, f) for (p, s), areas in e.areas.items() if s in RETRAINED for m, f in areas.items()]
    found = [
        (f"{data} {model} {study} {m}: +{100 * k.rise:.1f} from {100 * k.start:.0f} to {100 * k.end:.0f} %", k)
        for (data, model), study, m, f in parts
        if (k := f.leak) is not None
    ]
    curves = sum(len(f.seeds) >= FEW for *_, f in parts)
    enough = [(words, k, k.p * curves) for words, k in found if k.of >= FEW]
    sure = [f"{words} ({k.seeds} of {k.of} seeds, p = {p:.2g})" for words, k, p in enough if p <= 0.05]
    few = [f"with fewer than three seeds {words}" for words, k in found if k.of < FEW]
    unsure = [f"{words} (p = {p:.2g} among {curves} curves)" for words, _, p in enough if p > 0.05]
    none = ["no curve of three seeds or more rises"] if curves and not unsure else []
    places = [e.of(data, LSTM) for data in ("SST", "bAbI-1")]
    complete = all(found and all(len(f.seeds) >= FEW for f in found.values()) for found in places)
    return somewhere(sure, [*none, *unsure, *few], complete)


def recursion_matters(e: Evidence) -> Said:
    """On SST and on IMDB the area of some measure is higher with recursion, by the interval of the difference (four
    measures, Bonferroni)."""
    said, holds = [], []
    for data in ("SST", "IMDB"):
        plain, again = e.of(data, LSTM, "roar"), e.of(data, LSTM)
        if plain and again:
            orders = [e.ordered(again[m], plain[m], shared(again)) for m in again]
            holds.append(True if True in orders else False if False in orders else None)
            said += [f"{data}: {e.show(m, again[m])} recursive, {e.show(m, plain[m])} not" for m in again]
    return everywhere(holds, said, len(holds) == 2)


def sparsest(e: Evidence, data: str = "") -> tuple[list[dict[str, float]], list[str], list[bool]]:
    """Share of the mass in the top 10 % of words by measure, in words, and whether the place is one of `data`."""
    masses, said, wanted = [], [], []
    for (place, study), part in e.curves.items():
        mass = {m: values["share_10"] for m, values in part.sparsity.items() if m != "random"}
        if study == "recursive" and place[1] == LSTM and {ATTENTION, GRADIENT, IXG, IG} <= set(mass):
            masses.append(mass)
            said.append(f"{place[0]}: " + ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items()))
            wanted.append(place[0].startswith(data))
    return masses, said, wanted


def attention_sparsest(e: Evidence) -> Said:
    """Section 5.1: on most data sets, three or more, the top 10 % of words hold most of the mass for attention."""
    masses, said, _ = sparsest(e)
    return mostly([max(m, key=lambda k: m[k]) == ATTENTION for m in masses], said, len(masses) >= FEW)


def attention_sparsest_on_babi(e: Evidence) -> Said:
    """Appendix E: so on bAbI, and on most data sets, three or more, IG is the sparsest of the others."""
    masses, said, babi = sparsest(e, "bAbI")
    on_babi = [max(m, key=lambda k: m[k]) == ATTENTION for m, b in zip(masses, babi, strict=True) if b]
    rest = [max((k for k in m if k != ATTENTION), key=lambda k: m[k]) == IG for m in masses]
    if False in on_babi:
        return REFUTED, "; ".join(said)
    return mostly(rest, said, bool(on_babi) and len(masses) >= FEW)


def words_or_shares(e: Evidence) -> Said:
    """Two words at a time, up to ten, give every measure of SST the verdict that shares give it: surely above random,
    or surely below it."""
    counts, shares = e.of("SST", LSTM, "words"), e.of("SST", LSTM)
    both = [m for m in shares if m in counts]
    names = {True: "faithful", False: "worse than random", None: "not sure"}
    verdicts = [[e.faithful(found[m]) for found in (shares, counts)] for m in both]
    said = [f"{m}: {names[a]} by shares, {names[b]} by words" for m, (a, b) in zip(both, verdicts, strict=True)]
    return everywhere([None if None in pair else pair[0] == pair[1] for pair in verdicts], said, bool(both))


def synthetic(e: Evidence) -> Said:
    """Recursive ROAR's curve is the truth's; ROAR's is not."""
    truth, recursive, roar = (np.array(e.synthetic[p]) for p in ("truth", "recursive", "roar"))
    gap, other = np.abs(truth - recursive).max(), np.abs(truth - roar).max()
    words = f"largest difference from the truth {gap:.4f} with recursion, {other:.4f} without"
    return (CONFIRMED if gap < 0.01 < other else REFUTED), words


def who_is_best(e: Evidence) -> Said:
    """The paper's best measure beats the others: attention on SNLI, IG or input x gradient on SST (LSTM), IG on SNLI,
    gradient on bAbI-1 (transformer)."""
    wanted = {
        ("SNLI", LSTM): (ATTENTION,), ("SST", LSTM): (IG, IXG), ("SNLI", TRANSFORMER): (IG,),
        ("bAbI-1", TRANSFORMER): (GRADIENT,),
    }  # fmt: skip
    said, holds = [], []
    for place, names in wanted.items():
        if found := e.of(*place):
            rest = [f for m, f in found.items() if m not in names]
            over = [[e.ordered(found[n], f) for f in rest] for n in names]  # of each that is named, above the rest?
            best = any(all(row) for row in over)
            beaten = any(all(row[i] is False for row in over) for i in range(len(rest)))
            holds.append(True if best else False if beaten else None)
            said.append(f"{' '.join(place)}: {', '.join(e.show(m, f) for m, f in found.items())}")
        elif e.ran(*place):
            holds.append(None)
            said.append(f"{' '.join(place)}: not testable here, masking everything costs nothing that is not chance")
    return everywhere(holds, said, len(holds) == len(wanted))


def order_on_sst(e: Evidence) -> Said:
    """IG above input x gradient above attention above gradient, each by the interval of its difference."""
    found, names = e.of("SST", LSTM), (IG, IXG, ATTENTION, GRADIENT)
    if not found:
        return MISSING, ""
    holds = [e.ordered(found[a], found[b]) for a, b in pairwise(names)]
    order = " > ".join(sorted(names, key=lambda m: -found[m].value))
    gaps = [f"{a} - {b} {percent(e.gap(found[a], found[b]))}" for a, b in pairwise(names)]
    return everywhere(holds, [*(e.show(m, found[m]) for m in names), *gaps, f"by their means {order}"], True)


def ig_by_words(e: Evidence) -> Said:
    """Words instead of shares (two, on IMDB five at a time), with the LSTM: every measure beats IG on IMDB, and none
    beats it on bAbI-1, where it beats some other."""
    said, holds = [], []
    for data in ("IMDB", "bAbI-1"):
        found = e.of(data, LSTM, "words")
        if found:
            rest = [f for m, f in found.items() if m != IG]
            over = [e.ordered(f, found[IG], shared(rest)) for f in rest]
            lowest = False if False in over else True if all(over) else None
            among = False if True in over else True if False in over else None
            holds.append(lowest if data == "IMDB" else among)
            said.append(f"{data}: {', '.join(e.show(m, f) for m, f in found.items())}")
    return everywhere(holds, said, len(holds) == 2)


def top_ten(e: Evidence) -> Said:
    """On the longest texts (IMDB) the ten highest words hold less than nine tenths of the mass, whatever the measure;
    the line is ours, the paper's example of enough is 99 %."""
    part = e.curves.get((("IMDB", LSTM), "recursive"))
    if part is None or not part.sparsity:
        return MISSING, ""
    mass = {m: values["top_10"] for m, values in part.sparsity.items() if m != "random"}
    words = ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items())
    if not set(MEASURES[LSTM]) <= set(mass):
        return MISSING, words
    return (CONFIRMED if max(mass.values()) < 0.9 else REFUTED), words


CLAIMS: dict[str, tuple[str, Callable[[Evidence], Said]]] = {
    "1": ("Faithfulness depends on the model", model_dependent),
    "2": ("Faithfulness depends on the task", task_dependent),
    "3": ("Attention is among the best with the LSTM, except on SST", attention_among_the_best),
    "4": ("Integrated gradients are not generally better", ig_not_generally_better),
    "4b": ("They are the worst on bAbI with RoBERTa", ig_worst_on_babi),
    "5": ("The biggest drop tends to come within the first 10 to 20 %", drops_at_once),
    "6": ("Class leakage: curves may rise with more masking", leakage),
    "7": ("Recursion makes measures more faithful on SST and IMDB", recursion_matters),
    "8": ("Attention is the sparsest", attention_sparsest),
    "8b": ("Attention is the sparsest on bAbI, IG among the others", attention_sparsest_on_babi),
    "9": ("One token at a time leads to the same conclusions", words_or_shares),
    "10": ("Synthetic problem: Recursive ROAR is the truth", synthetic),
    "11": ("Which measure is best where", who_is_best),
    "12": ("One token at a time, LSTM: IG worst on IMDB, among the best on bAbI", ig_by_words),
    "13": ("The top ten tokens hold too little mass to mask by count", top_ten),
    "SST": ("The order on SST: IG, input x gradient, attention, gradient", order_on_sst),
}
