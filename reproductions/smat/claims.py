"""The six claims of the paper, and two of ours, each as statements about one number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from assay.evaluation.simulability.verdict import FEWEST
from assay.statistics.claims import Criterion, Judgement, Statement, judge
from assay.statistics.estimates import Measured
from assay.statistics.quantities import Quantity

from .evidence import NONE, NORMALISERS, Evidence, Gain
from .published import ALL, GRADIENTS, LAST, OWN, SMAT

CLASSES = ("sst", "cifar")  # Tables 1 and 3
EVERYWHERE = (*CLASSES, "mlqe")
STATIC = (ALL, LAST, *GRADIENTS)
MORE = {NONE, ALL, SMAT, OWN}  # run with more texts too (`more_texts`); the others only with the fewest
AUC = "auc(words=sum)"
MARGIN = 0.01  # of an agreement or a correlation: a smaller difference does not matter
CLOSE = 0.05  # of an AUC; the paper calls .73 and .75 similar


@dataclass(frozen=True)
class Claim:
    """A claim, where it is made, and what it says about the evidence."""

    number: int
    title: str
    source: str
    statements: Callable[[Evidence], Iterator[Statement]]

    def judge(self, e: Evidence) -> Judgement:
        return judge(list(self.statements(e)))


def _over(e: Evidence, data: str, method: str, other: str, criterion: Criterion) -> Iterator[Statement]:
    """One statement per number of texts that the plans run both with; one that was not run if there is none."""
    words = "is no better than" if criterion == Criterion.not_above(MARGIN) else "is better than"
    both = {name.removeprefix("shuffled ") for name in (method, other)} <= MORE
    for size in e.sizes(data)[: None if both else 1] or [0]:
        texts = f", {size:,} examples" if size else ""
        yield _students(f"{data}{texts}: {method} {words} {other}", criterion, e.gain(data, size, method, other))


def _students(text: str, criterion: Criterion, gain: Gain | None) -> Statement:
    """A statement about students; too few of them decide nothing, as in the study itself."""
    return _enough(text, criterion, gain, FEWEST if gain is None else gain.students, "students")


def _enough(text: str, criterion: Criterion, quantity: Measured | None, count: int, what: str) -> Statement:
    if count >= FEWEST:
        return Statement(text, criterion, quantity)
    return Statement(text, criterion, None, f"{count} {what}, and fewer than {FEWEST} decide nothing")


def smat_first(e: Evidence) -> Iterator[Statement]:
    for data in CLASSES:
        for other in (NONE, *STATIC):
            if other in (NONE, ALL) or data == "sst":  # the other static methods are run on SST only
                yield from _over(e, data, OWN, other, Criterion.above(0.0))


def attention_helps(e: Evidence) -> Iterator[Statement]:
    for data in EVERYWHERE:
        yield from _over(e, data, ALL, NONE, Criterion.above(0.0))
    few = min(e.sizes("sst"), default=0)
    gain = e.gain("sst", few, LAST, NONE)
    yield _students("sst, fewest examples: the last layer does not help", Criterion.not_above(MARGIN), gain)


def gradients(e: Evidence) -> Iterator[Statement]:
    few = min(e.sizes("sst"), default=0)
    yield from _over(e, "sst", "gradient", NONE, Criterion.not_above(MARGIN))
    for method in GRADIENTS[1:]:  # in the paper they help with its fewest texts, and hurt with more
        gain = e.gain("sst", few, method, NONE)
        yield _students(f"sst, fewest examples: {method} is better than none", Criterion.above(0.0), gain)
        text, why = f"sst, more examples: {method} is no better than none", "run with the fewest examples only"
        yield Statement(text, Criterion.not_above(MARGIN), None, why)
    yield from _over(e, "mlqe", "gradient", NONE, Criterion.above(0.0))


def plausible(e: Evidence) -> Iterator[Statement]:
    for other in STATIC:
        gap = e.more_plausible("movies", AUC, SMAT, other)
        yield Statement(f"movies: {SMAT} agrees better with rationales than {other}", Criterion.above(0.0), gap)
    gap = e.more_plausible("movies", AUC, SMAT, "best head (oracle)")
    yield Statement(f"movies: {SMAT} is as good as the best head chosen with labels", Criterion(low=-CLOSE), gap)
    reason = "needs people"
    yield Statement("people rank SMaT first", Criterion.above(0.0), None, reason)


def sparse(e: Evidence) -> Iterator[Statement]:
    few = min(e.sizes("sst"), default=0)
    for study in NORMALISERS:
        gap = e.between("sst", few, OWN, "students", study)
        yield _students(f"sst: sparsemax is better than {study}", Criterion.above(0.0), gap)
    grids = e.heads.get(("sst", "students"))
    shares = None if grids is None else Quantity((grids > 0).mean((1, 2)))
    yield Statement("sst: fewer than half of the heads are active", Criterion(high=0.5), shares)
    yield Statement("movies: active heads are more plausible than the others", Criterion.above(0.0), active_gap(e))


def active_gap(e: Evidence) -> Quantity | None:
    """Per text: the mean AUC of heads with a weight minus that of heads without."""
    row = next((row for row in e.oracle.get("agreement", ()) if row["data"] == "movies"), None)
    if row is None or "active" not in row:
        return None
    active, values = np.array(row["active"], bool).ravel(), np.array(row["heads"])  # (L*H,), (N,L*H)
    if active.all() or not active.any():
        return None
    return Quantity(values[:, active].mean(1) - values[:, ~active].mean(1))


def location(e: Evidence) -> Iterator[Statement]:
    """A contrast: if one task has too few fits, the other alone decides nothing."""
    grids = {data: e.heads.get((data, "students")) for data in ("cifar", "mlqe")}
    fewest = min((len(found) for found in grids.values() if found is not None), default=FEWEST)
    for data, criterion, words in (("cifar", Criterion.above(0.0), "late"), ("mlqe", Criterion(high=0.0), "early")):
        text = f"{data}: the weights of the heads are in {words} layers"
        yield _enough(text, criterion, lateness(grids[data]), fewest, "fits for one of the two tasks")


def lateness(grids: np.ndarray | None) -> Quantity | None:
    """Of each fit: where the weights are, from -1/2 (first layer) to 1/2 (last layer)."""
    if grids is None or grids.shape[1] < 2:
        return None
    layers = grids.sum(2)
    places = np.arange(layers.shape[1]) / (layers.shape[1] - 1) - 0.5
    return Quantity((layers * places).sum(1) / layers.sum(1))


def what_is_said_matters(e: Evidence) -> Iterator[Statement]:
    for data in EVERYWHERE:
        for method in (ALL, SMAT):
            yield from _over(e, data, method, f"shuffled {method}", Criterion.above(0.0))


def fresh_student(e: Evidence) -> Iterator[Statement]:
    for data in EVERYWHERE:
        yield from _over(e, data, SMAT, NONE, Criterion.above(0.0))


CLAIMS = (
    Claim(1, "students taught by SMaT predict the teacher best", "Tables 1 and 3", smat_first),
    Claim(
        2,
        "attention of all layers helps; with few texts, that of the last layer alone does not (IMDB)",
        "Tables 1, 3, 5",
        attention_helps,
    ),
    Claim(
        3,
        "gradients help at most with very few texts, but the L2 norm helps in quality estimation",
        "Tables 1, 5",
        gradients,
    ),
    Claim(4, "heads found by SMaT agree best with people", "Tables 2 and 4", plausible),
    Claim(
        5,
        "sparsemax is the best normaliser of head weights and leaves few heads, which are the plausible ones",
        "Table 7, Figure 5",
        sparse,
    ),
    Claim(
        6, "which layers teach depends on the task: late for images, early for quality estimation", "Figure 5", location
    ),
    Claim(7, "what an explanation says matters: the same shares, shuffled, teach less", "ours", what_is_said_matters),
    Claim(8, "SMaT's frozen heads help a fresh student, too", "ours", fresh_student),
)
