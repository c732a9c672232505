"""A claim of the thesis, its readings, and helpers to make statements from the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.statistics.claims import Criterion, Judgement, Statement, judge
from assay.statistics.quantities import Quantity

from ..evidence import ARCHITECTURES, SHORT, SINGLE, Cell, Evidence, aligned, first_gap

GTO, RANK, COMP, SUFF = "ground_truth_overlap", "mean_rank_percentage", "comprehensiveness", "sufficiency"
WORDS = {GTO: "overlap", RANK: "mean rank %", COMP: "comp", SUFF: "suff"}
KEPT, MATCHED = "prediction_kept", "probability_matched"  # the thesis's "unconstrained" and "constrained"

MARGINS = {GTO: 0.05, RANK: 0.05, COMP: 0.02, SUFF: 0.02}  # differences below these do not matter
SLIGHT = 0.02  # of an overlap, where the thesis itself says "slightly"
SLACK = 0.05  # margin of bounds such as "at least 0.9"
NEAR = 0.1  # what "about" allows

PROBABILITY, LOGIT, RANKED, GRADIENT_STEP = "probability", "logit", "special tokens ranked", "gradient step"
FIRST, LATER = "first criterion", "later criterion"
CHANGES: Mapping[str, Mapping[str, str]] = {
    LOGIT: {"scale": "logit"},
    RANKED: {"special": "ranked"},
    GRADIENT_STEP: {"step": "gradient"},
}

STAND_INS = {
    "sizes": "T5 encoders trained from scratch (t5_1 to t5_4) for the efficient T5s of four sizes",
    "t5": "flan-T5-small for T5-base",
    "roberta": "granite-30M for RoBERTa-base",
    "llama": "a Llama of 15M parameters for GPT-2",
    "bert": "MiniLM for BERT-base",
}
Maker = Callable[..., Sequence[Statement]]  # of the evidence, and of `first` if there are two versions


@dataclass(frozen=True)
class Judged:
    """The judgement of a claim in one reading; `missing`: models with fewer trainings than planned."""

    claim: Claim
    reading: str
    judgement: Judgement
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim: the thesis's words and values, ours, and its statements. `version`: the criteria that count."""

    number: int
    title: str
    thesis: str
    here: Callable[[Evidence], str]
    make: Maker
    figures: tuple[str, ...]
    readings: tuple[str, ...] = ()  # besides the probability
    version: str = ""  # FIRST or LATER if its criteria were changed
    models: tuple[str, ...] = ()  # if not all that its figures show

    def statements(self, e: Evidence, version: str) -> Sequence[Statement]:
        return self.make(e, version == FIRST) if self.version else self.make(e)

    def judge(self, evidence: Evidence, reading: str = PROBABILITY) -> Judged:
        e = evidence.reading(**CHANGES.get(reading, {}))
        statements = self.statements(e, reading if reading in (FIRST, LATER) else self.version)
        missing = tuple(f"{' '.join(run)} {n} of {e.planned[run]}" for run, n in sorted(e.missing.items()))
        return Judged(self, reading, judge(statements), missing)

    @property
    def all_readings(self) -> tuple[str, ...]:
        other = {FIRST: (LATER,), LATER: (FIRST,)}.get(self.version, ())
        return (PROBABILITY, *self.readings, *other)

    @property
    def criterion(self) -> str:
        return " ".join((self.make.__doc__ or "").split())

    @property
    def stand_ins(self) -> str:
        """The models here that stand in for those of the thesis."""
        sizes, others = (any(f.startswith("sizes_") is size for f in self.figures) for size in (True, False))
        shown = (*("sizes",) * sizes, *ARCHITECTURES * others)
        return "; ".join(STAND_INS[model] for model in self.models or shown)

    @property
    def data(self) -> list[str]:
        """The data sets of the claim, from the names of its figures."""
        first = [figure.partition("_")[0] for figure in self.figures]
        return list(dict.fromkeys(word if word in ("mnli", "esnli") else "sst" for word in first))


CLAIMS: list[Claim] = []


def claim(
    number: int,
    title: str,
    *figures: str,
    thesis: str,
    here: Callable[[Evidence], str],
    readings: tuple[str, ...] = (),
    version: str = "",
    models: tuple[str, ...] = (),
) -> Callable[[Maker], Maker]:
    def add(make: Maker) -> Maker:
        CLAIMS.append(Claim(number, title, thesis, here, make, figures, readings, version, models))
        return make

    return add


# --- statements ------------------------------------------------------------------------------------------------------


def state(text: str, criterion: Criterion, cell: Cell) -> Statement:
    """A statement about a mean over examples."""
    return gap_statement(text, criterion, cell.gap) or Statement(text, criterion, cell.quantity)


def gap_statement(text: str, criterion: Criterion, gap: str | None) -> Statement | None:
    """The statement without a quantity, if there is a reason for it."""
    return None if gap is None else Statement(text, criterion, None, gap)


def difference(text: str, criterion: Criterion, first: Cell, second: Cell) -> Statement:
    return state(text, criterion, first.minus(second))


def derived(
    text: str, criterion: Criterion, cells: Sequence[Cell], statistic: Callable[[np.ndarray], np.ndarray]
) -> Statement:
    """A statement about a statistic of several means (K, ...) over the examples that all cells share."""
    if (missing := gap_statement(text, criterion, first_gap(cells) if cells else "")) is not None:
        return missing
    tables = aligned(cells)
    rows = np.array([table.mean(0) for table in tables])  # (K,n)

    def of(index: np.ndarray) -> np.ndarray:
        return statistic(np.stack([row[index.astype(int)].mean(-1) for row in rows]))

    trainings = {len(table) for table in tables}
    runs = (
        np.array([table.mean(1) for table in tables]) if trainings not in ({1}, set()) and len(trainings) == 1 else None
    )
    by_run = () if runs is None else tuple(float(v) for v in statistic(runs))
    return Statement(text, criterion, Quantity(np.arange(rows.shape[1], dtype=float), by_run, of))


# --- what the statements are about -----------------------------------------------------------------------------------


def name(grid: str, method: str, metric: str = "") -> str:
    return f"{SHORT[method]} {grid} {metric}".strip()


def best(e: Evidence, grid: str, metric: str, methods: Sequence[str] = SINGLE, data: str = "sst") -> tuple[str, Cell]:
    """The method with the best mean and its cell; sufficiency and rank are better when low. Noise is left out."""
    sign = -1 if metric in (SUFF, RANK) else 1
    cells = {m: e.score(grid, m, metric, data) for m in methods}
    tested = {m: cell for m, cell in cells.items() if not cell.gap}  # with values, or not run
    if not tested or any(cell.gap is not None for cell in tested.values()):
        return methods[0], Cell(gap=first_gap(cells.values()) if not tested else "")
    method = max(tested, key=lambda m: sign * tested[m].mean)
    return method, tested[method]


def span(cells: Iterable[Cell]) -> str:
    """From the lowest to the highest mean of the cells that have one."""
    means = [cell.mean for cell in cells if cell.gap is None]
    if not means:
        return "–"
    low, high = rounded(min(means)), rounded(max(means))
    return low if low == high else f"{low} to {high}"


def mean(cells: Iterable[Cell]) -> str:
    means = [cell.mean for cell in cells if cell.gap is None]
    return rounded(float(np.mean(means))) if means else "–"


def rounded(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # without a negative zero
