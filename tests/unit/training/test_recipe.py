"""A recipe is data: spec text, JSON and back, and mistakes end in sentences."""

from __future__ import annotations

import json
import math

import pytest

from assay.core.errors import SpecError
from assay.training.recipe import NO_DECAY, RANGES, Group, Recipe

ROAR = Recipe(
    epochs=8,
    learning_rate=1e-3,
    optimiser="adam",
    amsgrad=True,
    weight_decay=1e-5,
    groups=(Group("attention", weight_decay=0.0),),
    schedule="constant",
    warmup=0.0,
    clip=None,
    selection="auroc",
    better="higher",
)
SMAT = Recipe(
    epochs=100,
    optimiser="sgd",
    learning_rate=5e-3,
    groups=(),
    schedule="constant",
    warmup=500.0,
    warmup_from=1e-6,
    clip=5.0,
    patience=11,
)


@pytest.mark.parametrize("recipe", [Recipe(), ROAR, SMAT, Recipe(betas=(0.9, 0.98), groups=(NO_DECAY, Group("head")))])
def test_json_and_text_give_the_recipe_back(recipe: Recipe) -> None:
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert Recipe.from_spec(str(recipe.spec)) == recipe


def test_a_recipe_written_by_hand() -> None:
    recipe = Recipe.from_spec("recipe(8, optimiser=adam, groups=[group(attention, weight_decay=0)], clip=None)")
    assert recipe == Recipe(epochs=8, optimiser="adam", groups=(Group("attention", weight_decay=0.0),), clip=None)


def test_every_field_changes_the_hash() -> None:
    assert len({Recipe().spec.hash, Recipe(seed=1).spec.hash, Recipe(groups=()).spec.hash, ROAR.spec.hash}) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recipe(epoch=3)", "did you mean 'epochs'"),
        ("recipe(optimiser=adamax)", "one of adamw, adam, sgd"),
        ("recipe(epochs=0)", "epochs=0: give a whole number, at least 1"),
        ("recipe(epochs=-1)", "epochs=-1: give a whole number, at least 1"),
        ("recipe(momentum=2, optimiser=sgd)", "momentum=2.0: give a number, at least 0 and below 1"),
        ("recipe(seed=-1)", "seed=-1"),
        ("recipe(clip=-1)", "clip=-1"),
        ("recipe(betas=[0.9])", "two numbers"),
        ("recipe(momentum=0.9)", "momentum=0.9: only sgd"),
        ("recipe(optimiser=sgd, amsgrad=True)", "amsgrad=True: only adam"),
        ("recipe(groups=[bias])", "is not a group"),
        ("recipe(groups=[group('(', weight_decay=0)])", "not a regular expression"),
        ("lime", "is not a recipe"),
    ],
)
def test_mistakes_are_sentences(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words.replace("(", r"\(")):
        Recipe.from_spec(text)


@pytest.mark.parametrize("name", sorted(RANGES))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1, True, "3", 10**30])
def test_every_number_of_a_recipe_has_a_range(name: str, value: object) -> None:
    with pytest.raises(SpecError, match=f"{name}="):
        Recipe(**{name: value})


def test_the_direction_of_a_metric_must_be_known() -> None:
    assert Recipe().direction == "lower"
    with pytest.raises(SpecError, match="better='higher'"):
        _ = Recipe(selection="accuracy").direction


def test_a_score_that_was_given_is_not_replaced_by_the_default_one() -> None:
    assert Recipe().selecting_by("accuracy").selection == "accuracy"
    assert Recipe(selection="loss").selecting_by("accuracy").selection == "loss"
    assert Recipe.from_spec("recipe(selection=loss)").selecting_by("accuracy").selection == "loss"
    assert Recipe().spec.hash == Recipe(selection="loss").spec.hash, "what a loop without metrics does"
