"""How well the model does on the data, with intervals: an explanation of a model that guesses explains a guess."""

from __future__ import annotations

import numpy as np

from assay.core.rng import generator
from assay.evaluation import PERFORMANCE
from assay.statistics.bootstrap import Interval
from assay.studies.evaluate.evaluation import Evaluation

RESAMPLES = 1000


def performance(evaluation: Evaluation) -> dict[str, Interval]:
    """The measures of the model's task that these examples define, with percentile intervals over the examples."""
    known = [i for i, gold in enumerate(evaluation.gold) if gold is not None]
    if not known:
        return {}
    outputs, gold = evaluation.outputs[known], np.array([evaluation.gold[i] for i in known])
    task = "regression" if evaluation.model.task == "regression" else "classification"
    names = [n for n in PERFORMANCE.names if PERFORMANCE.get(n).facts.task == task]
    n = len(known)
    draws = generator("performance", evaluation.settings["seed"]).integers(0, n, (RESAMPLES if n > 1 else 0, n))
    out = {}
    for name in names:
        score = PERFORMANCE.make(name).score
        value = float(score(outputs, gold))
        if not np.isfinite(value):
            continue
        found = np.array([score(outputs[i], gold[i]) for i in draws])
        found = found[np.isfinite(found)]  # a draw with one class only has no area under a curve
        low, high = np.quantile(found, (0.025, 0.975)) if len(found) else (np.nan, np.nan)
        out[name] = Interval(value, float(low), float(high), n)
    return out
