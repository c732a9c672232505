"""The claims of Madsen et al. 2022, each a function of the stored results; its docstring is the criterion.

A claim about several pairs divides the level by their number (Bonferroni). A claim that needs an undecided order is
undecided; a claim with missing runs is "not run yet".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np
from scipy.stats import binom

from assay.evaluation.roar.curves import curves as scores_of

from .evidence import (
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

CONFIRMED, REFUTED, UNDECIDED, MISSING = "confirmed", "refuted", "undecided", "not run yet"
Judgement = tuple[str, str]  # verdict and evidence


def somewhere(confirming: Sequence[str], examined: Sequence[str], complete: bool) -> Judgement:
    """A claim that a single case confirms."""
    if confirming:
        return CONFIRMED, "; ".join(confirming)
    return (UNDECIDED if complete else MISSING), "; ".join(examined)


def everywhere(holds: Sequence[bool | None], evidence: Sequence[str], complete: bool) -> Judgement:
    """A claim about all cases; None: undecided."""
    if False in holds:
        return REFUTED, "; ".join(evidence)
    verdict = MISSING if not complete else UNDECIDED if None in holds else CONFIRMED
    return verdict, "; ".join(evidence)


def mostly(holds: Sequence[bool], evidence: Sequence[str], complete: bool) -> Judgement:
    """A claim about most of a few data sets."""
    if not complete or not holds:
        return MISSING, "; ".join(evidence)
    surplus = 2 * sum(holds) - len(holds)
    return (CONFIRMED if surplus > 0 else REFUTED if surplus < 0 else UNDECIDED), "; ".join(evidence)


def tends(holds: Sequence[bool]) -> bool | None:
    """Whether it holds more often than not, by a sign test; None: undecided."""
    n, k = len(holds), sum(holds)
    return True if n and binom.sf(k - 1, n, 0.5) <= 0.05 else False if n and binom.cdf(k, n, 0.5) <= 0.05 else None


def model_dependent(e: Evidence) -> Judgement:
    """For some data set a measure's area differs between the LSTM and the transformer, both at 0, 20, ..., 100 %. The
    two models also differ in their training data."""
    pairs = [(d, e.fifths.get((d, LSTM), {}), e.fifths.get((d, TRANSFORMER), {})) for d in ("SST", "SNLI", "bAbI-1")]
    cases = [(d, m, a[m], b[m]) for d, a, b in pairs for m in sorted(set(a) & set(b))]
    texts = {c: f"{c[0]} {e.show(c[1], c[2])} with the LSTM, {e.show(c[1], c[3])} with MiniLM" for c in cases}
    differ = [texts[c] for c in cases if e.differ(c[2], c[3], shared(cases))]
    return somewhere(differ, list(texts.values()), all(e.ran(d, m, AT_FIFTHS) for d, *_ in pairs for m in MEASURES))


def task_dependent(e: Evidence) -> Judgement:
    """For some model a measure's area differs between two data sets, both at 0, 20, ..., 100 %."""
    cases = [
        (m, a, b, x[m], y[m])
        for (a, x), (b, y) in combinations(e.fifths.items(), 2)
        if a[1] == b[1]
        for m in sorted(set(x) & set(y))
    ]
    texts = {c: f"{c[1][0]} {e.show(c[0], c[3])}, {c[2][0]} {e.show(c[0], c[4])} ({c[1][1]})" for c in cases}
    differ = [texts[c] for c in cases if e.differ(c[3], c[4], shared(cases))]
    return somewhere(differ[:6], list(texts.values())[:6], bool(cases))


def attention_among_the_best(e: Evidence) -> Judgement:
    """With the LSTM no measure is above attention and some measure is below it; on SST some measure is above it."""
    evidence, holds = [], []
    for (data, model), areas in e.recursive.items():
        if model == LSTM:
            rest = {m: f for m, f in areas.items() if m != ATTENTION}
            others = {m: e.ordered(f, areas[ATTENTION], shared(rest)) for m, f in rest.items()}
            better = [m for m, above in others.items() if above]
            best = all(above is False for above in others.values())
            among_best = False if better else True if False in others.values() else None
            holds.append((True if better else False if best else None) if data == "SST" else among_best)
            above = ", ".join(better) or "none"
            evidence.append(f"{data}: {e.show(ATTENTION, areas[ATTENTION])}, above it: {above}")
    return everywhere(holds, evidence, all(e.ran(data, LSTM) for data in ("SST", "bAbI-1", "SNLI", "IMDB")))


