"""The claims of Madsen et al. 2022 (the fact sheet's section 8), each as a function of what the store holds.

A measure beats another if its interval over seeds and test examples lies above the other's. A claim whose runs are not
there is "not run yet".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from assay.evaluation.roar.synthetic import Synthetic
from assay.evaluation.roar.verdict import FAITHFUL, Faithfulness
from assay.experiments.roar import Curves

LSTM, TRANSFORMER = "LSTM", "transformer"
ATTENTION, GRADIENT, IXG, IG = "attention", "gradient", "input x gradient", "integrated gradients"
Place = tuple[str, str]  # data and model, as the paper calls them
Said = tuple[bool | None, str]  # whether it holds (None: not run yet), and the numbers


@dataclass(frozen=True)
class Evidence:
    """Curves and areas by (data, model) and study; methods have the paper's names."""

    curves: Mapping[tuple[Place, str], Curves]
    areas: Mapping[tuple[Place, str], Mapping[str, Faithfulness]]

    def of(self, data: str, model: str, study: str = "recursive") -> Mapping[str, Faithfulness]:
        return self.areas.get(((data, model), study), {})

    @property
    def recursive(self) -> dict[Place, Mapping[str, Faithfulness]]:
        return {place: found for (place, study), found in self.areas.items() if study == "recursive" and found}

    @cached_property
    def synthetic(self) -> dict[str, list[float]]:
        return {policy: Synthetic().curve(policy).tolist() for policy in ("truth", "recursive", "roar", "worst")}


def above(a: Faithfulness, b: Faithfulness) -> bool:
    return a.both.low > b.both.high


def show(name: str, f: Faithfulness) -> str:
    return f"{name} {100 * f.value:.1f} [{100 * f.both.low:.1f}, {100 * f.both.high:.1f}]"


def model_dependent(e: Evidence) -> Said:
    """For some data set a measure's area differs between the LSTM and the transformer."""
    pairs = [(d, e.of(d, LSTM), e.of(d, TRANSFORMER)) for d in ("SST", "SNLI", "bAbI-1")]
    known = [(d, m, a[m], b[m]) for d, a, b in pairs for m in set(a) & set(b)]
    differ = [x for x in known if above(x[2], x[3]) or above(x[3], x[2])]
    words = [f"{d} {show(m, a)} with the LSTM, {show(m, b)} with MiniLM" for d, m, a, b in sorted(differ or known)]
    return (bool(differ) if known else None), "; ".join(words)


def task_dependent(e: Evidence) -> Said:
    """For some model a measure's area differs between two data sets."""
    found = [
        (m, a, b, x[m], y[m])
        for (a, x), (b, y) in combinations(e.recursive.items(), 2)
        if a[1] == b[1]
        for m in set(x) & set(y)
    ]
    differ = [f for f in found if above(f[3], f[4]) or above(f[4], f[3])]
    words = [f"{a[0]} {show(m, x)}, {b[0]} {show(m, y)} ({a[1]})" for m, a, b, x, y in (differ or found)[:6]]
    return (bool(differ) if found else None), "; ".join(words)


def attention_among_the_best(e: Evidence) -> Said:
    """With the LSTM no measure beats attention, but on SST one does."""
    said, holds = [], []
    for (data, model), found in e.recursive.items():
        if model == LSTM and ATTENTION in found:
            better = [m for m in found if above(found[m], found[ATTENTION])]
            holds.append(bool(better) == (data == "SST"))
            said.append(f"{data}: {show(ATTENTION, found[ATTENTION])}, beaten by {', '.join(better) or 'none'}")
    return (all(holds) if holds else None), "; ".join(said)


