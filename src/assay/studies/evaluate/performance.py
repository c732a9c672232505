"""Performance of the model on the data, with intervals over examples."""

from __future__ import annotations

import numpy as np

from assay.core.rng import generator
from assay.evaluation import PERFORMANCE
from assay.statistics.bootstrap import Interval
from assay.statistics.proportion import proportion
from assay.studies.evaluate.evaluation import Evaluation

RESAMPLES = 1000
SHARES = ("accuracy", "micro_f1")  # of examples: 8 of 8 right has an interval too, which no resample shows


def performance(evaluation: Evaluation) -> dict[str, Interval]:
    """The measures of the model's task that are defined on these examples, with 95 % intervals over examples."""
    labelled = [i for i, gold in enumerate(evaluation.gold) if gold is not None]
    if not labelled:
        return {}
    outputs, gold = evaluation.outputs[labelled], np.array([evaluation.gold[i] for i in labelled])
    task = "regression" if evaluation.model.task == "regression" else "classification"
    metrics = {name: PERFORMANCE.make(name) for name in PERFORMANCE.names}
    n = len(labelled)
    draws = generator("performance", evaluation.settings["seed"]).integers(0, n, (RESAMPLES if n > 1 else 0, n))
    measures = {}
    for name, metric in metrics.items():
        if metric.facts.task != task:
            continue
        score = metric.score
        value = float(score(outputs, gold))
        if not np.isfinite(value):
            continue
        if name in SHARES:
            measures[name] = proportion(round(value * n), n)
            continue
        scores = np.array([score(outputs[i], gold[i]) for i in draws])
        scores = scores[np.isfinite(scores)]  # the area under the curve is undefined for a sample of one class
        low, high = np.quantile(scores, (0.025, 0.975)) if len(scores) else (np.nan, np.nan)
        measures[name] = Interval(value, float(low), float(high), n)
    return measures