def ig_not_generally_better(e: Evidence) -> Judgement:
    """For some data set and model gradient or input x gradient is above integrated gradients, for the gold or the
    predicted label. Refuted if integrated gradients are above both everywhere."""
    by_place = {(d, m, s): e.of(d, m, s) for (d, m), s in e.areas if s in ("recursive", "predicted")}
    complete_places = [
        (" ".join((d, m, *(["predicted"] * (s == "predicted")))), f) for (d, m, s), f in by_place.items() if f
    ]
    pairs = [(name, f, o) for name, f in complete_places for o in (GRADIENT, IXG) if o in f]
    above = [(name, f, o) for name, f, o in pairs if e.above(f[o], f[IG], shared(pairs))]
    confirming = [f"{name}: {e.show(o, f[o])} above {e.show(IG, f[IG])}" for name, f, o in above]
    examined = [f"{name}: {e.show(IG, f[IG])}, neither is above it" for name, f in complete_places]
    required = ("SST", "SNLI", "bAbI-1")
    complete = all(e.ran(d, LSTM) for d in required)
    if all(e.of(d, LSTM) for d in required) and all(e.above(f[IG], f[o], shared(pairs)) for _, f, o in pairs):
        return REFUTED, "; ".join(examined)
    return somewhere(confirming, examined, complete)


def ig_worst_on_babi(e: Evidence) -> Judgement:
    """With the transformer on bAbI-1 every other measure is above integrated gradients."""
    areas = e.of("bAbI-1", TRANSFORMER)
    if not areas:
        return MISSING, ""
    holds = [e.ordered(f, areas[IG]) for m, f in areas.items() if m != IG]
    return everywhere(holds, [e.show(m, f) for m, f in areas.items()], True)


def early_drop(e: Evidence) -> Judgement:
    """For faithful measures the largest drop in one step starts below 20 % masked (with steps of 20 %: at 0) more often
    than not (sign test), in four ways: by the task's score and by accuracy (macro-F1 falls to a third when a model
    predicts a single class), each without and with the last step, which all measures share. Needs three data sets."""
    if len({data for data, _ in e.recursive}) < FEW:
        return MISSING, ""
    evidence, holds = [], []
    for (data, model), areas in e.recursive.items():
        part = e.curves[(data, model), "recursive"]
        for measure in (m for m, f in areas.items() if e.faithful(f)):
            accuracy = scores_of(part.predicted[measure], part.gold, "accuracy")[0].mean(0)
            drops = [-np.diff(curve) for curve in (areas[measure].curve, accuracy)]
            starts = [part.ratios[int(np.argmax(d))] for drop in drops for d in (drop[:-1], drop)]
            holds.append([start < 0.2 for start in starts])
            evidence.append(f"{data} {model} {measure} {', '.join(f'{100 * start:.0f}' for start in starts)} %")
    ways = list(zip(*holds, strict=True))
    tendencies = {tends(way) for way in ways}
    names = ("by the task's score", "with the last step", "by accuracy", "with the last step")
    counts = ", ".join(f"{sum(way)} {name}" for way, name in zip(ways, names, strict=False))
    verdict = CONFIRMED if tendencies == {True} else REFUTED if tendencies == {False} else UNDECIDED
    return verdict, f"of {len(holds)} measures {counts or 'none'}; in this order, drops start at: {'; '.join(evidence)}"


def leakage(e: Evidence) -> Judgement:
    """With retraining the accuracy of some measure with three or more seeds rises significantly where that of random
    does not (here SST and bAbI-1 with the LSTM; fewer seeds say too little about the variance between trainings). p is
    corrected for the number of curves."""
    parts = [(p, s, m, f) for (p, s), areas in e.areas.items() if s in RETRAINED for m, f in areas.items()]
    leaks = [
        (f"{data} {model} {study} {m}: +{100 * k.rise:.1f} from {100 * k.start:.0f} to {100 * k.end:.0f} %", k)
        for (data, model), study, m, f in parts
        if (k := f.leak) is not None
    ]
    curves = sum(len(f.seeds) >= FEW for *_, f in parts)
    enough = [(text, k, k.p * curves) for text, k in leaks if k.of >= FEW]
    significant = [f"{text} ({k.seeds} of {k.of} seeds, p = {p:.2g})" for text, k, p in enough if p <= 0.05]
    few = [f"with fewer than three seeds {text}" for text, k in leaks if k.of < FEW]
    rest = [f"{text} (p = {p:.2g} among {curves} curves)" for text, _, p in enough if p > 0.05]
    none = ["no curve of three or more seeds rises"] if curves and not rest else []
    places = [e.of(data, LSTM) for data in ("SST", "bAbI-1")]
    complete = all(areas and all(len(f.seeds) >= FEW for f in areas.values()) for areas in places)
    return somewhere(significant, [*none, *rest, *few], complete)


