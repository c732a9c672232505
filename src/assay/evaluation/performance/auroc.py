"""Area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import rankdata

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class Auroc:
    """the probability that an example of a class is given more probability of it than another; mean over classes."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", task="classification")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        probabilities = softmax(outputs.astype(np.float64), axis=-1)
        classes = [c for c in range(outputs.shape[-1]) if 0 < (gold == c).sum() < len(gold)]
        return float(np.mean([_area(probabilities[:, c], gold == c) for c in classes])) if classes else float("nan")


def _area(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Mann-Whitney: ties count half."""
    count = positive.sum()
    below = rankdata(scores)[positive].sum() - count * (count + 1) / 2
    return float(below / (count * (len(scores) - count)))