def ig_not_generally_better(e: Evidence) -> Said:
    """Somewhere a measure beats integrated gradients."""
    found = [(place, f) for place, f in e.recursive.items() if IG in f]
    pairs = [(place, f, other) for place, f in found for other in f if above(f[other], f[IG])]
    beaten = [f"{d} {m}: {show(o, f[o])} over {show(IG, f[IG])}" for (d, m), f, o in pairs]
    said = beaten or [f"{d} {m}: {show(IG, f[IG])}, beaten by none" for (d, m), f in found]
    return (bool(beaten) if found else None), "; ".join(said)


def drops_at_once(e: Evidence) -> Said:
    """Of every faithful measure the largest drop of one step begins below 20 % masked."""
    said, holds = [], []
    for (data, model), found in e.recursive.items():
        ratios = e.curves[(data, model), "recursive"].ratios
        for measure, f in found.items():
            if f.verdict == FAITHFUL:
                start = ratios[int(np.argmax(-np.diff(f.curve)))]
                holds.append(start < 0.2)
                said.append(f"{data} {model} {measure}: from {100 * start:.0f} % on")
    return (all(holds) if holds else None), "; ".join(said)


def leakage(e: Evidence) -> Said:
    """A curve rises significantly somewhere."""
    found = [(*place, study, m, f.leak) for (place, study), areas in e.areas.items() for m, f in areas.items()]
    leaks = [
        f"{data} {model} {study} {m}: +{100 * k.rise:.1f} from {100 * k.start:.0f} to {100 * k.end:.0f} %"
        for data, model, study, m, k in found
        if k is not None
    ]
    return (bool(leaks) if e.areas else None), "; ".join(leaks) or ("no curve rises" if e.areas else "")


def recursion_matters(e: Evidence) -> Said:
    """On SST and IMDB an area or a verdict differs between ROAR and Recursive ROAR."""
    said, holds = [], []
    for data in ("SST", "IMDB"):
        plain, again = e.of(data, LSTM, "roar"), e.of(data, LSTM)
        both = [m for m in again if m in plain]
        differ = [m for m in both if above(plain[m], again[m]) or above(again[m], plain[m])]
        differ += [m for m in both if (plain[m].verdict == FAITHFUL) != (again[m].verdict == FAITHFUL)]
        if both:
            holds.append(bool(differ))
            said += [
                f"{data}: {show(m, again[m])} recursive, {show(m, plain[m])} not" for m in dict.fromkeys(differ or both)
            ]
    return (all(holds) if holds else None), "; ".join(said)


def sparsity(e: Evidence) -> Said:
    """The top 10 % of words hold most of the mass for attention on bAbI, and for IG among the others everywhere."""
    said, holds = [], []
    for (place, study), part in e.curves.items():
        mass = {m: values["share_10"] for m, values in part.sparsity.items()}
        if study != "recursive" or place[1] != LSTM or not {ATTENTION, GRADIENT, IXG, IG} <= set(mass):
            continue
        rest = {m: mass[m] for m in (GRADIENT, IXG, IG)}
        holds.append(max(rest, key=lambda m: rest[m]) == IG)
        if place[0].startswith("bAbI"):
            holds.append(mass[ATTENTION] > max(rest.values()))
        said.append(f"{place[0]}: " + ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items()))
    return (all(holds) if holds else None), "; ".join(said)


def one_token(e: Evidence) -> Said:
    """One word at a time gives every measure of SST the verdict that shares give it."""
    counts, shares = e.of("SST", LSTM, "one_token"), e.of("SST", LSTM)
    both = [m for m in shares if m in counts]
    said = [f"{m}: {shares[m].verdict} by shares, {counts[m].verdict} by words" for m in both]
    return (all(shares[m].verdict == counts[m].verdict for m in both) if both else None), "; ".join(said)


def synthetic(e: Evidence) -> Said:
    """Recursive ROAR's curve is the truth's; ROAR's is not."""
    truth, recursive, roar = (np.array(e.synthetic[p]) for p in ("truth", "recursive", "roar"))
    gap, other = np.abs(truth - recursive).max(), np.abs(truth - roar).max()
    words = f"largest difference from the truth {gap:.4f} with recursion, {other:.4f} without"
    return bool(gap < 0.01 < other), words


