"""Whether the model is a basis for ranking methods: not if it answers one class for all, or no better than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from assay.reports.symbols import format_interval
from assay.statistics.bootstrap import Interval
from assay.statistics.power import SMALL
from assay.studies.evaluate.evaluation import Evaluation

ENOUGH = 10  # with fewer texts, one answer for all may be right


def lack_of_basis(evaluation: Evaluation, performance: Mapping[str, Interval]) -> str:
    """Why no method can be called best, as the beginning of a sentence; empty if nothing is wrong with the model."""
    if len(evaluation.outputs) < ENOUGH:
        return ""
    if evaluation.model.task == "regression":
        return _constant_score(evaluation) or _unrelated_score(performance)
    return _one_class(evaluation) or _chance(evaluation, performance)


def _one_class(evaluation: Evaluation) -> str:
    predicted = set(evaluation.outputs.argmax(1).tolist())
    gold = {label for label in evaluation.gold if label is not None}
    if len(predicted) > 1 or gold == predicted:  # it is right to answer one class if there is no other
        return ""
    return f"The model predicts `{evaluation.model.labels[predicted.pop()]}` for every {_kind(evaluation)}"


def _chance(evaluation: Evaluation, performance: Mapping[str, Interval]) -> str:
    """Accuracy not above that of the most frequent label, and no order of the probabilities that would excuse it."""
    counts = Counter(label for label in evaluation.gold if label is not None)
    if len(counts) < 2 or counts.total() < SMALL:
        return ""
    (label, count), accuracy, auroc = counts.most_common(1)[0], performance["accuracy"], performance.get("auroc")
    if accuracy.low > count / counts.total() or (auroc is not None and auroc.low > 0.5):
        return ""
    return (
        f"The model is not clearly better than always answering `{evaluation.model.labels[int(label)]}` (accuracy "
        f"{_shown(accuracy)}, share of that label {count / counts.total():.2f})"
    )


def _constant_score(evaluation: Evaluation) -> str:
    constant = np.ptp(evaluation.outputs) == 0
    return f"The model gives every {_kind(evaluation)} the same score" if constant else ""


def _unrelated_score(performance: Mapping[str, Interval]) -> str:
    pearson = performance.get("pearson")
    if pearson is None or pearson.n < SMALL or pearson.low > 0:
        return ""
    return f"The model's scores do not clearly follow the gold scores (pearson {_shown(pearson)})"


def _shown(interval: Interval) -> str:
    return " ".join(format_interval(interval.value, interval.low, interval.high))


def _kind(evaluation: Evaluation) -> str:
    return "image" if evaluation.model.family.images else "text"
