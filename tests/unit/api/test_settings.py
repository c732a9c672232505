"""Settings given as keyword arguments, with the mistakes people make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.api.settings import make_settings
from assay.studies.evaluate.study import Evaluate
from assay.training.recipe import Recipe


def test_a_text_may_name_several() -> None:
    study = make_settings(Evaluate, {"methods": "lime(samples=50, seed=1), occlusion", "metrics": "log_odds"})
    assert study.methods == ("lime(samples=50, seed=1)", "occlusion")
    assert study.metrics == ("log_odds",)
    assert make_settings(Evaluate, {"methods": ["occlusion"], "protocol": None}).protocol == "eraser"


def test_a_misspelt_setting_is_named() -> None:
    with pytest.raises(assay.SpecError, match="evaluate has no setting 'protocl'; did you mean 'protocol'"):
        make_settings(Evaluate, {"protocl": "aml"})


@pytest.mark.parametrize(("name", "value"), [("optimiser", "adm"), ("schedule", "cosin")])
def test_a_recipe_refuses_unknown_choices(name: str, value: str) -> None:
    with pytest.raises(assay.SpecError, match=f"{name}={value!r}: did you mean"):
        Recipe(**{name: value})


def test_an_unknown_figure_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(assay.SpecError, match="give 'png' or 'svg'"):
        assay.report(tmp_path / "plan.yaml", tmp_path / "report", figure_format="gif")
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("seeds", ["10", [0, "1"]])
def test_seeds_are_whole_numbers(seeds: object, tmp_path: Path) -> None:
    """A text is not taken apart: "10" is not the seeds 1 and 0."""
    with pytest.raises(assay.SpecError, match="give a number of initialisations"):
        assay.randomise("builtin", "builtin", ["gradient"], limit=1, seeds=seeds, store=tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"seed": "a"}, "seed='a' is not allowed; seed must be a whole number"),
        ({"seed": True}, "seed=True is not allowed; seed must be a whole number"),
        ({"units": 3}, "units=3 is not allowed; units must be a word"),
        ({"removal": 3}, "removal=3 is not allowed; removal must be a word"),
        ({"batch_tokens": "x"}, "batch_tokens='x' is not allowed; batch_tokens must be a whole number"),
        ({"batch_tokens": 0}, "batch_tokens=0: give at least 1, or leave it out"),
    ],
)
def test_a_setting_of_the_wrong_type_is_a_sentence(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(assay.SpecError, match=re.escape(words)):
        assay.explain("builtin", "a modest pleasure", "random", **setting)
    if setting != {"batch_tokens": 0}:
        with pytest.raises(assay.SpecError, match=re.escape(words)):
            make_settings(Evaluate, setting)


def test_other_values_that_used_to_pass() -> None:
    with pytest.raises(assay.SpecError, match="no method is named"):
        assay.explain("builtin", "a modest pleasure", [])
    with pytest.raises(assay.SpecError, match="seeds=True: give a number of initialisations"):
        assay.randomise("builtin", seeds=True)
    same = [assay.explain("builtin", "a modest pleasure", "lime(samples=9)", seed=s) for s in (3, np.int64(3))]
    assert np.array_equal(same[0].scores, same[1].scores)
