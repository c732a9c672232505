"""Which of two methods is preferred, for every pair: by these participants, and by people in general."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.statistics.bootstrap import Values
from assay.statistics.permutation import holm, sign_flips_together
from assay.statistics.preferences.crossed import CrossedError, crossed_error
from assay.statistics.preferences.judgement import Judgements

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two methods, the more preferred one first. The p-values are adjusted for the number of pairs.

    p_participants: these participants on other examples like these. p_people: other participants on other examples.
    """

    preferred: str
    other: str
    wins: float  # share of judgements that rank `preferred` better
    losses: float
    n: int
    low: float  # 95 % interval of wins - losses over participants and examples; NaN with one participant
    high: float
    p_participants: float
    p_people: float
    participants_needed: int | None  # to show a difference of this size; None: more than 1,000, or more examples

    @property
    def difference(self) -> float:
        return self.wins - self.losses

    @property
    def shown(self) -> Literal["people", "participants"] | None:
        """For whom the preference is shown at the level 0.05."""
        if self.p_participants > ALPHA:
            return None
        return "people" if self.p_people <= ALPHA else "participants"


def contrasts(judgements: Judgements, *, seed: int = 0) -> list[Contrast]:
    """Every pair of methods that was judged together, largest difference first.

    A judgement counts 1 if it ranks a before b, -1 if after, 0 for a tie. Participants: a sign-flip test of the means
    over the participants of each example. People: a t test whose error covers participants and examples, with Holm's
    correction.
    """
    signs = [np.sign(judgements.ranks[:, b] - judgements.ranks[:, a]) for a, b in judgements.pairs]
    pairs = [(pair, sign) for pair, sign in zip(judgements.pairs, signs, strict=True) if np.isfinite(sign).any()]
    if not pairs:
        return []
    errors = [_error(judgements, sign) for _, sign in pairs]
    means = [float(np.nanmean(sign)) for _, sign in pairs]
    p_participants = sign_flips_together([_by_example(judgements, sign) for _, sign in pairs], seed=seed)
    p_people = holm([error.p(mean) for error, mean in zip(errors, means, strict=True)])
    out = [
        _contrast(judgements, pair, sign, errors[i], float(p_participants[i]), float(p_people[i]), len(pairs))
        for i, (pair, sign) in enumerate(pairs)
    ]
    return sorted(out, key=lambda contrast: -contrast.difference)


def _contrast(
    judgements: Judgements,
    pair: tuple[int, int],
    sign: Values,
    error: CrossedError,
    p_participants: float,
    p_people: float,
    tests: int,
) -> Contrast:
    judged = sign[np.isfinite(sign)]
    mean = float(judged.mean())
    turned = -1 if mean < 0 else 1
    first, second = (judgements.methods[i] for i in pair[::turned])
    half = error.half_width()
    return Contrast(
        preferred=first,
        other=second,
        wins=float((judged == turned).mean()),
        losses=float((judged == -turned).mean()),
        n=len(judged),
        low=max(-1.0, abs(mean) - half) if math.isfinite(half) else math.nan,
        high=min(1.0, abs(mean) + half) if math.isfinite(half) else math.nan,
        p_participants=p_participants,
        p_people=p_people,
        participants_needed=error.participants_needed(mean, alpha=ALPHA / tests) if mean else None,
    )


def _error(judgements: Judgements, sign: Values) -> CrossedError:
    judged = np.isfinite(sign)
    values = sign[judged]
    influence = (values - values.mean()) / len(values)
    return crossed_error(influence, judgements.participant[judged], judgements.example[judged])


def _by_example(judgements: Judgements, sign: Values) -> Values:
    """The mean over the participants of each example, (E,); 0, which no test counts, where it was not judged."""
    judged = np.isfinite(sign)
    example, n = judgements.example[judged], len(judgements.examples)
    total, count = np.bincount(example, sign[judged], n), np.bincount(example, minlength=n)
    means: Values = np.divide(total, count, out=np.zeros(n), where=count > 0)
    return means
