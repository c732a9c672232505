"""Hand-made areas and curves for the tests."""

from __future__ import annotations

import numpy as np

from assay.evaluation.roar.leak import Leak
from assay.evaluation.roar.verdict import Faithfulness
from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import Curves

from ..evidence import Evidence

STEPS = {"truth": [1.0, 0.5], "recursive": [1.0, 0.5], "roar": [1.0, 1.0], "worst": [1.0, 1.0]}


def evidence(curves=(), areas=(), fifths=()):
    e = Evidence(dict(curves), dict(areas), dict(fifths))
    e.__dict__["synthetic"] = STEPS  # computing it takes half a minute
    return e


def area(value, half=0.02, verdict="faithful", leak=None, curve=(0.9, 0.5, 0.4), seeds=5):
    """Five trainings with a standard deviation of 2 points, alike for all areas but for their mean."""
    span = Interval(value, value - half, value + half, seeds)
    drawn = tuple(np.random.default_rng(abs(int(1000 * np.nan_to_num(value)))).normal(value, half / 2, 400))
    trained = tuple(value + 0.02 * np.array([1.0, -1.0, 1.0, -1.0, 0.0])[:seeds])
    return Faithfulness(value, span, span, span, trained, verdict, leak, curve, (), drawn)


LSTM, MINILM = "LSTM", "transformer"
NAMES = ("attention", "gradient", "input x gradient", "integrated gradients")
PAPER = (0.157, 0.076, 0.28, 0.378)  # SST
RECURSIVE, ROAR, WORDS = "recursive", "roar", "words"
LEAK = Leak(0.2, 0.4, 0.1, 0.001, 2, 5)


def lstm(*values, **more):
    """Areas of attention, gradient, input x gradient and IG."""
    return {name: area(value, **more) for name, value in zip(NAMES, values, strict=True)}


def minilm(gradient, ig, **more):
    return {"gradient": area(gradient, **more), "integrated gradients": area(ig, **more)}


def with_curves(masses, ratios=(0, 0.1, 1)):
    """Curves of the LSTM on some data, of which only the sparsity and the ratios count."""
    empty = np.zeros(3, int)
    return {
        ((data, LSTM), RECURSIVE): Curves(
            RECURSIVE, "g", data, "b", "Recursive ROAR", True, list(ratios), empty, {}, {}, mass
        )
        for data, mass in masses.items()
    }
