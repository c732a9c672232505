"""Claims about how few words hold how much of the mass of a measure.

Masses are means over the validation split, one per training; their intervals are for new trainings, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from assay.statistics.claims import Criterion, Statement
from assay.statistics.estimates import Estimate, Smallest

from ..evidence import ATTENTION, FEW, GRADIENT, IG, IXG, LSTM, MEASURES, Evidence
from .base import ABOVE, MARGIN, statement

WEIGHTED = "weighted IG"
DATA = ("SST", "bAbI-1", "SNLI", "IMDB")
NO_WEIGHTED = "the paper's IG is the weighted variant, which was not run here"
Masses = Mapping[str, list[float]]  # by measure, one number per seed


def masses(e: Evidence, data: str, name: str = "share_10") -> dict[str, list[float]]:
    """Shares of the mass by measure, weighted IG among them if it was run; empty unless all measures are there."""
    parts = [e.curves.get(((data, LSTM), study)) for study in ("recursive", "weighted")]
    found = {m: list(v[name]) for part in parts if part for m, v in part.masses.items() if m != "random" and name in v}
    return found if set(MEASURES[LSTM]) <= set(found) else {}


def published_ig(known: Masses) -> str:
    """The measure that stands for the paper's IG: the weighted variant, or the formula where that is not there."""
    return WEIGHTED if WEIGHTED in known else IG


def gap(e: Evidence, a: list[float], b: list[float]) -> Estimate:
    """a - b over shared trainings; its variance is pooled over all data sets, or its own if larger."""
    differences = [x - y for x, y in zip(a, b, strict=False)]
    return _mean(differences, _pooled(e, paired=True))


def _mean(values: list[float], pooled: float) -> Estimate:
    own = float(np.var(values, ddof=1)) if len(values) > 1 else 0.0
    return Estimate(float(np.mean(values)), max(pooled, own) / len(values), len(values))


def _pooled(e: Evidence, *, paired: bool) -> float:
    """Mean variance between trainings, of shares or of their differences; infinite if no data set has three seeds."""
    groups = [masses(e, data) for data in DATA]
    enough = [[np.array(v) for v in group.values() if len(v) >= FEW] for group in groups]
    series = (
        [a - b for group in enough for a, b in combinations(group, 2)]
        if paired
        else [s for group in enough for s in group]
    )
    return float(np.mean([s.var(ddof=1) for s in series])) if series else np.inf


def attention_sparsest(e: Evidence) -> list[Statement]:
    """On most data sets the top 10 % of words have the largest mass for attention (section 5.1)."""
    return [_attention(e, data) for data in DATA]


def _attention(e: Evidence, data: str) -> Statement:
    known = masses(e, data)
    rest = [m for m in (GRADIENT, IXG, published_ig(known)) if known]
    quantity = Smallest([gap(e, known[ATTENTION], known[m]) for m in rest]) if known else None
    return statement(f"{data}: attention is the sparsest", ABOVE, quantity, ran=False)


def ig_sparsest_of_the_others(e: Evidence) -> list[Statement]:
    """On bAbI attention is the sparsest; on most data sets IG, the weighted variant as in the paper, is the sparsest of
    the other measures (appendix E)."""
    return [_attention(e, "bAbI-1"), *(_ig(e, data, WEIGHTED) for data in DATA)]


def plain_ig_sparsest(e: Evidence) -> list[Statement]:
    """The same with IG by the formula."""
    return [_attention(e, "bAbI-1"), *(_ig(e, data, IG) for data in DATA)]


def _ig(e: Evidence, data: str, ig: str) -> Statement:
    known = masses(e, data)
    text = f"{data}: {ig} is the sparsest of the others"
    if known and ig not in known:
        return Statement(text, ABOVE, None, NO_WEIGHTED)
    quantity = Smallest([gap(e, known[ig], known[m]) for m in (GRADIENT, IXG)]) if known else None
    return statement(text, ABOVE, quantity, ran=False)


def top_ten(e: Evidence) -> list[Statement]:
    """On the longest texts (IMDB) the ten highest words hold less than half of the mass, whatever the measure."""
    return _top_ten(e, 0.5)


def top_ten_below_nine_tenths(e: Evidence) -> list[Statement]:
    """Less than 90 %."""
    return _top_ten(e, 0.9)


def top_ten_below_99(e: Evidence) -> list[Statement]:
    """Less than 99 %, the paper's example of enough."""
    return _top_ten(e, 0.99)


def _top_ten(e: Evidence, line: float) -> list[Statement]:
    known, pooled = masses(e, "IMDB", "top_10"), _pooled(e, paired=False)
    criterion = Criterion(high=line - MARGIN, margin=MARGIN)
    return [
        Statement(f"IMDB: {m}, top ten below {100 * line:.0f} %", criterion, _mean(known[m], pooled) if known else None)
        for m in MEASURES[LSTM]
    ]


SHORT = {IXG: "IxG", IG: "IG"}


def sparsity_here(e: Evidence) -> str:
    return "; ".join(f"{data}: {_shown(known)}" for data in DATA if (known := masses(e, data)))


def top_ten_here(e: Evidence) -> str:
    return _shown(masses(e, "IMDB", "top_10"))


def _shown(known: Masses) -> str:
    return ", ".join(f"{SHORT.get(m, m)} {100 * np.mean(v):.0f}" for m, v in known.items())
