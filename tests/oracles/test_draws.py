"""The random baseline as a mean over draws: its expectation in closed form, and one draw by hand."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.types import Example, Span
from assay.studies.evaluate.page import page
from assay.studies.evaluate.study import Evaluate
from families import model_of
from runs import quiet

TEXTS = ["the film is bright and funny but never finds its way home", "a modest pleasure", "the soup was good"]
METRICS = ["ground_truth_overlap", "mean_rank_percentage"]


def evaluated(draws, metrics=METRICS, cues=1, methods=("random",)):
    data = [
        Example(text, id=str(i), label=0, rationales=(tuple(_word(text, k) for k in range(cues)),))
        for i, text in enumerate(TEXTS)
    ]
    with quiet():
        settings = {"units": "word", "target": "predicted", "progress": False}
        return assay.evaluate(model_of("bert"), data, list(methods), metrics, draws=draws, **settings)


def _word(text, k):
    words = text.split()
    start = len(" ".join(words[:k])) + (k > 0)
    return Span(0, start, start + len(words[k]))


@pytest.mark.parametrize("cues", [1, 2])
def test_the_expectation_of_random(cues):
    """Overlap k/n; for one cue, mean rank (n + 1) / 2n. 600 draws come within four standard errors."""
    draws = 600
    values = evaluated(draws, cues=cues).evaluation.values
    for i, text in enumerate(TEXTS):
        n = len(text.split())
        overlap = values["ground_truth_overlap"]["random"][i]
        spread = np.sqrt(cues * (cues / n) * (1 - cues / n) * (n - cues) / max(1, n - 1)) / cues  # hypergeometric
        assert overlap == pytest.approx(cues / n, abs=4 * spread / np.sqrt(draws) + 1e-9)
        if cues == 1:
            rank = values["mean_rank_percentage"]["random"][i]
            spread = np.sqrt((n**2 - 1) / 12) / n
            assert rank == pytest.approx((n + 1) / (2 * n), abs=4 * spread / np.sqrt(draws))


def test_the_mean_is_that_of_single_draws():
    """Of each metric, also those that mask inputs: the mean of evaluations of one draw each."""
    metrics = [*METRICS, "sufficiency", "comprehensiveness"]
    together = evaluated(3, metrics).evaluation
    alone = [evaluated(1, metrics, methods=(f"random(seed={k})",)).evaluation for k in range(3)]
    for metric in together.values:
        single = [next(iter(e.values[metric].values())) for e in alone]
        np.testing.assert_allclose(together.values[metric]["random"], np.mean(single, axis=0), rtol=1e-9)
        assert len({tuple(row) for row in single}) > 1
    for metric in together.curves:
        single = [next(iter(e.curves[metric].values())) for e in alone]
        np.testing.assert_allclose(together.curves[metric]["random"], np.mean(single, axis=0), rtol=1e-6)
    shown, first = together.shown["random"][0], next(iter(alone[0].shown.values()))[0]
    assert list(shown.scores) == list(first.scores)  # heat maps show the first draw


def test_draws_are_in_the_key_only_where_they_count():
    data = assay.load_dataset("builtin")[:2]

    def spec(**fields):
        return Evaluate(**fields).task(data, None).spec({}, None)

    assert "draws" not in spec(methods=("occlusion",))
    assert spec(methods=("random",))["draws"] == 10
    assert "draws" not in spec(methods=("random",), draws=1)  # what records without it meant


def test_the_page_says_it():
    assert "random (mean of 10 draws)" in page(evaluated(10, ["sufficiency"], methods=("occlusion", "random")))
