"""Settings given as keyword arguments, with the mistakes people make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.api.randomise import _seeds
from assay.api.roar import roar_plan
from assay.api.settings import make_settings, with_settings
from assay.experiments.plan import select_jobs
from assay.studies.attack.study import Attack
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


@pytest.mark.parametrize("seeds", [True, 0, 2.5, "two"])
def test_the_number_of_trainings_is_a_number(seeds: object, tmp_path: Path) -> None:
    data = tmp_path / "d"
    data.mkdir()
    for split in ("train", "dev", "test"):
        (data / f"{split}.csv").write_text("text,label\ngood,1\nbad,0\n")
    with pytest.raises(assay.SpecError, match=r"seeds=.*: give a whole number, at least 1"):
        roar_plan("bilstm_attention", str(data), ["random"], seeds=seeds, store=tmp_path)  # type: ignore[arg-type]


def test_seeds_as_the_command_line_writes_them() -> None:
    """A text is not taken apart letter by letter: "10" is a number of seeds, not the seeds 1 and 0."""
    assert _seeds("10") == tuple(range(10))
    assert _seeds("1, 0") == (1, 0)
    assert _seeds([4, 2]) == (4, 2)


@pytest.mark.parametrize(("name", "given", "expected"), [("betas", "0.9, 0.98", (0.9, 0.98)), ("clip", 2.0, 2.0)])
def test_a_recipe_takes_lists_as_texts(name: str, given: object, expected: object) -> None:
    assert getattr(with_settings(Recipe(), {name: given}, "train"), name) == expected
    with pytest.raises(assay.SpecError, match="betas: 'a' is not a list of numbers"):
        with_settings(Recipe(), {"betas": "a"}, "train")


@pytest.mark.parametrize("methods", ["gradient, occlusion", ["gradient", "occlusion"]])
def test_several_methods_in_a_text_are_a_list(methods: object, tmp_path: Path) -> None:
    explained = assay.explain("builtin", "a fine film", methods)
    assert list(explained) == ["gradient", "occlusion"]
    (tmp_path / "in.txt").write_text("a fine film\n")
    report = assay.explain_file("builtin", tmp_path / "in.txt", tmp_path / "out.jsonl", methods, progress=False)
    assert report.written == 2
    assert isinstance(assay.explain("builtin", "a fine film", "lime(samples=20, seed=1)"), assay.Attribution)
    study = make_settings(Attack, {"methods": methods, "objectives": "prediction_kept"})
    assert study.methods == ("gradient", "occlusion")


def test_a_plan_of_roar_takes_lists_as_texts(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        rows = [{"Txt": f"{split} text {i}", "y": i % 2} for i in range(4)]
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = assay.roar_plan(
        "bilstm_attention",
        str(tmp_path),
        "gradient, random",
        forms="recursive,roar",
        columns="text=Txt,label=y",
        seeds=1,
        store=tmp_path / "store",
    )
    assert {cell.name for cell in plan.cells} == {"recursive", "roar"}
    assert select_jobs(plan, "study=roar").jobs == select_jobs(plan, {"study": "roar"}).jobs
    with pytest.raises(assay.SpecError, match="roar reads its data by name, not from a list"):
        assay.roar_plan("bilstm_attention", [{"text": "a"}])  # type: ignore[arg-type]


@pytest.mark.parametrize("seeds", ["one", [0, "1"]])
def test_seeds_are_whole_numbers(seeds: object, tmp_path: Path) -> None:
    with pytest.raises(assay.SpecError, match=r"give a number of initialisations|is not a list of numbers"):
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
    with pytest.raises(assay.SpecError, match="seeds=True: give a whole number"):
        assay.randomise("builtin", seeds=True)
    same = [assay.explain("builtin", "a modest pleasure", "lime(samples=9)", seed=s) for s in (3, np.int64(3))]
    assert np.array_equal(same[0].scores, same[1].scores)
