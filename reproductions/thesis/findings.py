"""The findings at the top of the page. Every number and verdict in them is computed; the words follow the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.statistics.claims import Outcome, Verdict

from .claims import GTO, KEPT, RANK, Judged
from .claims.claim import COMP, FIRST, LATER, LOGIT, PROBABILITY, RANKED, best, span
from .evidence import ARCHITECTURES, ATTACKED, CAUSAL, NOISE, SIZES, SUCCESS, TOP, Cell, Evidence

Verdicts = Mapping[int, Mapping[str, Judged]]  # by claim and reading
BIDIRECTIONAL = tuple(g for g in (*SIZES, *ARCHITECTURES) if g != CAUSAL)
BORNE_OUT = (Verdict.REPRODUCED, Verdict.LARGELY)


def findings(e: Evidence, verdicts: Verdicts) -> list[str]:
    """About ten sentences; those whose runs are missing are left out."""
    makers = (_counts, _cue, _attention, _causal, _axes, _ensembles, _plausibility, _randomisation, _attacks, _scale,
              _noise, _criteria)  # fmt: skip
    return [text for make in makers if (text := make(e, verdicts))]


def _word(verdicts: Verdicts, number: int, reading: str = PROBABILITY) -> str:
    """The verdict with the share, e.g. "largely reproduced, 13 of 16"."""
    judgement = verdicts[number][reading].judgement
    held = f", {judgement.counts[Outcome.HOLDS]} of {judgement.tested}" if judgement.tested else ""
    return f"{judgement.verdict}{held}"


def _is(verdicts: Verdicts, number: int, *wanted: Verdict, reading: str = PROBABILITY) -> bool:
    return verdicts[number][reading].judgement.verdict in wanted


def _headline(verdicts: Verdicts, number: int, yes: str, no: str) -> str:
    """One of two sentences by the verdict on a claim, or that it is open."""
    if _is(verdicts, number, *BORNE_OUT):
        return f"**{yes}.**"
    return f"**{no}.**" if _is(verdicts, number, Verdict.CONTRADICTED) else f"**Open: {yes[0].lower()}{yes[1:]}?**"


def _mean(cells: Sequence[Cell]) -> float | None:
    """The mean over cells, or None while one was not run."""
    if any(cell.gap == "" for cell in cells):
        return None
    means = [cell.mean for cell in cells if cell.gap is None]
    return float(np.mean(means)) if means else None


def _counts(e: Evidence, verdicts: Verdicts) -> str:
    numbers: dict[Verdict, list[int]] = {verdict: [] for verdict in Verdict}
    for number, by_reading in verdicts.items():
        numbers[by_reading[PROBABILITY].judgement.verdict].append(number)
    parts = [f"{len(n)} {verdict} ({', '.join(map(str, n))})" for verdict, n in numbers.items() if n]
    return f"**Of twenty-five claims** {'; '.join(parts)}, explaining the probability, special tokens protected."


def _cue(e: Evidence, verdicts: Verdicts) -> str:
    cells = [e.score(g, m, GTO) for g in SIZES for m in TOP]
    if _mean(cells) is None:
        return ""
    methods = "The three best methods of the thesis, IG, LIME and SHAP,"
    head = _headline(
        verdicts, 1, f"{methods} find the cue at every size", f"{methods} do not find the cue at every size"
    )
    return (
        f"{head} Overlap {span(cells)}; claim 1: {_word(verdicts, 1)}. That they stay ahead of the others (claim 5): "
        f"{_word(verdicts, 5)}."
    )


def _attention(e: Evidence, verdicts: Verdicts) -> str:
    shares = []
    for reading in (e, e.reading(special="ranked")):
        for metric in (GTO, RANK):
            shares.append(_mean([reading.score(g, "average_attention", metric) for g in BIDIRECTIONAL]))
    if None in shares:
        return ""
    first, rank, ranked_first, ranked_rank = (float(share or 0) for share in shares)
    both = [f"claim {n}: {_word(verdicts, n, RANKED)} if ranked, {_word(verdicts, n)} if not" for n in (3, 10)]
    matter = "decides" if abs(first - ranked_first) >= 0.2 else "hardly changes"
    return (
        f"**Whether special tokens are ranked {matter} what attention finds.** On bidirectional models average "
        f"attention puts the cue first in {first:.0%} of texts if they are left out (mean rank {rank:.2f}), and in "
        f"{ranked_first:.0%} if they are ranked like words ({ranked_rank:.2f}). {_closer(verdicts)} "
        f"({'; '.join(both)})."
    )


def _closer(verdicts: Verdicts) -> str:
    """Which reading bears out more statements of the claims about attention."""
    held = [sum(verdicts[n][r].judgement.counts[Outcome.HOLDS] for n in (3, 10)) for r in (RANKED, PROBABILITY)]
    if held[0] == held[1]:
        return "The thesis does not say which it did, and both readings agree with it equally well"
    return f"The thesis does not say which it did; {'ranked' if held[0] > held[1] else 'left out'} is closer to it"


def _causal(e: Evidence, verdicts: Verdicts) -> str:
    gaps = [e.score(CAUSAL, m, COMP).minus(e.score(CAUSAL, "random", COMP)) for m in TOP]
    if _mean(gaps) is None:
        return ""
    model = "The causal model"
    head = _headline(
        verdicts, 11, f"{model} is an exception in faithfulness", f"{model} is no exception in faithfulness"
    )
    return (
        f"{head} On SST comprehensiveness of IG, LIME and SHAP is {span(gaps)} above random on the Llama; the thesis "
        f"saw no difference on GPT-2. Claim 11: {_word(verdicts, 11)}."
    )


def _axes(e: Evidence, verdicts: Verdicts) -> str:
    if _is(verdicts, 21, Verdict.INCOMPLETE):
        return ""
    head = _headline(
        verdicts, 21, "Architectures differ more than sizes", "Architectures do not differ more than sizes"
    )
    return f"{head} The thesis's headline, claim 21: {_word(verdicts, 21)}."


def _ensembles(e: Evidence, verdicts: Verdicts) -> str:
    if _is(verdicts, 16, Verdict.INCOMPLETE):
        return ""
    head = _headline(
        verdicts,
        16,
        "Ensembles are as good as the best method",
        "Ensembles are not as good as the best method, or better",
    )
    return f"{head} Claim 16: {_word(verdicts, 16)}; that methods fail together (23): {_word(verdicts, 23)}."


def _plausibility(e: Evidence, verdicts: Verdicts) -> str:
    cells = [best(e, g, GTO, data="esnli")[1] for g in ARCHITECTURES]
    if _mean(cells) is None:
        return ""
    as_there = "as in the thesis" if max(cell.mean for cell in cells) <= 0.5 else "more than in the thesis"
    return (
        f"**Plausibility is modest, {as_there}**: the best methods share {span(cells)} of their top words with the "
        f"annotators of e-SNLI (40 % there; claim 12 {_word(verdicts, 12)})."
    )


def _randomisation(e: Evidence, verdicts: Verdicts) -> str:
    if _is(verdicts, 13, Verdict.INCOMPLETE):
        return ""
    where = "Where re-initialised blocks destroy the model's output, gradient methods"
    head = _headline(verdicts, 13, f"{where} lose their correlation", f"{where} do not all lose their correlation")
    blocks = [block for g in (*SIZES, *ARCHITECTURES) for block in e.output(g, "independent")]
    needed = [block for g in (*SIZES, *ARCHITECTURES) for block in e.destroyed(g, "independent")]
    return (
        f"{head} Claim 13: {_word(verdicts, 13)}; over all blocks, whatever became of the output, the claim is "
        f"{_word(verdicts, 13, FIRST)}. On SST, {len(needed)} of {len(blocks)} blocks destroy the output alone."
    )


def _effect(e: Evidence, data: Sequence[str] = ("sst",)) -> float | None:
    return _mean([e.effect(g, m, KEPT, d) for d in data for g in (*SIZES, *ARCHITECTURES) for m in ATTACKED])


def _attacks(e: Evidence, verdicts: Verdicts) -> str:
    sign, raw = _effect(e), _effect(e.reading(step="gradient"))
    if sign is None:
        return ""
    before = "" if raw is None else f" (with the raw gradient step of the earlier page {raw:.0%})"
    return (
        f"**Attacks that follow the sign of the gradient** change the top words of {sign:.0%} of the SST inputs"
        f"{before}. That every explanation can be attacked and IG's ranks move least (claim 17): "
        f"{_word(verdicts, 17)}; on architectures (19): {_word(verdicts, 19)}."
    )


def _scale(e: Evidence, verdicts: Verdicts) -> str:
    """The earlier page concluded from attacks that failed that the thesis had differentiated the logit."""
    sign, logit = _effect(e), _effect(e.reading(scale="logit"))
    if sign is None or logit is None:
        return ""
    shares = " and ".join(f"{_word(verdicts, n)} (probability), {_word(verdicts, n, LOGIT)} (logit)" for n in (17, 19))
    if sign < SUCCESS <= logit:
        return (
            f"**Attacks work on the logit ({logit:.0%} of inputs) but not on the probability ({sign:.0%})**, which is "
            f"saturated; the thesis, which does not name its scale, reports large changes (claims 17 and 19: {shares})."
        )
    return (
        "**The earlier page concluded that the thesis had differentiated the logit; this no longer follows.** With the "
        f"sign step attacks change the top words of {sign:.0%} of inputs on the probability and {logit:.0%} on the "
        f"logit (claims 17 and 19: {shares})."
    )


def _noise(e: Evidence, verdicts: Verdicts) -> str:
    judged = [by_reading[PROBABILITY].judgement.findings for by_reading in verdicts.values()]
    count = sum(finding.statement.reason == NOISE for found in judged for finding in found)
    return (
        "**The signed sum of a gradient is rounding noise where a LayerNorm reads the embeddings** (BERT, RoBERTa, "
        f"also GPT-2): {count} statements about such numbers are not judged."
        if count
        else ""
    )


def _criteria(e: Evidence, verdicts: Verdicts) -> str:
    flips = flipped(verdicts)
    complete = [
        n for n, by in verdicts.items() if {FIRST, LATER} & set(by) and not _is(verdicts, n, Verdict.INCOMPLETE)
    ]
    if not complete:
        return ""
    which = "; ".join(flips.values()) or "none"
    return f"**Criteria that were changed after results were known** flip these verdicts: {which}."


def flipped(verdicts: Verdicts) -> dict[int, str]:
    """Claims whose verdict depends on the version of the criterion."""
    out = {}
    for number, by_reading in verdicts.items():
        for version in {FIRST, LATER} & set(by_reading):
            counts, other = (by_reading[r].judgement.verdict for r in (PROBABILITY, version))
            if counts != other and Verdict.INCOMPLETE not in (counts, other):
                out[number] = f"{number} ({counts}; {version} {other})"
    return out