def recursion_matters(e: Evidence) -> Judgement:
    """On SST and on IMDB the area of some measure is higher with recursion, by the interval of the difference (four
    measures, Bonferroni)."""
    evidence, holds = [], []
    for data in ("SST", "IMDB"):
        roar, recursive = e.of(data, LSTM, "roar"), e.of(data, LSTM)
        if roar and recursive:
            orders = [e.ordered(recursive[m], roar[m], shared(recursive)) for m in recursive]
            holds.append(True if True in orders else False if False in orders else None)
            evidence += [f"{data}: {e.show(m, recursive[m])} recursive, {e.show(m, roar[m])} not" for m in recursive]
    return everywhere(holds, evidence, len(holds) == 2)


def top_masses(e: Evidence, data: str = "") -> tuple[list[dict[str, float]], list[str], list[bool]]:
    """Per data set of the LSTM: the mass of the top 10 % of words by measure, as text, and whether it is `data`."""
    masses, evidence, selected = [], [], []
    for (place, study), part in e.curves.items():
        mass = {m: values["share_10"] for m, values in part.sparsity.items() if m != "random"}
        if study == "recursive" and place[1] == LSTM and {ATTENTION, GRADIENT, IXG, IG} <= set(mass):
            masses.append(mass)
            evidence.append(f"{place[0]}: " + ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items()))
            selected.append(place[0].startswith(data))
    return masses, evidence, selected


def attention_sparsest(e: Evidence) -> Judgement:
    """Section 5.1: on most of three or more data sets the top 10 % of words have the largest mass for attention."""
    masses, evidence, _ = top_masses(e)
    return mostly([max(m, key=lambda k: m[k]) == ATTENTION for m in masses], evidence, len(masses) >= FEW)


def attention_sparsest_on_babi(e: Evidence) -> Judgement:
    """Appendix E: the same on bAbI; on most of three or more data sets IG is the sparsest of the other measures."""
    masses, evidence, babi = top_masses(e, "bAbI")
    on_babi = [max(m, key=lambda k: m[k]) == ATTENTION for m, b in zip(masses, babi, strict=True) if b]
    rest = [max((k for k in m if k != ATTENTION), key=lambda k: m[k]) == IG for m in masses]
    if False in on_babi:
        return REFUTED, "; ".join(evidence)
    return mostly(rest, evidence, bool(on_babi) and len(masses) >= FEW)


def words_or_shares(e: Evidence) -> Judgement:
    """Masking two words at a time, up to ten, gives every measure on SST the same verdict as masking shares: above
    random, or below it."""
    counts, shares = e.of("SST", LSTM, "words"), e.of("SST", LSTM)
    both = [m for m in shares if m in counts]
    names = {True: "faithful", False: "worse than random", None: "undecided"}
    verdicts = [[e.faithful(areas[m]) for areas in (shares, counts)] for m in both]
    evidence = [f"{m}: {names[a]} by shares, {names[b]} by words" for m, (a, b) in zip(both, verdicts, strict=True)]
    return everywhere([None if None in pair else pair[0] == pair[1] for pair in verdicts], evidence, bool(both))


def synthetic(e: Evidence) -> Judgement:
    """The curve of Recursive ROAR equals that of the truth; the curve of ROAR does not."""
    truth, recursive, roar = (np.array(e.synthetic[p]) for p in ("truth", "recursive", "roar"))
    gap, other = np.abs(truth - recursive).max(), np.abs(truth - roar).max()
    evidence = f"largest difference from the truth {gap:.4f} with recursion, {other:.4f} without"
    return (CONFIRMED if gap < 0.01 < other else REFUTED), evidence


