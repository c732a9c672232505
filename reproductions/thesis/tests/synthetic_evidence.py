"""Synthetic rows: every number is set by a rule, so that each claim can be made true or false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..evidence import ARCHITECTURES, LOGIT, SHORT, SIZES, Evidence

GRIDS = (*SIZES, *ARCHITECTURES)
METRICS = ("ground_truth_overlap", "mean_rank_percentage", "comprehensiveness(protocol=thesis)", "sufficiency")
ATTACKED = ("gradient(reduction=sum)", "gradient_x_input", "integrated_gradients(steps=8)")
RANDOMISED = (*ATTACKED, "average_attention", "attention_rollout(residual=False)")
LAYERS = dict(zip(GRIDS, (2, 3, 4, 6, 8, 6, 6, 6), strict=True))
Rule = Callable[..., float]  # of data, grid, method and measure


def evidence(
    score: Rule | None = None,
    rho: Rule | None = None,
    attack: Rule | None = None,
    passes: Rule | None = None,
    logit: Rule | None = None,
    n: int = 40,
    data: tuple[str, ...] = ("sst",),
    runs: int = 2,
    planned: int = 2,
    apart: bool = False,
) -> Evidence:
    """Evidence whose cells have the means that the rules give; `apart`: methods fail on different examples."""
    rows = {d: [*_rows(d, score, rho, attack, logit, n, runs, apart)] for d in data}
    sizes = {grid: 10.0**6 * 2**i for i, grid in enumerate(GRIDS)}
    models = [{"data": d, "grid": g, "model": f"{g}(seed={s})", "parameters": sizes[g], "layers": LAYERS[g], "base": g,
               "pretrained": g in ARCHITECTURES, "validation_accuracy": 1.0, "skipped": False}
              for d in data for g in GRIDS for s in range(runs)]  # fmt: skip
    counts = {} if passes is None else {(d, g, m): (passes(m), 0.0) for d in data for g in GRIDS for m in SHORT}
    floors = {(d, g): 0.1 for d in data for g in GRIDS}
    trainings = {(d, study, g): planned for d in data for study in (*LOGIT, *LOGIT.values()) for g in GRIDS}
    return Evidence(rows, models, floors, counts, trainings)


def _rows(
    d: str, score: Any, rho: Any, attack: Any, logit: Any, n: int, runs: int, apart: bool
) -> Iterator[dict[str, Any]]:
    for grid in GRIDS:
        for seed in range(runs):
            tags = {"model": f"{grid}(seed={seed})", "grid": grid, "seed": seed, "data": d}
            for study, rule in (("probability", score), ("logit", logit)):
                for method in SHORT if rule else ():
                    for metric in METRICS:
                        value = rule(d, grid, method, metric.partition("(")[0])
                        for i, v in enumerate(
                            _values(value, n, metric == METRICS[0], 7 * list(SHORT).index(method) * apart)
                        ):
                            yield {**tags, "study": study, "method": f"{method}(samples=9)", "metric": metric,
                                   "example": str(i), "value": v}  # fmt: skip
            for method in RANDOMISED if rho else ():
                for mode in ("cascading", "independent"):
                    for block in range(LAYERS[grid]):
                        value = rho(d, grid, method.partition("(")[0], mode, LAYERS[grid] - block, LAYERS[grid])
                        for i, v in enumerate(_values(value, 8, False, 0)):
                            yield {**tags, "study": "randomisation", "method": method, "mode": mode, "block": block,
                                   "seed": 0, "example": str(i), "spearman": v, "value": 0.5}  # fmt: skip
            for method in ATTACKED if attack else ():
                for objective in ("prediction_kept", "probability_matched"):
                    p, r, s = (attack(d, grid, method.partition("(")[0], objective, x) for x in ("p", "rank", "sum"))
                    for i in range(8):
                        e = (i - 3.5) / 1000
                        yield {**tags, "study": "attack", "method": method, "objective": objective, "example": str(i),
                               "rank_change": r + e, "top_k_sum_change": s + e, "probability_change": p + e,
                               "absolute_probability_change": p + e}  # fmt: skip


def _values(mean: float, n: int, binary: bool, shift: int) -> list[float]:
    if binary:
        return [float((i + shift) % n < round(mean * n)) for i in range(n)]
    return [float(v) for v in mean + np.linspace(-0.01, 0.01, n)]
