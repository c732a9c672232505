"""Learning rates against their formulas and against transformers' schedulers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import transformers

from assay.training.recipe import Recipe
from assay.training.schedule import rate_factor, warmup_steps
from assay.training.step_schedule import StepSchedule


def theirs(make: Any, warmup: int, total: int) -> list[float]:
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = make(optimiser, warmup, total)
    rates = []
    for _ in range(total):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    return rates


@pytest.mark.parametrize("warmup", [0.0, 0.06, 7.0])
def test_as_in_transformers(warmup: float) -> None:
    total, steps = 51, warmup_steps(warmup, 51)
    for name, make in (
        ("linear", transformers.get_linear_schedule_with_warmup),
        ("cosine", transformers.get_cosine_schedule_with_warmup),
    ):
        recipe = Recipe.from_spec(f"recipe(schedule={name}, warmup={warmup})")
        assert [rate_factor(recipe, s, total) for s in range(total)] == pytest.approx(theirs(make, steps, total))


def test_values_by_hand() -> None:
    recipe = Recipe(warmup=0.06)
    assert [rate_factor(recipe, s, 100) for s in (0, 3, 6, 53, 99)] == pytest.approx([0, 0.5, 1, 0.5, 1 / 94])
    cosine = Recipe(schedule="cosine", warmup=0.0)
    assert rate_factor(cosine, 25, 100) == pytest.approx((1 + math.cos(math.pi / 4)) / 2)


def test_constant_after_a_warm_up_from_a_small_rate() -> None:
    """SMaT's teacher: from 1e-6 to the peak in 500 steps, then constant."""
    recipe = Recipe(schedule="constant", warmup=500.0, warmup_from=1e-6, learning_rate=5e-5)
    rates = [5e-5 * rate_factor(recipe, s, 10_000) for s in (0, 250, 500, 9_999)]
    assert rates == pytest.approx([1e-6, (1e-6 + 5e-5) / 2, 5e-5, 5e-5])


def test_a_schedule_longer_than_the_training() -> None:
    """AML: scheduled for 20 steps of which 10 are made; the tenth has 2.2e-5."""
    recipe = Recipe(learning_rate=4e-5, warmup=0.0, schedule_steps=20)
    assert 4e-5 * rate_factor(recipe, 9, 10) == pytest.approx(2.2e-5)


def test_shares_of_steps_are_rounded_up_but_not_by_a_rounding_error() -> None:
    assert [warmup_steps(share, 100) for share in (0.06, 0.07, 0.061, 0.0, 1.0, 12.0)] == [6, 7, 7, 0, 1, 12]


def test_the_only_step_of_a_tiny_training_moves() -> None:
    assert [warmup_steps(share, total) for share, total in ((0.06, 1), (0.06, 2), (0.999, 10))] == [0, 1, 9]
    assert rate_factor(Recipe(), 0, 1) == 1.0


@pytest.mark.parametrize(
    ("items", "recipe", "per_epoch", "checks"),
    [
        (1000, Recipe(epochs=2, batch_size=20, validate_every=0.32), 50, [16, 32, 48, 66, 82, 98]),  # AML
        (1000, Recipe(epochs=1, batch_size=4, accumulation=5, validate_every=0.32), 50, [16, 32, 48]),
        (217, Recipe(epochs=1, batch_size=1, validate_every=0.5), 217, [108, 217]),
        (10, Recipe(epochs=3, batch_size=4), 3, [3, 6, 9]),
        (10, Recipe(epochs=5, batch_size=10, validate_every=2.0), 1, [2, 4]),
        (10, Recipe(epochs=2, batch_size=10, validate_every=4.0), 1, [2]),
        (3, Recipe(epochs=1, batch_size=8, validate_every=0.1), 1, [1]),
    ],
)
def test_steps_and_checks(items: int, recipe: Recipe, per_epoch: int, checks: list[int]) -> None:
    schedule = StepSchedule.of(recipe, items)
    assert (schedule.per_epoch, schedule.total) == (per_epoch, per_epoch * recipe.epochs)
    assert sorted(schedule.checks) == checks
