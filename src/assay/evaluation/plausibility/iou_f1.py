"""IOU F1 against a rationale (ERASER)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.ndimage import label

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Bools, Example, Unit
from assay.evaluation.attribution_metric import Words, descending_order, scores_and_truth


@dataclass(frozen=True)
class IouF1:
    """F1 of spans of adjacent chosen units; a hit has an intersection over union above `overlap` with a rationale span.

    As many units are chosen as the rationale has. Weakness: scattered scores form no spans, whatever they mean.
    """

    overlap: float = 0.5
    words: Words = "none"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example, self.words)
        if pair is None:
            return None
        scores, truth = pair
        chosen = np.zeros(len(truth), bool)
        chosen[descending_order(scores)[: truth.sum()]] = True
        predicted, gold = (_parts(marked, attribution.units) for marked in (chosen, truth))
        hits = sum(any(len(a & b) / len(a | b) > self.overlap for b in gold) for a in predicted)
        recalled = sum(any(len(a & b) / len(a | b) > self.overlap for a in predicted) for b in gold)
        precision, recall = hits / len(predicted), recalled / len(gold)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _parts(marked: Bools, units: Sequence[Unit]) -> list[set[int]]:
    """Sets of adjacent marked units: runs of a text, or patches of an image that touch at a side."""
    boxes = [unit.box for unit in units if unit.box is not None]
    if not boxes:
        return _runs(marked)
    numbered, count = label(marked.reshape(-1, len({box[0] for box in boxes})))
    return [set(np.flatnonzero(numbered.ravel() == i + 1).tolist()) for i in range(count)]


def _runs(marked: Bools) -> list[set[int]]:
    """Runs of adjacent marked positions, as sets."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]])))
    return [set(range(start, end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]