def who_is_best(e: Evidence) -> Said:
    """No measure beats the paper's best one: attention on SNLI, IG or input x gradient on SST (LSTM), IG on SNLI,
    gradient on bAbI-1 (transformer)."""
    wanted = {
        ("SNLI", LSTM): (ATTENTION,), ("SST", LSTM): (IG, IXG), ("SNLI", TRANSFORMER): (IG,),
        ("bAbI-1", TRANSFORMER): (GRADIENT,),
    }  # fmt: skip
    said, holds = [], []
    for place, names in wanted.items():
        found = e.of(*place)
        if found and set(names) & set(found):
            best = max(found, key=lambda m: found[m].value)
            holds.append(any(n in found and not above(found[best], found[n]) for n in names))
            said.append(f"{' '.join(place)}: {', '.join(show(m, f) for m, f in found.items())}")
    return (all(holds) if holds else None), "; ".join(said)


def order_on_sst(e: Evidence) -> Said:
    """IG above input x gradient above attention above gradient, by their means; intervals say how surely."""
    found = e.of("SST", LSTM)
    names = (IG, IXG, ATTENTION, GRADIENT)
    if not set(names) <= set(found):
        return None, ""
    values = [found[m].value for m in names]
    return values == sorted(values, reverse=True), "; ".join(show(m, found[m]) for m in names)


def ig_by_words(e: Evidence) -> Said:
    """One word at a time, with the LSTM: IG has the lowest area on IMDB, and no measure beats it on bAbI-1."""
    said, holds = [], []
    for data, judge in (("IMDB", _is_lowest), ("bAbI-1", _is_unbeaten)):
        found = e.of(data, LSTM, "one_token")
        if IG in found:
            holds.append(judge(found))
            said.append(f"{data}: {', '.join(show(m, f) for m, f in found.items())}")
    return (all(holds) if len(holds) == 2 else (False if False in holds else None)), "; ".join(said)


def _is_lowest(found: Mapping[str, Faithfulness]) -> bool:
    return min(found, key=lambda m: found[m].value) == IG


def _is_unbeaten(found: Mapping[str, Faithfulness]) -> bool:
    return not any(above(f, found[IG]) for f in found.values())


def top_ten(e: Evidence) -> Said:
    """On the longest texts (IMDB) the ten highest words hold less than half of the mass, whatever the measure."""
    part = e.curves.get((("IMDB", LSTM), "recursive"))
    if part is None or not part.sparsity:
        return None, ""
    mass = {m: values["top_10"] for m, values in part.sparsity.items() if m != "random"}
    return max(mass.values()) < 0.5, ", ".join(f"{m} {100 * v:.0f} %" for m, v in mass.items())


CLAIMS: dict[str, tuple[str, Callable[[Evidence], Said]]] = {
    "1": ("Faithfulness depends on the model", model_dependent),
    "2": ("Faithfulness depends on the task", task_dependent),
    "3": ("Attention is among the best with the LSTM, except on SST", attention_among_the_best),
    "4": ("Integrated gradients are not generally better", ig_not_generally_better),
    "5": ("The biggest drop comes within the first 10 to 20 %", drops_at_once),
    "6": ("Class leakage: curves may rise with more masking", leakage),
    "7": ("ROAR and Recursive ROAR differ", recursion_matters),
    "8": ("Attention is the sparsest on bAbI, IG among the others", sparsity),
    "9": ("One token at a time leads to the same conclusions", one_token),
    "10": ("Synthetic problem: Recursive ROAR is the truth", synthetic),
    "11": ("Which measure is best where", who_is_best),
    "12": ("One token at a time, LSTM: IG worst on IMDB, among the best on bAbI", ig_by_words),
    "13": ("The top ten tokens hold too little mass to mask by count", top_ten),
    "SST": ("The order on SST: IG, input x gradient, attention, gradient", order_on_sst),
}
