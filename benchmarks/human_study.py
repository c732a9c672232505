"""The analysis of human studies on simulated rankings, as docs/guides/human_study.md shows it.

Rankings are drawn from known strengths (Plackett-Luce, one in ten neighbours tied); no person took part.

    python benchmarks/human_study.py
"""

from __future__ import annotations

import numpy as np

from assay.statistics.preferences.agreement import kendall_w, krippendorff_alpha
from assay.statistics.preferences.contrasts import contrasts
from assay.statistics.preferences.judgement import Judgement, Judgements, competition_ranks
from assay.statistics.preferences.luce import strengths
from assay.statistics.preferences.published import trueskill_ratings
from assay.statistics.preferences.verdict_words import preference_verdict

TRUTH = {"gradient_x_input": -0.8, "integrated_gradients": -0.6, "average_attention": 0.3, "smat": 1.1}
STUDIES = 400


def simulated(log_alpha: np.ndarray, participants: int, examples: int, seed: int) -> Judgements:
    rng = np.random.default_rng(seed)
    rows = []
    for participant in range(participants):
        for example in range(examples):
            order = np.argsort(-(log_alpha + rng.gumbel(size=len(log_alpha))))
            steps = np.cumsum([0, *(rng.random(len(order) - 1) >= 0.1)])
            place = np.empty(len(order))
            place[order] = steps
            ranks = dict(zip(TRUTH, competition_ranks(place.tolist()), strict=True))
            rows.append(Judgement(f"p{participant}", f"e{example}", ranks))
    return Judgements(tuple(rows))


def one_study(participants: int) -> None:
    judgements = simulated(np.array(list(TRUTH.values())), participants, 100, seed=1)
    ratings = {rating.method: rating for rating in trueskill_ratings(judgements.rows)}
    print(f"\n{participants} participants x 100 examples, simulated")
    print("| method | true strength | strength [95 % interval] | TrueSkill | rank |\n|---|---|---|---|---|")
    for row in strengths(judgements):
        rating = ratings[row.method]
        print(
            f"| {row.method} | {TRUTH[row.method]:+.1f} | {row.value:+.2f} [{row.low:+.2f}, {row.high:+.2f}] "
            f"| {rating.mu:.1f} ± {rating.sigma:.2f} | {rating.rank} |"
        )
    for sentence in preference_verdict(contrasts(judgements), participants):
        print(sentence)
    for agreement in (krippendorff_alpha(judgements, resamples=200), kendall_w(judgements, resamples=200)):
        print(agreement.sentence)


def null_studies() -> None:
    equal = np.zeros(len(TRUTH))
    silent = sum(
        preference_verdict(contrasts(simulated(equal, 3, 100, seed), seed=seed), 3)[0].startswith("No preference")
        for seed in range(STUDIES)
    )
    print(f"\nall methods equal, 3 x 100: no preference is shown in {silent} of {STUDIES} studies")


if __name__ == "__main__":
    one_study(3)
    one_study(12)
    null_studies()
