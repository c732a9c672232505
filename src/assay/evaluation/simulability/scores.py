"""Simulability of students: agreement with the teacher's classes, or Pearson's correlation with its scores."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assay.statistics.bootstrap import Interval
from assay.statistics.preferences.crossed import crossed_error

Reals = NDArray[np.float64]


def simulability(students: NDArray[np.generic], teacher: NDArray[np.generic]) -> Reals:
    """(S,) scores of S students whose outputs are (S,N).

    Classes (whole numbers): the share of texts on which student and teacher agree. Scores: Pearson's r.
    """
    return np.asarray(contributions(students, teacher).mean(1), np.float64)


def contributions(students: NDArray[np.generic], teacher: NDArray[np.generic]) -> Reals:
    """(S,N) what each text adds to each score: the mean over texts is the score, their spread is its error.

    Classes: 1 where both agree. Scores: r + z_x z_y - r (z_x² + z_y²) / 2, with r's influence function (Devlin et al.
    1975); 0 for a student, or a teacher, that always says the same.
    """
    if np.issubdtype(teacher.dtype, np.integer):
        return np.asarray(students == teacher, np.float64)
    x, y = (_standardised(np.asarray(rows, np.float64)) for rows in (students, teacher))
    r = (x * y).mean(1, keepdims=True)
    return np.asarray(r + x * y - r * (x**2 + y**2) / 2, np.float64)


def most_frequent(teacher: NDArray[np.generic]) -> float:
    """The score of whoever always gives the teacher's most frequent answer; 0 for scores."""
    return float(simulability(constant(teacher), teacher)[0])


def constant(teacher: NDArray[np.generic]) -> NDArray[np.generic]:
    """(1,N) what a student that learnt nothing might say: always the teacher's most frequent answer, or one score."""
    values, counts = np.unique(teacher, return_counts=True)
    return np.full((1, len(teacher)), values[counts.argmax()])


def learnt(students: Collection[NDArray[np.generic]], teacher: NDArray[np.generic]) -> bool:
    """Whether the students (S,N) of any method are clearly better than always giving one answer (Bonferroni)."""
    nothing, confidence = contributions(constant(teacher), teacher), 1 - 0.05 / max(len(students), 1)
    return any(over_seeds_and_texts(contributions(rows, teacher) - nothing, confidence).low > 0 for rows in students)


def silent(students: Iterable[NDArray[np.generic]]) -> bool:
    """Whether each of the students (S,N) of every method gives one answer to all texts, so that nothing was learnt."""
    return all(bool((rows == rows[:, :1]).all()) for rows in students)


def _standardised(rows: Reals) -> Reals:
    """Mean 0 and variance 1 along the last axis; all 0 where every value is the same."""
    centred = rows - rows.mean(-1, keepdims=True)
    deviation = centred.std(-1, keepdims=True)
    constant = deviation <= 1e-12 * (np.abs(rows).max(-1, keepdims=True) + 1)
    return np.asarray(np.where(constant, 0.0, centred / np.where(constant, 1.0, deviation)), np.float64)


def over_seeds_and_texts(
    parts: Reals, confidence: float = 0.95, limits: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """The mean of contributions (S,N) with its interval: other students might learn, on other texts.

    A t interval with students and texts crossed and one degree of freedom less than students: percentiles of a
    bootstrap over six students err more than twice as often as they say. One student tells nothing about others.
    Differences of two methods are given as differences, so they are paired. limits: the range of possible values.
    """
    students, texts = parts.shape
    mean = float(parts.mean())
    student, text = np.divmod(np.arange(parts.size), texts)
    error = crossed_error(((parts - mean) / parts.size).ravel(), student, text)
    half = 0.0 if error.variance == 0 else error.half_width(confidence)
    half = math.inf if math.isnan(half) else half
    return Interval(mean, max(limits[0], mean - half), min(limits[1], mean + half), students)


def detectable_mean(parts: Reals, confidence: float = 0.95, power: float = 0.8) -> float:
    """The smallest mean whose interval over students and texts would exclude 0 with this power; infinite for one."""
    bounds, df = over_seeds_and_texts(parts, confidence), min(parts.shape) - 1
    if df < 1:
        return math.inf
    half = (bounds.high - bounds.low) / 2
    return half * (1 + float(stdtrit(df, power) / stdtrit(df, (1 + confidence) / 2)))


def quartiles(scores: Reals) -> tuple[float, float, float]:
    """Median, lower and upper quartile over students (linear interpolation), as the paper reports them."""
    low, median, high = np.quantile(scores, [0.25, 0.5, 0.75])
    return float(median), float(low), float(high)