def best_measures(e: Evidence) -> Judgement:
    """The paper's best measure is above the others: attention on SNLI, IG or input x gradient on SST (LSTM), IG on
    SNLI, gradient on bAbI-1 (transformer)."""
    best = {
        ("SNLI", LSTM): (ATTENTION,), ("SST", LSTM): (IG, IXG), ("SNLI", TRANSFORMER): (IG,),
        ("bAbI-1", TRANSFORMER): (GRADIENT,),
    }  # fmt: skip
    evidence, holds = [], []
    for place, names in best.items():
        if areas := e.of(*place):
            rest = [f for m, f in areas.items() if m not in names]
            above = [[e.ordered(areas[n], f) for f in rest] for n in names]  # per named measure: above each other one?
            wins = any(all(row) for row in above)
            loses = any(all(row[i] is False for row in above) for i in range(len(rest)))
            holds.append(True if wins else False if loses else None)
            evidence.append(f"{' '.join(place)}: {', '.join(e.show(m, f) for m, f in areas.items())}")
        elif e.ran(*place):
            holds.append(None)
            evidence.append(
                f"{' '.join(place)}: not testable, masking all words does not lower the score significantly"
            )
    return everywhere(holds, evidence, len(holds) == len(best))


def order_on_sst(e: Evidence) -> Judgement:
    """IG above input x gradient above attention above gradient, each by the interval of the difference."""
    areas, names = e.of("SST", LSTM), (IG, IXG, ATTENTION, GRADIENT)
    if not areas:
        return MISSING, ""
    holds = [e.ordered(areas[a], areas[b]) for a, b in pairwise(names)]
    order = " > ".join(sorted(names, key=lambda m: -areas[m].value))
    gaps = [f"{a} - {b} {percent(e.gap(areas[a], areas[b]))}" for a, b in pairwise(names)]
    return everywhere(holds, [*(e.show(m, areas[m]) for m in names), *gaps, f"order of the means {order}"], True)


def ig_by_words(e: Evidence) -> Judgement:
    """Masking two words at a time (IMDB: five), with the LSTM: every measure is above IG on IMDB; on bAbI-1 none is
    above IG, and IG is above some other."""
    evidence, holds = [], []
    for data in ("IMDB", "bAbI-1"):
        areas = e.of(data, LSTM, "words")
        if areas:
            rest = [f for m, f in areas.items() if m != IG]
            above = [e.ordered(f, areas[IG], shared(rest)) for f in rest]
            worst = False if False in above else True if all(above) else None
            among_best = False if True in above else True if False in above else None
            holds.append(worst if data == "IMDB" else among_best)
            evidence.append(f"{data}: {', '.join(e.show(m, f) for m, f in areas.items())}")
    return everywhere(holds, evidence, len(holds) == 2)


def top_ten(e: Evidence) -> Judgement:
    """On the longest texts (IMDB) the top ten words hold less than 90 % of the mass for every measure. The threshold is
    ours; the paper's example of enough is 99 %."""
    part = e.curves.get((("IMDB", LSTM), "recursive"))
    if part is None or not part.sparsity:
        return MISSING, ""
    mass = {m: values["top_10"] for m, values in part.sparsity.items() if m != "random"}
    evidence = ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items())
    if not set(MEASURES[LSTM]) <= set(mass):
        return MISSING, evidence
    return (CONFIRMED if max(mass.values()) < 0.9 else REFUTED), evidence


CLAIMS: dict[str, tuple[str, Callable[[Evidence], Judgement]]] = {
    "1": ("Faithfulness depends on the model", model_dependent),
    "2": ("Faithfulness depends on the task", task_dependent),
    "3": ("Attention is among the best measures with the LSTM, except on SST", attention_among_the_best),
    "4": ("Integrated gradients are not generally better", ig_not_generally_better),
    "4b": ("They are the worst on bAbI with RoBERTa", ig_worst_on_babi),
    "5": ("The largest drop tends to come within the first 10 to 20 %", early_drop),
    "6": ("Class leakage: curves may rise with more masking", leakage),
    "7": ("Recursion makes measures more faithful on SST and IMDB", recursion_matters),
    "8": ("Attention is the sparsest", attention_sparsest),
    "8b": ("Attention is the sparsest on bAbI, IG among the others", attention_sparsest_on_babi),
    "9": ("Masking one token at a time leads to the same conclusions", words_or_shares),
    "10": ("Synthetic problem: Recursive ROAR recovers the truth", synthetic),
    "11": ("Which measure is best where", best_measures),
    "12": ("One token at a time, LSTM: IG worst on IMDB, among the best on bAbI", ig_by_words),
    "13": ("The top ten tokens hold too little mass to mask by count", top_ten),
    "SST": ("The order on SST: IG, input x gradient, attention, gradient", order_on_sst),
}
