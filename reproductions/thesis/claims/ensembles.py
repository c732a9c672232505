"""Claims 16 and 23: ensembles, and why they do not help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from assay.statistics.claims import Criterion, Statement
from assay.statistics.quantities import Quantity

from ..evidence import ARCHITECTURES, CAUSAL, SINGLE, SIZES, TOP, Evidence, Values, aligned
from .claim import COMP, GTO, LATER, LOGIT, MARGINS, RANK, SLACK, SUFF, WORDS, best, claim, mean, name, span, state

ENSEMBLES = ("thesis_top3", "thesis_all")
GRIDS = (*SIZES, *ARCHITECTURES)
FEW = 10  # with fewer failures their overlap says nothing


def _ensembles(e: Evidence) -> str:
    gaps = [
        best(e, g, GTO)[1].minus(e.score(g, m, GTO))
        for g in GRIDS
        for m in ENSEMBLES
        if (g, m) != (CAUSAL, "thesis_all")
    ]
    odd = best(e, CAUSAL, GTO)[1].minus(e.score(CAUSAL, "thesis_all", GTO))
    return f"overlap {span(gaps)} below the best method; all seven on the Llama {mean([odd])}"


@claim(
    16,
    "Ensembles equal the best method and improve nothing",
    "sizes_ensembles",
    "architectures_ensembles",
    thesis="overlap of the best method, but for all seven on GPT-2; comp and suff no better",
    here=_ensembles,
    version=LATER,
)
def ensembles_equal(e: Evidence, first: bool) -> list[Statement]:
    """Overlap of both ensembles at most 0.05 below the best single method on all eight models, except for the
    all-method ensemble on the causal model, which is at least 0.2 below it with a mean rank % ≤ 0.3 (margins 0.05); no
    ensemble has a comprehensiveness above, or a sufficiency below, that of the best single method (by more than 0.02).
    First: without the sufficiency."""
    out = []
    for g in GRIDS:
        for m in ENSEMBLES:
            odd = (g, m) == (CAUSAL, "thesis_all")
            equal = Criterion(low=0.2, margin=SLACK) if odd else Criterion.not_above(MARGINS[GTO])
            out.append(state(f"best - {name(g, m)} overlap", equal, best(e, g, GTO)[1].minus(e.score(g, m, GTO))))
            for metric, sign in ((COMP, 1),) if first else ((COMP, 1), (SUFF, -1)):
                gain = e.score(g, m, metric).minus(best(e, g, metric)[1]).times(sign)
                text = f"{name(g, m)} better than the best, {WORDS[metric]}"
                out.append(state(text, Criterion.not_above(MARGINS[metric]), gain))
            if odd:
                out.append(state(name(g, m, "mean rank %"), Criterion(high=0.3, margin=SLACK), e.score(g, m, RANK)))
    return out


def _shared(e: Evidence) -> str:
    parts = []
    for word, members in (("IG, LIME, SHAP", TOP), ("all seven", SINGLE)):
        pairs = _failing_pairs(e, members)
        if isinstance(pairs, str):
            parts.append(f"{word}: {pairs or 'not run'}")
        else:
            shared, chance = (float(value) for value in _jaccard(pairs, np.arange(pairs.shape[-1])))
            parts.append(f"{word}: {shared:.0%} of failures shared, {chance:.0%} if independent")
    return "; ".join(parts)


@claim(
    23,
    "Ensembles do not help because methods fail together",
    "sizes_ensembles",
    "architectures_ensembles",
    thesis="suggested, not measured",
    here=_shared,
    readings=(LOGIT,),
)
def shared_errors(e: Evidence) -> list[Statement]:
    """An error is an example whose cue is not ranked first. For the members of each ensemble (IG, LIME, SHAP; all
    seven), pooled over pairs and the models on which each of the two fails at least ten times: |both fail| / |one
    fails| is at least 0.05 above the value for independent failures, and at least 0.5 (our threshold; margin 0.05). Not
    testable without such a pair, because an ensemble then has nothing to repair."""
    out = []
    for word, members in (("IG, LIME, SHAP", TOP), ("all seven", SINGLE)):
        pairs = _failing_pairs(e, members)
        for text, criterion, part in (
            ("above independent failures", Criterion.above(0.05), lambda both: both[0] - both[1]),
            ("shared failures", Criterion(low=0.5, margin=SLACK), lambda both: both[0]),
        ):
            if isinstance(pairs, str):
                out.append(Statement(f"{word}: {text}", criterion, None, pairs))
                continue

            def of(index: np.ndarray, pairs: Values = pairs, part=part) -> np.ndarray:  # type: ignore[no-untyped-def]
                return part(_jaccard(pairs, index.astype(int)))

            examples = np.arange(pairs.shape[-1], dtype=float)
            out.append(Statement(f"{word}: {text}", criterion, Quantity(examples, (), of)))
    return out


def _failing_pairs(e: Evidence, members: Sequence[str]) -> Values | str:
    """(2,P,n): whether the first and the second method of each pair on one model fail; or why there is none."""
    cells = {(g, m): e.score(g, m, GTO) for g in GRIDS for m in members}
    known = {key: cell for key, cell in cells.items() if not cell.gap}
    if any(cell.gap is not None for cell in known.values()):
        return ""
    fails = {
        key: (1 - v.mean(0) > 0.5).astype(float) for key, v in zip(known, aligned(list(known.values())), strict=True)
    }
    often = {key: row for key, row in fails.items() if row.sum() >= FEW}  # fails in most trainings
    pairs = [(often[a], often[b]) for a, b in combinations(often, 2) if a[0] == b[0]]
    return np.array(pairs).transpose(1, 0, 2) if pairs else f"no two methods fail {FEW} times on one model"


def _jaccard(pairs: Values, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|both fail| / |one fails| over all pairs, and its value for independent failures, p q / (p + q - p q)."""
    shared, either, chance, by_chance = (np.zeros(index.shape[:-1]) for _ in range(4))
    for first, second in zip(*pairs, strict=True):  # one pair at a time, to save memory
        a, b = first[index], second[index]
        p, q, both = a.mean(-1), b.mean(-1), (a * b).mean(-1)
        shared, either = shared + both, either + p + q - both
        chance, by_chance = chance + p * q, by_chance + p + q - p * q
    return shared / np.maximum(either, 1e-12), chance / np.maximum(by_chance, 1e-12)
