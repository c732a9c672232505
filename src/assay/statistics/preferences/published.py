"""TrueSkill ratings of methods as Fernandes et al. (2022, appendix B) compute them, and their groups of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from assay.core.optional import optional
from assay.statistics.preferences.judgement import Judgement

MU, SIGMA = 0.0, 0.5  # of a method before any game; all else is the library's default
Z = float(ndtri(0.975))


@dataclass(frozen=True, slots=True)
class Rating:
    """A method's rating; `sigma` is what the paper reports as ±, `rank` a number or a range such as 3-4."""

    method: str
    mu: float
    sigma: float
    rank: str


def trueskill_ratings(judgements: Sequence[Judgement]) -> list[Rating]:
    """Each ranking is one game of all against all, in the order given; best method first (Herbrich et al. 2007).

    Weakness: later games weigh more, so the numbers depend on the order; and judgements of one participant or of one
    example count as independent, so the intervals are too narrow. `strengths` has neither weakness.
    """
    rules = optional("trueskill", "study").TrueSkill(mu=MU, sigma=SIGMA)
    ratings = {method: rules.create_rating() for row in judgements for method in row.ranks}
    for row in judgements:
        played = rules.rate([(ratings[method],) for method in row.ranks], ranks=list(row.ranks.values()))
        ratings.update((method, after) for method, (after,) in zip(row.ranks, played, strict=True))
    numbers = {method: (float(rating.mu), float(rating.sigma)) for method, rating in ratings.items()}
    ranks = rank_groups(numbers)
    best_first = sorted(numbers, key=lambda method: (-numbers[method][0], method))
    return [Rating(method, *numbers[method], ranks[method]) for method in best_first]


def rank_groups(ratings: dict[str, tuple[float, float]]) -> dict[str, str]:
    """Ranks from 95 % normal intervals, by upper end: a new rank starts below the smallest lower end seen so far."""
    ordered = sorted(ratings, key=lambda method: (-(ratings[method][0] + Z * ratings[method][1]), method))
    groups: list[list[str]] = []
    lowest = float("inf")
    for method in ordered:
        mu, sigma = ratings[method]
        if not groups or mu + Z * sigma < lowest:
            groups.append([])
        groups[-1].append(method)
        lowest = min(lowest, mu - Z * sigma)
    ranks: dict[str, str] = {}
    for group in groups:
        first, last = len(ranks) + 1, len(ranks) + len(group)
        ranks.update(dict.fromkeys(group, str(first) if first == last else f"{first}-{last}"))
    return ranks
