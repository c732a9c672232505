"""Verdicts on the claims from hand-made evidence, for each outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.statistics.claims import Verdict, judge

from ..claims import CLAIMS
from ..evidence import Leaks
from .hand_made import (
    LEAK,
    LSTM,
    MINILM,
    NAMES,
    PAPER,
    RECURSIVE,
    ROAR,
    WORDS,
    area,
    evidence,
    lstm,
    minilm,
    with_curves,
)

YES, MOSTLY, NO, OPEN = Verdict.REPRODUCED, Verdict.LARGELY, Verdict.CONTRADICTED, Verdict.UNDECIDED
MISSING = Verdict.INCOMPLETE
UNSURE = lstm(0.3, 0.2, 0.2, 0.3, half=float("nan"))
VARY = {("SST", LSTM): lstm(*PAPER)}  # tells how much trainings vary
BEST = lstm(0.7, 0.5, 0.6, 0.3)
REST = {(data, LSTM): BEST for data in ("SNLI", "IMDB", "bAbI-1")}
THREE = ("SST", "bAbI-1", "SNLI")
ALL_WORDS = ("SST", "bAbI-1", "IMDB")
CASES = [  # claim, areas by data, model and study, verdict
    ("3", VARY | REST, YES),
    ("3", VARY | REST | {("SNLI", LSTM): UNSURE}, YES),  # three of three: SNLI cannot be tested
    ("3", VARY | {("bAbI-1", LSTM): BEST}, MISSING),
    ("3", VARY | REST | {("bAbI-1", LSTM): lstm(0.7, 0.9, 0.6, 0.3)}, MOSTLY),  # below another on one of four
    ("3", VARY | dict.fromkeys(REST, lstm(0.7, 0.9, 0.6, 0.3)), NO),
    ("3", VARY | dict.fromkeys(REST, lstm(0.7, 0.71, 0.7, 0.69)), OPEN),  # not below is not shown by not differing
    ("3", VARY | REST | {("bAbI-1", LSTM): {"attention": area(0.1)}}, MISSING),
    ("4", {(d, LSTM): BEST for d in THREE}, YES),
    ("4", VARY, MISSING),
    ("4", {(d, LSTM): lstm(0.9, 0.2, 0.2, 0.3) for d in THREE}, NO),
    ("4", {(d, LSTM): lstm(0.9, 0.2, 0.295, 0.3) for d in THREE}, OPEN),
    ("4b", {("bAbI-1", MINILM): minilm(0.6, 0.2)}, YES),
    ("4b", {("bAbI-1", MINILM): minilm(0.2, 0.6)}, NO),
    ("4b", {("bAbI-1", MINILM): minilm(0.22, 0.2, half=0.1)}, OPEN),
    ("4b", {("bAbI-1", MINILM): {"integrated gradients": area(0.2)}}, MISSING),
    ("6", {("SST", LSTM): {"gradient": area(0.1, leak=LEAK)}}, YES),
    ("6", {("SST", LSTM): lstm(*PAPER, leak=replace(LEAK, p=0.02))}, OPEN),  # one in four by chance
    ("6", {(d, LSTM): lstm(*PAPER) for d in THREE}, OPEN),  # no significant rise does not show that none rises
    ("6", VARY, MISSING),
    ("7", {(d, LSTM, *s): f for d in ("SST", "IMDB")
           for s, f in (((), lstm(*PAPER)), ((ROAR,), lstm(0, 0, 0, 0)))}, YES),
    ("7", {("SST", LSTM): lstm(0, 0, 0, 0), ("SST", LSTM, ROAR): lstm(*PAPER),
           ("IMDB", LSTM): lstm(*PAPER), ("IMDB", LSTM, ROAR): lstm(0, 0, 0, 0)}, NO),
    ("7", {("SST", LSTM): lstm(0.16, 0.08, 0.285, 0.38), ("SST", LSTM, ROAR): lstm(*PAPER),
           ("IMDB", LSTM): lstm(*PAPER), ("IMDB", LSTM, ROAR): lstm(0, 0, 0, 0)}, OPEN),
    ("7", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, ROAR): lstm(0, 0, 0, 0)}, MISSING),
    ("9", {(d, LSTM, *s): lstm(*PAPER) for d in ALL_WORDS for s in ((), (WORDS,))}, YES),
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): lstm(*PAPER)}, MISSING),  # all data sets, not SST alone
    ("9", {(d, LSTM, *s): f for d in ALL_WORDS
           for s, f in (((), lstm(*PAPER)), ((WORDS,), lstm(-0.1, -0.1, -0.1, 0.1)))}, NO),
    ("9", {(d, LSTM, *s): f for d in ALL_WORDS
           for s, f in (((), lstm(*PAPER)), ((WORDS,), lstm(0.02, 0.02, 0.3, 0.3)))}, OPEN),
    ("11", {("SNLI", LSTM): lstm(0.7, 0.1, 0.1, 0.2), ("SST", LSTM): lstm(*PAPER),
            ("SNLI", MINILM): minilm(0.1, 0.6), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, YES),
    ("11", {("SNLI", LSTM): lstm(0.7, 0.1, 0.1, 0.2), ("SST", LSTM): lstm(*PAPER),
            ("SNLI", MINILM): minilm(0.11, 0.1, half=0.3), ("bAbI-1", MINILM): minilm(0.1, 0.6)}, OPEN),
    ("11", {("SNLI", LSTM): lstm(0.2, 0.1, 0.1, 0.7), ("SST", LSTM): lstm(*PAPER),
            ("SNLI", MINILM): minilm(0.6, 0.1), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, NO),
    ("11", {("SNLI", LSTM): UNSURE, ("SST", LSTM): lstm(*PAPER),  # run, but not testable
            ("SNLI", MINILM): minilm(0.1, 0.6), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, YES),
    ("11", {("SNLI", LSTM): {"attention": area(-0.1)}, ("SST", LSTM): lstm(*PAPER)}, MISSING),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1)}, MISSING),  # bAbI is still to come
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1), ("bAbI-1", LSTM, WORDS): lstm(0.2, 0.1, 0.1, 0.5),
            **VARY}, YES),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1), ("bAbI-1", LSTM, WORDS): lstm(0.5, 0.1, 0.1, 0.1),
            **VARY}, NO),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1),
            ("bAbI-1", LSTM, WORDS): lstm(0.6, 0.3, 0.3, 0.5, half=0.6), **VARY}, OPEN),
    ("SST", VARY, YES),
    ("SST", {("SST", LSTM): lstm(0.157, 0.3, 0.28, 0.378)}, NO),
    ("SST", {("SST", LSTM): lstm(0.157, 0.076, 0.37, 0.378)}, OPEN),
    ("SST", {("SST", LSTM): UNSURE}, Verdict.NOT_TESTABLE),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "places", "verdict"), CASES)
def test_claims_follow_the_areas(claim, places, verdict):
    areas = {((data, model), (study or [RECURSIVE])[0]): measures for (data, model, *study), measures in places.items()}
    judged = CLAIMS[claim].judged(evidence(areas=areas))
    assert judged.verdict is verdict, [(f.statement.text, f.outcome, f.interval) for f in judged.findings]


@pytest.mark.parametrize(
    ("claim", "places", "verdict"),
    [
        ("1", {("SST", LSTM): lstm(*PAPER), ("SST", MINILM): minilm(0.5, 0.378)}, YES),
        ("1", {("SST", LSTM): lstm(*PAPER), ("SST", MINILM): minilm(0.076, 0.378)}, OPEN),
        ("1", {("SST", LSTM): lstm(*PAPER)}, MISSING),
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", LSTM): lstm(0.7, 0.076, 0.28, 0.378)}, YES),
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", MINILM): minilm(0.7, 0.7)}, MISSING),  # two models
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", LSTM): lstm(*PAPER)}, OPEN),
    ],
)
def test_claims_across_models_and_tasks_are_at_fifths(claim, places, verdict):
    areas = {(("SST", LSTM), RECURSIVE): lstm(*PAPER)}  # tells how much trainings vary
    assert CLAIMS[claim].judged(evidence(areas=areas, fifths=places)).verdict is verdict


def test_a_claim_that_needs_a_leaking_curve_is_fragile():
    """IG is beaten on bAbI-1 as measured; if the leak makes its area a bound, nothing is shown."""
    areas = {((data, LSTM), RECURSIVE): lstm(0.9, 0.27, 0.28, 0.3) for data in THREE}
    place = (("bAbI-1", LSTM), RECURSIVE)
    areas[place] = lstm(0.9, 0.5, 0.5, 0.1)
    e = evidence(areas=areas)
    assert not CLAIMS["4"].fragile(e)
    areas[place] = areas[place] | {"integrated gradients": area(0.1, leak=LEAK)}
    e = evidence(areas=areas)
    verdicts = {leaks: judged.verdict for leaks, judged in CLAIMS["4"].by_leaks(e).items()}
    assert verdicts == {Leaks.AS_MEASURED: YES, Leaks.BOUND: OPEN, Leaks.NOISE: OPEN}
    assert CLAIMS["4"].fragile(e)


def mass(*shares, seeds=3):
    """Trainings that move together, so that differences are certain."""
    series = {m: [s + 0.01 * i for i in range(seeds)] for m, s in zip((*NAMES, "weighted IG"), shares, strict=False)}
    return {m: {"share_10": v, "top_10": v} for m, v in series.items()}


def test_claims_about_sparsity():
    attention, other = mass(0.9, 0.2, 0.3, 0.4, 0.5), mass(0.1, 0.2, 0.6, 0.4, 0.3)

    def judged(claim, later=None, **masses):
        part = evidence(with_curves({data.replace("_", "-"): m for data, m in masses.items()}))
        return (judge(CLAIMS[claim].later[later](part)) if later else CLAIMS[claim].judged(part)).verdict

    assert judged("8", SST=attention, IMDB=attention, SNLI=attention, bAbI_1=attention) is YES
    assert judged("8", SST=attention, IMDB=attention, SNLI=other, bAbI_1=attention) is MOSTLY
    assert judged("8", SST=attention, IMDB=attention, SNLI=other, bAbI_1=other) is NO
    assert judged("8", SST=attention, IMDB=attention) is MISSING
    single = mass(0.9, 0.2, 0.3, 0.4, 0.5, seeds=1)
    assert judged("8", SST=single, IMDB=single, SNLI=single, bAbI_1=single) is OPEN, "nothing tells how trainings vary"
    assert judged("8b", SST=attention, IMDB=attention, SNLI=attention, bAbI_1=attention) is YES
    assert judged("8b", SST=other, IMDB=other, SNLI=attention, bAbI_1=attention) is NO
    plain = mass(0.9, 0.2, 0.3, 0.4)
    few = judged("8b", SST=plain, IMDB=plain, SNLI=plain, bAbI_1=plain)
    assert few is Verdict.NOT_TESTABLE, "without weighted IG only attention on bAbI is left, one statement of five"
    change = "IG by the formula instead of the weighted variant"
    assert judged("8b", change, SST=plain, IMDB=plain, SNLI=plain, bAbI_1=plain) is YES
    assert judged("8b", change, SST=other, IMDB=other, SNLI=plain, bAbI_1=plain) is NO
    low, high = mass(0.3, 0.2, 0.3, 0.4), mass(0.7, 0.2, 0.6, 0.7)
    assert judged("13", IMDB=low, SST=low) is YES
    assert judged("13", IMDB=high, SST=low) is NO
    assert judged("13", "90 % instead of half", IMDB=high, SST=low) is YES
    assert judged("13", SST=low) is MISSING


def test_when_curves_drop():
    """Twelve curves of ten texts each: the accuracy falls first, then, or at the end."""
    data, gold = ("SST", "IMDB", "SNLI"), np.zeros(10, int)

    def judged(*shapes, ratios=(0, 0.1, 0.3, 1), later=False):
        curves = with_curves({d: {} for d in data}, ratios)
        areas = {((d, LSTM), RECURSIVE): lstm(*PAPER) for d, _ in zip(data, shapes, strict=False)}
        for d, shape in zip(data, shapes, strict=False):
            wrong = (np.arange(10) >= np.array(shape)[:, None]).astype(int)[None]  # (1,I,10), so many are right
            key = ((d, LSTM), RECURSIVE)
            areas[key] = {m: replace(f, curve=tuple(np.array(shape) / 10)) for m, f in areas[key].items()}
            curves[key] = replace(curves[key], gold=gold, predicted=dict.fromkeys(NAMES, wrong))
        e = evidence(curves, areas)
        return CLAIMS["5"].by_later_criteria(e)["four ways of counting drops"] if later else CLAIMS["5"].judged(e)

    early, late, last = (9, 4, 3, 0), (9, 8, 2, 0), (9, 6, 5, 0)
    assert judged(early, early, early).verdict is YES
    assert judged(early, early).verdict is MISSING
    assert judged(late, late, late).verdict is YES  # from 10 % on
    assert judged(late, late, late, ratios=(0, 0.2, 0.4, 1)).verdict is NO
    assert judged(early, early, late, ratios=(0, 0.2, 0.4, 1)).verdict is OPEN  # 8 of 12
    assert judged(last, last, last).verdict is NO  # the last step counts
    assert judged(last, last, last, later=True).counts["holds"] == 2  # of four ways, those without the last step


def test_the_synthetic_problem():
    assert CLAIMS["10"].judged(evidence()).verdict is YES
    e = evidence()
    e.__dict__["synthetic"] = {**e.synthetic, "recursive": [1.0, 0.9]}
    assert CLAIMS["10"].judged(e).verdict is NO
