"""Values per example of every model, method and metric, and statements about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.statistics.bootstrap import Interval, interval

Values = NDArray[np.float64]
Row = Mapping[str, Any]
Scale = Literal["probability", "logit"]

SIZES = ("t5_1", "t5_2", "t5_3", "t5_4")  # smallest first
ARCHITECTURES = ("t5", "roberta", "llama", "bert")
CAUSAL = "llama"  # stands for GPT-2
NAMES = {"t5": "T5", "roberta": "RoBERTa", "llama": "Llama (for GPT-2)", "bert": "BERT"}
TOP = ("integrated_gradients", "lime", "kernel_shap")
GRADIENTS = ("gradient", "gradient_x_input")
ATTENTION = ("average_attention", "attention_rollout")
SINGLE = (*TOP, *GRADIENTS, *ATTENTION)
ATTACKED = (*GRADIENTS, "integrated_gradients")  # also the methods that depend on the scale
SHORT = {  # the order of the colours
    "gradient": "Grad",
    "integrated_gradients": "IG",
    "lime": "LIME",
    "kernel_shap": "SHAP",
    "gradient_x_input": "GxI",
    "average_attention": "AvgAtt",
    "thesis_top3": "Ens3",
    "attention_rollout": "Rollout",
    "thesis_all": "Ens7",
    "random": "random",
}
RESAMPLES = 2000
LOGIT = {"probability": "logit", "randomisation": "randomisation_logit", "attack": "attack_logit"}


class NotRunYetError(Exception):
    """The store lacks the runs of a statement."""


class NotTestableError(Exception):
    """No run of these plans can test a statement."""


@dataclass(frozen=True)
class Statement:
    """One statement of a claim with the number that decides it; `holds` is None if not run or not testable."""

    text: str
    holds: bool | None
    testable: bool = True


@dataclass(frozen=True)
class Cell:
    """Values of the same examples, one row per training: (R,n)."""

    examples: tuple[str, ...]
    values: Values

    @cached_property
    def interval(self) -> Interval:
        return interval(self.values.mean(0), resamples=RESAMPLES)

    def minus(self, other: Cell) -> Cell:
        """The difference, paired by example, and by training if both have the same number."""
        common = [e for e in self.examples if e in set(other.examples)]
        first, second = (c.values[:, [c.examples.index(e) for e in common]] for c in (self, other))
        if len(first) != len(second):
            first, second = first.mean(0, keepdims=True), second.mean(0, keepdims=True)
        return Cell(tuple(common), first - second)


@dataclass(frozen=True)
class Evidence:
    """Tidy rows of each data set ("sst", "mnli", "esnli"), the models, E[1/n] and the passes of each method."""

    rows: Mapping[str, Sequence[Row]]
    models: Sequence[Row] = ()
    floors: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (data, grid): best possible mean rank %
    passes: Mapping[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)  # data, grid, method
    planned: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # (data, study, grid): trainings
    scale: Scale = "probability"  # of gradients
    missing: dict[tuple[str, str, str], int] = field(default_factory=dict)  # trainings read, where fewer than planned

    def on(self, scale: Scale) -> Evidence:
        """The same evidence with gradients of another scale."""
        return self._with(scale=scale)

    def without_missing(self) -> Evidence:
        """The same evidence with an empty `missing`, to be filled by the next reads."""
        return self._with(missing={})

    def _with(self, **changes: Any) -> Evidence:
        """A copy that shares the table."""
        other = replace(self, **changes)
        other.__dict__["_table"] = self._table
        return other

    def _study(self, study: str, method: str) -> str:
        """The study with the numbers of a method: gradients of the logit have their own runs."""
        return study if self.scale == "probability" or method not in ATTACKED else LOGIT[study]

    @cached_property
    def _table(self) -> dict[tuple[Any, ...], dict[str, dict[str, float]]]:
        """(data, study, grid, method, measure...) -> training -> example -> value."""
        out: dict[tuple[Any, ...], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for data, rows in self.rows.items():
            for row in rows:
                for measure, value in _measures(row):
                    if value is not None:
                        key = (data, row["study"], row["grid"], bare(row["method"]), *measure)
                        out[key][row["model"]][row["example"]] = float(value)
        return out

    def cell(self, data: str, study: str, grid: str, method: str, *measure: Any) -> Cell:
        trainings = self._table.get((data, study, grid, method, *measure))
        if not trainings:
            self._check_learnt(data, grid)
            raise NotRunYetError(f"{data}, {study}: {method} on {grid}")
        if len(trainings) < self.planned.get((data, study, grid), 0):
            self.missing[data, study, grid] = len(trainings)
        runs = list(trainings.values())
        common = [e for e in runs[0] if all(e in run for run in runs)]
        return Cell(tuple(common), np.array([[run[e] for e in common] for run in runs]))

    def _check_learnt(self, data: str, grid: str) -> None:
        """Models that did not learn their task are not explained."""
        models = [r for r in self.models if r["data"] == data and r["grid"] == grid]
        if models and all(r["skipped"] for r in models):
            raise NotTestableError(f"{grid} did not learn {data}")

    def score(self, grid: str, method: str, metric: str, data: str = "sst") -> Cell:
        return self.cell(data, self._study("probability", method), grid, method, metric)

    def rho(self, grid: str, method: str, mode: str, data: str = "sst") -> list[Cell]:
        """Spearman correlations from the last block to the first."""
        study = self._study("randomisation", method)
        blocks = sorted({k[5] for k in self._table if k[:5] == (data, study, grid, method, mode)}, reverse=True)
        if not blocks:
            self._check_learnt(data, grid)
            raise NotRunYetError(f"{data}, {study} of {grid}")
        return [self.cell(data, study, grid, method, mode, block) for block in blocks]

    def attack(self, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Cell:
        return self.cell(data, self._study("attack", method), grid, method, objective, measure)

    def floor(self, grid: str, data: str = "sst") -> float:
        if (data, grid) not in self.floors:
            raise NotRunYetError(f"E[1/n] of {data} on {grid}")
        return self.floors[data, grid]


def bare(spec: str) -> str:
    """The name of a method without parameters; of an ensemble, that of its preset."""
    name, _, parameters = spec.partition("(")
    return parameters.partition(",")[0].rstrip(")") if name == "ensemble" else name


def _measures(row: Row) -> Iterable[tuple[tuple[Any, ...], float | None]]:
    """The measures of a row with their values."""
    if "method" not in row or "example" not in row:
        return
    if "mode" in row:
        yield (row["mode"], row["block"]), row["spearman"]
    elif "objective" in row:
        for measure in ("rank_change", "top_k_sum_change", "probability_change", "absolute_probability_change"):
            yield (row["objective"], measure), row[measure]
    else:
        yield (bare(row["metric"]),), row["value"]


# --- statements ------------------------------------------------------------------------------------------------------


def statement(text: str, judge: Callable[[], tuple[str, bool]]) -> Statement:
    """Judge a statement, or note that its runs are missing."""
    try:
        numbers, holds = judge()
    except NotRunYetError:
        return Statement(f"{text}: not run yet", None)
    except NotTestableError as error:
        return Statement(f"{text} {error}", None, testable=False)
    return Statement(f"{text} {numbers}", holds)


def within(text: str, cell: Callable[[], Cell], low: float = -np.inf, high: float = np.inf) -> Statement:
    """The interval over examples overlaps with [low, high]."""

    def judge() -> tuple[str, bool]:
        i = cell().interval
        return f"{show(i)} {_bounds(low, high)}", _low(i) <= high and _high(i) >= low

    return statement(text, judge)


def above(text: str, first: Callable[[], Cell], second: Callable[[], Cell], by: float = 0.0) -> Statement:
    """first - second > by, for the whole paired interval and for every training."""

    def judge() -> tuple[str, bool]:
        gap = first().minus(second())
        i, runs = gap.interval, gap.values.mean(1)
        agree = bool((runs > by).all())
        disagreement = "" if agree or len(runs) == 1 else f" (trainings {', '.join(f'{run:+.2f}' for run in runs)})"
        return f"{show(i, sign=True)} > {by:g}{disagreement}", bool(_low(i) > by) and agree

    return statement(text, judge)


def not_above(text: str, first: Callable[[], Cell], second: Callable[[], Cell], by: float = 0.0) -> Statement:
    """first - second does not significantly exceed `by`: the lower end of the paired interval is at or below it."""

    def judge() -> tuple[str, bool]:
        i = first().minus(second()).interval
        return f"{show(i, sign=True)} not > {by:g}", _low(i) <= by

    return statement(text, judge)


def alike(text: str, first: Callable[[], Cell], second: Callable[[], Cell], margin: float) -> Statement:
    """|first - second| <= margin: the whole paired interval lies inside."""

    def judge() -> tuple[str, bool]:
        i = first().minus(second()).interval
        return f"{show(i, sign=True)} in ±{margin:g}", -margin <= _low(i) and _high(i) <= margin

    return statement(text, judge)


def show(i: Interval, *, sign: bool = False) -> str:
    form = "+.2f" if sign else ".2f"
    return f"{i.value:{form}} [{_low(i):{form}}, {_high(i):{form}}]"


def _low(i: Interval) -> float:
    return i.value if np.isnan(i.low) else i.low


def _high(i: Interval) -> float:
    return i.value if np.isnan(i.high) else i.high


def _bounds(low: float, high: float) -> str:
    if np.isinf(low):
        return f"≤ {high:.2g}"
    return f"≥ {low:.2g}" if np.isinf(high) else f"in {low:.2g} .. {high:.2g}"
