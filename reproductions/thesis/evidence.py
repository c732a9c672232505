"""What the runs say: values per example of a model, method and metric, and how statements about them are judged."""

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
ATTACKED = (*GRADIENTS, "integrated_gradients")  # what depends on the scale, too
SHORT = {  # in this order they get their colours
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
    """The store lacks what a statement is about."""


class NotTestableError(Exception):
    """What a statement is about cannot be seen here, whatever is run."""


@dataclass(frozen=True)
class Part:
    """One statement of a claim with the number that decides it; None: not run yet, or not to be seen here at all."""

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
        """Paired by example, and by training where both have the same number of them."""
        common = [e for e in self.examples if e in set(other.examples)]
        mine, theirs = (c.values[:, [c.examples.index(e) for e in common]] for c in (self, other))
        if len(mine) != len(theirs):
            mine, theirs = mine.mean(0, keepdims=True), theirs.mean(0, keepdims=True)
        return Cell(tuple(common), mine - theirs)


@dataclass(frozen=True)
class Evidence:
    """Tidy rows of each data set ("sst", "mnli", "esnli"), the models, E[1/n] and the passes of each method."""

    rows: Mapping[str, Sequence[Row]]
    models: Sequence[Row] = ()
    floors: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (data, grid): mean rank % at best
    passes: Mapping[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)  # data, grid, method
    planned: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # (data, study, grid): trainings
    scale: Scale = "probability"  # of gradients
    lacking: dict[tuple[str, str, str], int] = field(default_factory=dict)  # trainings seen where fewer than planned

    def on(self, scale: Scale) -> Evidence:
        """The same with gradients of another scale."""
        return self._with(scale=scale)

    def fresh(self) -> Evidence:
        """The same with nothing asked yet, so that `lacking` is about what is asked from now on."""
        return self._with(lacking={})

    def _with(self, **changes: Any) -> Evidence:
        """A copy that shares what was sorted already."""
        other = replace(self, **changes)
        other.__dict__["_table"] = self._table
        return other

    def _study(self, study: str, method: str) -> str:
        """Where the numbers of a method are: gradients of the logit have runs of their own, all else is as it is."""
        return study if self.scale == "probability" or method not in ATTACKED else LOGIT[study]

    @cached_property
    def _table(self) -> dict[tuple[Any, ...], dict[str, dict[str, float]]]:
        """(data, study, grid, method, what...) -> training -> example -> value."""
        out: dict[tuple[Any, ...], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for data, rows in self.rows.items():
            for row in rows:
                for what, value in _numbers(row):
                    if value is not None:
                        key = (data, row["study"], row["grid"], bare(row["method"]), *what)
                        out[key][row["model"]][row["example"]] = float(value)
        return out

    def cell(self, data: str, study: str, grid: str, method: str, *what: Any) -> Cell:
        found = self._table.get((data, study, grid, method, *what))
        if not found:
            self._absent(data, grid)
            raise NotRunYetError(f"{data}, {study}: {method} on {grid}")
        if len(found) < self.planned.get((data, study, grid), 0):
            self.lacking[data, study, grid] = len(found)
        common = [e for e in next(iter(found.values())) if all(e in run for run in found.values())]
        return Cell(tuple(common), np.array([[run[e] for e in common] for run in found.values()]))

    def _absent(self, data: str, grid: str) -> None:
        """A model that did not learn its task is explained by nobody."""
        learnt = [r for r in self.models if r["data"] == data and r["grid"] == grid]
        if learnt and all(r["skipped"] for r in learnt):
            raise NotTestableError(f"{grid} did not learn {data}")

    def score(self, grid: str, method: str, metric: str, data: str = "sst") -> Cell:
        return self.cell(data, self._study("probability", method), grid, method, metric)

    def rho(self, grid: str, method: str, mode: str, data: str = "sst") -> list[Cell]:
        """From the last block to the first."""
        study = self._study("randomisation", method)
        blocks = sorted({k[5] for k in self._table if k[:5] == (data, study, grid, method, mode)}, reverse=True)
        if not blocks:
            self._absent(data, grid)
            raise NotRunYetError(f"{data}, {study} of {grid}")
        return [self.cell(data, study, grid, method, mode, block) for block in blocks]

    def attack(self, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Cell:
        return self.cell(data, self._study("attack", method), grid, method, objective, measure)

    def floor(self, grid: str, data: str = "sst") -> float:
        if (data, grid) not in self.floors:
            raise NotRunYetError(f"E[1/n] of {data} on {grid}")
        return self.floors[data, grid]


def bare(spec: str) -> str:
    return spec.partition("(")[0]


def _numbers(row: Row) -> Iterable[tuple[tuple[Any, ...], float | None]]:
    """What a row measures, with its value."""
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


def part(what: str, judge: Callable[[], tuple[str, bool]]) -> Part:
    """A statement, or that its runs are missing."""
    try:
        numbers, holds = judge()
    except NotRunYetError:
        return Part(f"{what}: not run yet", None)
    except NotTestableError as error:
        return Part(f"{what} {error}", None, testable=False)
    return Part(f"{what} {numbers}", holds)


def within(what: str, cell: Callable[[], Cell], low: float = -np.inf, high: float = np.inf) -> Part:
    """The interval over examples meets [low, high]: the data do not contradict it."""

    def judge() -> tuple[str, bool]:
        found = cell().interval
        return f"{show(found)} {_bounds(low, high)}", _low(found) <= high and _high(found) >= low

    return part(what, judge)


def above(what: str, first: Callable[[], Cell], second: Callable[[], Cell], by: float = 0.0) -> Part:
    """first - second > by: the whole paired interval, and every single training."""

    def judge() -> tuple[str, bool]:
        gap = first().minus(second())
        found, runs = gap.interval, gap.values.mean(1)
        agree = bool((runs > by).all())
        torn = "" if agree or len(runs) == 1 else f" (trainings {', '.join(f'{run:+.2f}' for run in runs)})"
        return f"{show(found, sign=True)} > {by:g}{torn}", bool(_low(found) > by) and agree

    return part(what, judge)


def not_above(what: str, first: Callable[[], Cell], second: Callable[[], Cell], by: float = 0.0) -> Part:
    """first - second is not shown to exceed `by`: the lower end of the paired interval is at or below it."""

    def judge() -> tuple[str, bool]:
        found = first().minus(second()).interval
        return f"{show(found, sign=True)} not > {by:g}", _low(found) <= by

    return part(what, judge)


def alike(what: str, first: Callable[[], Cell], second: Callable[[], Cell], margin: float) -> Part:
    """|first - second| <= margin: the whole paired interval lies inside."""

    def judge() -> tuple[str, bool]:
        found = first().minus(second()).interval
        return f"{show(found, sign=True)} in ±{margin:g}", -margin <= _low(found) and _high(found) <= margin

    return part(what, judge)


def show(found: Interval, *, sign: bool = False) -> str:
    form = "+.2f" if sign else ".2f"
    return f"{found.value:{form}} [{_low(found):{form}}, {_high(found):{form}}]"


def _low(found: Interval) -> float:
    return found.value if np.isnan(found.low) else found.low


def _high(found: Interval) -> float:
    return found.value if np.isnan(found.high) else found.high


def _bounds(low: float, high: float) -> str:
    if np.isinf(low):
        return f"≤ {high:.2g}"
    return f"≥ {low:.2g}" if np.isinf(high) else f"in {low:.2g} .. {high:.2g}"
