"""Synthetic rows: every number is set by a rule, so that each claim can be made true or false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..evidence import ARCHITECTURES, ATTACKS, ATTENTION, CONTROLS, LOGIT, RANKED, SHORT, SIZES, Evidence

GRIDS = (*SIZES, *ARCHITECTURES)
METRICS = ("ground_truth_overlap", "mean_rank_percentage", "comprehensiveness(protocol=thesis)", "sufficiency")
ATTACKED = ("gradient", "gradient_x_input", "integrated_gradients(steps=8)")
RANDOMISED = (*ATTACKED, "average_attention", "attention_rollout(residual=False)")
LAYERS = dict(zip(GRIDS, (2, 3, 4, 6, 8, 6, 6, 6), strict=True))
FLOOR = 0.1
Rule = Callable[..., float]  # of data, grid, method and measure


def evidence(
    score: Rule | None = None,
    rho: Rule | None = None,
    attack: Rule | None = None,
    passes: Rule | None = None,
    logit: Rule | None = None,
    ranked: Rule | None = None,
    output: Rule = lambda *_: 0.3,
    n: int = 40,
    data: tuple[str, ...] = ("sst",),
    runs: int = 2,
    planned: int = 2,
    binary: bool = False,
    apart: bool = False,
) -> Evidence:
    """Evidence whose cells have the means that the rules give; `binary`: an overlap is 0 or 1; `apart`: and methods
    fail on different examples."""
    rows = {d: [*_rows(d, score, rho, attack, logit, ranked, output, n, runs, binary, apart)] for d in data}
    sizes = {grid: 10.0**6 * 2**i for i, grid in enumerate(GRIDS)}
    models = [{"data": d, "grid": g, "model": f"{g}(seed={s})", "parameters": sizes[g], "layers": LAYERS[g], "base": g,
               "pretrained": g in ARCHITECTURES, "validation_accuracy": 1.0, "skipped": False}
              for d in data for g in GRIDS for s in range(runs)]  # fmt: skip
    counts = {} if passes is None else {(d, g, m): (passes(m), 0.0) for d in data for g in GRIDS for m in SHORT}
    floors = {(d, g): {str(i): FLOOR for i in range(n)} for d in data for g in GRIDS}
    studies = (*LOGIT, *LOGIT.values(), *ATTACKS.values(), CONTROLS, RANKED)
    trainings = {(d, study, g): planned for d in data for study in studies for g in GRIDS}
    return Evidence(rows, models, floors, counts, trainings)


def _rows(
    d: str,
    score: Any,
    rho: Any,
    attack: Any,
    logit: Any,
    ranked: Any,
    output: Any,
    n: int,
    runs: int,
    binary: bool,
    apart: bool,
) -> Iterator[dict[str, Any]]:
    for grid in GRIDS:
        for seed in range(runs):
            tags = {"model": f"{grid}(seed={seed})", "grid": grid, "seed": seed, "data": d}
            for study, rule in (("probability", score), ("logit", logit), (RANKED, ranked)):
                methods = (*ATTENTION, "random") if study == RANKED else SHORT
                for row in _scores(d, grid, methods if rule else (), rule, n, binary, apart):
                    control = row["method"].startswith("random") and study != RANKED
                    yield {**tags, "study": CONTROLS if control else study, **row}
            for row in _correlations(d, grid, rho, output) if rho else ():
                yield {**tags, "study": "randomisation", **row}
            for row in _attacks(d, grid, attack) if attack else ():
                yield {**tags, "study": "attack", **row}


def _scores(d: str, grid: str, methods: Any, rule: Any, n: int, binary: bool, apart: bool) -> Iterator[dict[str, Any]]:
    for method in methods:
        for metric in METRICS:
            value = rule(d, grid, method, metric.partition("(")[0])
            shift = 7 * list(SHORT).index(method) * apart
            whole = binary and metric == METRICS[0] and method != "random"
            for i, v in enumerate(_values(value, n, whole, shift)):
                yield {"method": f"{method}(samples=9)", "metric": metric, "example": str(i), "value": v}


def _correlations(d: str, grid: str, rho: Any, output: Any) -> Iterator[dict[str, Any]]:
    for method in RANDOMISED:
        for mode in ("cascading", "independent"):
            for block in range(LAYERS[grid]):
                step = LAYERS[grid] - block
                value = rho(d, grid, method.partition("(")[0], mode, step, LAYERS[grid])
                for i, v in enumerate(_values(value, 8, False, 0)):
                    yield {"method": method, "mode": mode, "block": block, "seed": 0, "example": str(i),
                           "spearman": v, "value": output(d, grid, mode, step)}  # fmt: skip


def _attacks(d: str, grid: str, attack: Any) -> Iterator[dict[str, Any]]:
    for method in ATTACKED:
        for objective in ("prediction_kept", "probability_matched"):
            p, r, s = (attack(d, grid, method.partition("(")[0], objective, x) for x in ("p", "rank", "sum"))
            for i in range(8):
                e = (i - 3.5) / 1000
                yield {"method": method, "objective": objective, "example": str(i), "rank_change": r + e,
                       "top_k_sum_change": s + e, "probability_change": p + e, "absolute_probability_change": p + e,
                       "succeeded": True}  # fmt: skip


def _values(mean: float, n: int, binary: bool, shift: int) -> list[float]:
    if binary:
        return [float((i + shift) % n < round(mean * n)) for i in range(n)]
    return [float(v) for v in mean + np.linspace(-0.01, 0.01, n)]
