"""Forward simulation: do people guess the model's answer better with an explanation than without?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.statistics.bootstrap import Values
from assay.statistics.permutation import holm
from assay.statistics.preferences.contrasts import ALPHA
from assay.statistics.preferences.crossed import MOST, CrossedError, crossed_error
from assay.statistics.preferences.verdict_words import NOBODY_ELSE, percent
from assay.statistics.sentences import listed

NO_EXPLANATION = "no explanation"


@dataclass(frozen=True, slots=True)
class Guess:
    """One participant's guess of the model's answer to an example, with or without an explanation."""

    participant: str
    example: str
    condition: str  # a method, or NO_EXPLANATION
    correct: bool


@dataclass(frozen=True, slots=True)
class Simulatability:
    """How often guesses are right under one condition; intervals cover participants and examples."""

    condition: str
    value: float
    low: float
    high: float
    n: int
    gain: float  # over no explanation; NaN for that itself
    gain_low: float
    gain_high: float
    p: float  # Holm-adjusted
    participants_needed: int | None


def simulatability(guesses: Sequence[Guess]) -> list[Simulatability]:
    """The accuracy of guesses by condition, and its gain over no explanation, which comes first."""
    if not guesses:
        raise InputError("there are no guesses yet; results need at least one answer")
    conditions = sorted({guess.condition for guess in guesses} - {NO_EXPLANATION})
    table = _Table.of(guesses)
    if not (table.condition == NO_EXPLANATION).any():
        raise InputError("no guess was made without an explanation; there is nothing to compare with")
    effects = [table.effect(condition, NO_EXPLANATION) for condition in conditions]
    adjusted = holm([error.p(gain) for gain, error in effects])
    rows = [_row(table, NO_EXPLANATION, math.nan, None, math.nan, 1)]
    for condition, (gain, error), p in zip(conditions, effects, adjusted, strict=True):
        rows.append(_row(table, condition, gain, error, float(p), len(conditions)))
    return [rows[0], *sorted(rows[1:], key=lambda row: -row.value)]


def simulation_verdict(rows: Sequence[Simulatability], participants: int) -> list[str]:
    """Which explanations help or mislead, and what cannot be shown."""
    help_, harm, open_ = (
        [row for row in rows[1:] if (row.p <= ALPHA, row.gain > 0) in which]
        for which in ({(True, True)}, {(True, False)}, {(False, True), (False, False)})
    )
    sentences = [f"{_gains(help_)} help people to guess the model's answer."] if help_ else []
    sentences += [f"{_gains(harm)} make people's guesses worse."] if harm else []
    if len(rows) == 1:
        sentences.append("Nobody has guessed with an explanation yet.")
    return [*sentences, *([_not_shown(open_, participants)] if open_ else [])]


def _not_shown(rows: Sequence[Simulatability], participants: int) -> str:
    """Explanations without an effect, and how many participants the largest effect seen would need."""
    best = max(rows, key=lambda row: abs(row.gain))
    none = f"No effect can be shown for {listed([row.condition for row in rows])}"
    if best.gain == 0:
        return f"{none}: guesses are right as often with an explanation as without."
    if participants < 2:
        return f"{none}: {NOBODY_ELSE}."
    needed = best.participants_needed
    number = f"more than {MOST:,} participants or more examples" if needed is None else f"about {needed} participants"
    size = f"{best.condition}'s ({100 * best.gain:+.0f} points)"
    return f"{none}; for an effect as large as {size}, {number} would be needed."


def _gains(rows: Sequence[Simulatability]) -> str:
    shown = [f"{row.condition} ({percent(row.value)}, {100 * row.gain:+.0f} points)" for row in rows]
    return f"Explanations by {listed(shown)}"


@dataclass(frozen=True, eq=False)
class _Table:
    condition: NDArray[np.str_]
    correct: Values
    participant: NDArray[np.int64]
    example: NDArray[np.int64]

    @staticmethod
    def of(guesses: Sequence[Guess]) -> _Table:
        return _Table(
            np.array([guess.condition for guess in guesses]),
            np.array([float(guess.correct) for guess in guesses]),
            np.unique([guess.participant for guess in guesses], return_inverse=True)[1],
            np.unique([guess.example for guess in guesses], return_inverse=True)[1],
        )

    def effect(self, condition: str, control: str | None) -> tuple[float, CrossedError]:
        """The mean under a condition, or its difference to another, with its error."""
        influence, value = self._influence(condition)
        if control is not None:
            against, mean = self._influence(control)
            influence, value = influence - against, value - mean
        used = (self.condition == condition) | (self.condition == control)
        return value, crossed_error(influence[used], self.participant[used], self.example[used])

    def _influence(self, condition: str) -> tuple[Values, float]:
        own = self.condition == condition
        mean = float(self.correct[own].mean())
        return np.where(own, (self.correct - mean) / own.sum(), 0.0), mean


def _row(
    table: _Table, condition: str, gain: float, error: CrossedError | None, p: float, tests: int
) -> Simulatability:
    value, own = table.effect(condition, None)
    half, gain_half = own.half_width(), math.nan if error is None else error.half_width()
    return Simulatability(
        condition=condition,
        value=value,
        low=max(0.0, value - half) if math.isfinite(half) else math.nan,
        high=min(1.0, value + half) if math.isfinite(half) else math.nan,
        n=int((table.condition == condition).sum()),
        gain=gain,
        gain_low=gain - gain_half,
        gain_high=gain + gain_half,
        p=p,
        participants_needed=None if error is None or not gain else error.participants_needed(gain, alpha=ALPHA / tests),
    )
