"""Presets: their settings are those of the papers, and a preset is only a shorthand."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.experiments.plan import Plan, make_plan
from assay.experiments.preset import PRESETS, use_preset
from assay.experiments.store import open_store
from assay.experiments.study import STUDIES
from assay.experiments.yaml_node import YamlNode

SUM = "gradient(reduction=sum)"
ROLLOUT = "attention_rollout(residual=False)"
THESIS: dict[str, dict[str, Any]] = {  # section 4 to 8 of the thesis
    "evaluate": {
        "methods": (
            SUM,
            "gradient_x_input",
            "integrated_gradients(steps=50)",
            "lime(samples=1000)",
            "kernel_shap(samples=1000, estimator=least_squares)",
            "average_attention",
            ROLLOUT,
            "ensemble(thesis_top3, samples=1000, steps=50)",
            "ensemble(thesis_all, samples=1000, steps=50, reduction=sum)",
            "random",
        ),
        "metrics": ("sufficiency", "comprehensiveness", "ground_truth_overlap", "mean_rank_percentage"),
        "protocol": "thesis",
        "scale": "probability",
        "target": "predicted",
        "units": "token",
        "special_tokens": "protected",
        "limit": 500,
    },
    "randomise": {
        "methods": (SUM, "gradient_x_input", "integrated_gradients(steps=50)", "average_attention", ROLLOUT),
        "modes": ("cascading", "independent"),
        "seeds": (0,),
        "scale": "probability",
        "units": "token",
        "special_tokens": "protected",
        "limit": 50,
    },
    "attack": {
        "methods": (SUM, "gradient_x_input", "integrated_gradients(steps=8, rule=gauss_legendre)"),
        "measured": (SUM, "gradient_x_input", "integrated_gradients(tolerance=0.05)"),
        "objectives": ("prediction_kept", "probability_matched"),
        "epsilon": 2.0,
        "relative": False,
        "share": 0.15,
        "alpha": 1.0,
        "beta": 1.0,
        "step": "gradient",
        "steps": 500,
        "rate": 0.1,
        "halve": 200,
        "tolerance": 1e-5,
        "patience": 20,
        "scale": "probability",
        "units": "token",
        "special_tokens": "protected",
        "limit": 16,
    },
}
AML = ("sufficiency", "comprehensiveness", "log_odds", "sufficiency(aopc=True)", "comprehensiveness(aopc=True)")
ROAR = {
    "methods": ("attention", "gradient", "input_x_gradient", "integrated_gradients"),
    "by": "share",
    "step": 10,
    "signed": False,
    "target": "gold",
    "forms": ("recursive", "roar"),
    "seeds": 5,
}
# Settings that are no choice of a paper: they change no number, follow from model and data, or only what is shown.
FREE = {"seed", "batch_tokens", "removal", "shown", "margin", "agreement", "scope", "scores", "matched"}
FREE |= {"draws", "shared_parameters", "recursive", "last", "test", "test_limit"}


@pytest.mark.parametrize("kind", THESIS)
def test_the_thesis(kind: str) -> None:
    assert PRESETS.get("thesis").studies[kind].values == THESIS[kind]


def test_the_other_papers() -> None:
    assert PRESETS.get("roar").studies["roar"].values == ROAR
    aml = PRESETS.get("aml").studies["evaluate"].values
    assert aml == {
        "metrics": AML,
        "protocol": "aml",
        "target": "predicted",
        "units": "token",
        "special_tokens": "protected",
    }


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in PRESETS.names for kind in PRESETS.get(name).studies]
)
def test_a_preset_is_whole(name: str, kind: str) -> None:
    """A setting that a study gains later must be decided in every preset, or be free."""
    own, cls = PRESETS.get(name).studies[kind], STUDIES.get(kind)
    names = {field.name for field in fields(cls)}
    assert set(own.settings) <= names
    undecided = names - set(own.settings) - FREE - set(own.open) - ({"scale"} if name == "aml" else set())
    assert not undecided
    cls(**own.settings)  # every value is allowed


def test_members_of_the_ensembles_are_the_methods_of_the_preset() -> None:
    from assay.explainers import METHODS

    methods = THESIS["evaluate"]["methods"]
    both = [METHODS.make(spec) for spec in methods if spec.startswith("ensemble")]
    members = {str(METHODS.make(part)) for ensemble in both for part in ensemble.parts}
    assert members == {str(METHODS.make(spec)) for spec in methods[:7]}


def test_an_unknown_preset_gets_the_nearest_name() -> None:
    with pytest.raises(assay.SpecError, match="unknown preset 'tesis'; did you mean 'thesis'"):
        assay.evaluate(preset="tesis")
    with pytest.raises(assay.SpecError, match="'aml' has no settings for attack; it has those for evaluate"):
        assay.attack(preset="aml")


def test_what_is_given_takes_precedence() -> None:
    used = use_preset("thesis", "attack", {"epsilon": 0.5, "steps": 500, "seed": 3}, {"limit": 2})
    assert used.settings == {**{k: v for k, v in THESIS["attack"].items() if k != "limit"}, "epsilon": 0.5, "seed": 3}
    assert used.call == {"limit": 2}
    assert {str(change) for change in used.changes} == {  # 500 steps are the preset's
        "epsilon=0.5 (instead of 2.0)",
        "seed=3 (not part of the preset)",
        "limit=2 (instead of 16)",
    }
    assert "epsilon=0.5 (instead of 2.0)" in used.summary
    rows = {row.name: row for row in used.rows}
    assert (rows["epsilon"].value, rows["epsilon"].given) == ("2.0", "0.5")
    assert rows["epsilon"].source == "Stated in the paper."
    assert rows["scale"].source.startswith("Left open by the paper: ")
    assert json.loads(json.dumps(used.to_dict()))["given"] == {"epsilon": 0.5, "steps": 500, "seed": 3, "limit": 2}


def test_other_methods_are_not_measured_by_those_of_the_preset() -> None:
    used = use_preset("thesis", "attack", {"methods": "gradient"})
    assert "measured" not in used.settings
    assert [change.name for change in used.changes] == ["methods", "measured"]


def test_the_same_in_another_form_is_no_change() -> None:
    given = {"modes": "cascading, independent", "seeds": [0]}
    assert use_preset("thesis", "randomise", given).changes == []


def _keys(monkeypatch: pytest.MonkeyPatch, verb: Any, *args: Any, **settings: Any) -> list[str]:
    """The keys of a verb's jobs; nothing runs."""
    found: list[str] = []

    def jobs_only(study: Any, name: str, model: Any, dataset: Any, **options: Any) -> Any:
        from assay.experiments.references import InMemoryData, InMemoryModel
        from assay.experiments.study import StudyContext

        context = StudyContext(InMemoryModel(model), InMemoryData(dataset), {}, None)  # type: ignore[arg-type]
        monkeypatch.setattr(StudyContext, "loaded_model", lambda self: self.model.model)
        found.extend(job.key for job in study.jobs(context))
        raise KeyboardInterrupt

    module = {"evaluate": "assay.api.evaluate", "attack": "assay.api.attack", "randomise": "assay.api.randomise"}
    monkeypatch.setattr(f"{module[verb.__name__]}.run_study", jobs_only)
    with pytest.raises(KeyboardInterrupt):
        verb(*args, **settings)
    return found


@pytest.mark.parametrize("kind", THESIS)
def test_a_preset_is_a_shorthand(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verb = getattr(assay, kind)
    by_hand = _keys(monkeypatch, verb, **THESIS[kind])
    assert by_hand == _keys(monkeypatch, verb, preset="thesis")
    assert by_hand == _keys(monkeypatch, verb, preset="thesis", scale="probability")
    assert by_hand != _keys(monkeypatch, verb, preset="thesis", scale="logit")
    fewer = _keys(monkeypatch, verb, preset="thesis", limit=2)
    assert fewer == _keys(monkeypatch, verb, **{**THESIS[kind], "limit": 2}) != by_hand


def test_the_default_number_of_examples_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 written by the caller is given, though it is also the default."""
    from assay.api.settings import given_limit
    from assay.studies.attack.study import LIMIT

    assert (given_limit(LIMIT, None), given_limit(LIMIT, "thesis")) == ({"limit": 16}, {})
    assert (given_limit(16, "thesis"), given_limit(None, "thesis")) == ({"limit": 16}, {"limit": None})


def _plan(tmp_path: Path, study: dict[str, Any], **data: Any) -> Plan:
    content = {
        "name": "test",
        "data": {"few": {"source": "builtin", **data}},
        "models": {"ready": "builtin"},
        "studies": {"mine": study},
    }
    return make_plan(YamlNode("plan", "plan", content), open_store(tmp_path))


def test_a_plan_with_a_preset(tmp_path: Path) -> None:
    by_hand = {name: list(v) if isinstance(v, tuple) else v for name, v in THESIS["randomise"].items()}
    limit = by_hand.pop("limit")
    wanted = _plan(tmp_path, {"kind": "randomise", **by_hand}, limit=limit)
    plan = _plan(tmp_path, {"kind": "randomise", "preset": "thesis"})
    assert list(plan.jobs) == list(wanted.jobs)
    (cell,) = plan.cells
    assert cell.preset is not None
    assert (cell.preset.name, cell.preset.changes) == ("thesis", [])
    assert wanted.cells[0].preset is None
    changed = _plan(tmp_path, {"kind": "randomise", "preset": "thesis", "scale": "logit"}, limit=2)
    assert changed.cells[0].preset is not None
    assert [str(c) for c in changed.cells[0].preset.changes] == [
        "scale=logit (instead of probability)",
        "limit=2 (instead of 50)",
    ]
    assert list(changed.jobs) == list(_plan(tmp_path, {"kind": "randomise", **by_hand, "scale": "logit"}, limit=2).jobs)


def test_a_plan_names_the_place_of_an_unknown_preset(tmp_path: Path) -> None:
    with pytest.raises(assay.SpecError, match=r"plan, studies\.mine: unknown preset 'tesis'; did you mean 'thesis'"):
        _plan(tmp_path, {"kind": "evaluate", "preset": "tesis"})


def test_a_function_leaves_out_what_needs_its_inside(tmp_path: Path) -> None:
    model = assay.load_model(lambda texts: [[0.2, 0.8]] * len(texts), labels=["negative", "positive"])
    from assay.studies.evaluate.study import Evaluate

    used = use_preset("thesis", "evaluate", {})
    used, study = used.fit(Evaluate(**used.settings), model)
    assert study.methods == ("lime(samples=1000)", "kernel_shap(samples=1000, estimator=least_squares)", "random")
    assert SUM in used.left_out
    (warning,) = used.warnings
    assert warning.startswith(f"The preset thesis leaves out {SUM}, gradient_x_input, ")
    assert warning.endswith("it needs more of a model than its answers.")
    with pytest.raises(assay.UnsupportedError, match="the preset 'thesis' cannot be applied: gradient"):
        assay.attack(model, preset="thesis", limit=1, store=tmp_path)


def test_methods_of_the_caller_are_never_left_out() -> None:
    from assay.studies.evaluate.study import Evaluate

    model = assay.load_model(lambda texts: [[0.2, 0.8]] * len(texts), labels=["negative", "positive"])
    used = use_preset("thesis", "evaluate", {"methods": ("gradient", "random")})
    _, study = used.fit(Evaluate(**used.settings), model)
    assert study.methods == ("gradient", "random")  # refused when it runs, as without a preset


def test_regression_is_refused(tmp_path: Path) -> None:
    model = assay.load_model(lambda texts: [[0.5]] * len(texts), labels=["score"], task="regression")
    with pytest.raises(assay.UnsupportedError, match=r"is for text classifiers, but .* has the task regression"):
        assay.evaluate(model, preset="thesis", limit=1, store=tmp_path)


def test_what_belongs_to_a_method_is_left_out_with_it() -> None:
    from assay.studies.attack.study import Attack

    used = use_preset("thesis", "attack", {})
    used, study = used.without({"gradient_x_input": "of a reason"}, Attack(**used.settings))
    assert study.methods == (SUM, "integrated_gradients(steps=8, rule=gauss_legendre)")
    assert study.measured == (SUM, "integrated_gradients(tolerance=0.05)")
    assert used.warnings == ["The preset thesis leaves out gradient_x_input: of a reason."]


def test_roar(tmp_path: Path) -> None:
    """Both forms and five seeds; without the BiLSTM, the attention is left out and this is said."""
    import warnings

    from assay.api.roar import _planned

    for split in ("train", "dev", "test"):
        rows = [{"text": f"a {word} film {i} {split}", "label": word} for i in range(4) for word in ("good", "bad")]
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data, store = str(tmp_path / "data"), open_store(tmp_path)
    bert = "bert(layers=1, width=32, heads=2, vocabulary=300, positions=128)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan, used = _planned(bert, data, "roar", {}, None, store)
        by_hand = {**ROAR, "methods": ROAR["methods"][1:]}  # type: ignore[index]
        assert list(plan.jobs) == list(assay.roar_plan(bert, data, store=tmp_path, **by_hand).jobs)
        assert {job.tags["seed"] for job in plan.jobs.values()} == set(range(5))
        assert list(plan.studies()) == ["recursive", "roar"]
        assert used.warnings == [
            "The preset roar leaves out attention: the paper's attention is that of bilstm_attention."
        ]
        plan, used = _planned("bilstm_attention", data, "roar", {"seeds": 2, "forms": "roar", "limit": 9}, None, store)
    assert list(plan.studies()) == ["roar"]
    assert used.left_out == {}
    assert {c.name: (c.given, c.preset) for c in used.changes} == {
        "seeds": (2, 5),
        "forms": (["roar"], ("recursive", "roar")),
        "limit": (9, None),
    }


def test_the_page_and_the_json_say_the_preset(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="The preset thesis has 500 examples; the data have"):
        result = assay.evaluate("builtin", "builtin", ["occlusion", "random"], preset="thesis", store=tmp_path)
    summary = result.remarks[0]
    assert summary.startswith('Preset thesis ("Assessing the Interpretability')
    assert "methods=occlusion, random (instead of the preset's 10)" in summary
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Left open by the paper" in page
    assert "Stated in the paper" in page
    from assay.studies.evaluate.record import record

    assert record(result)["preset"]["name"] == "thesis"


def test_metrics_without_rationales_are_said_to_be_missing(tmp_path: Path) -> None:
    data = [{"text": "a good film", "label": "positive"}, {"text": "a bad film", "label": "negative"}]
    missing = "No example has a rationale, so there is no ground_truth_overlap and mean_rank_percentage."
    with pytest.warns(UserWarning, match=missing):
        assay.evaluate("builtin", data, "random", preset="thesis", limit=2, store=tmp_path)


def test_the_direct_studies_have_a_preset_on_their_pages(tmp_path: Path) -> None:
    result = assay.randomise("builtin", "builtin", "gradient", preset="thesis", limit=2, store=tmp_path)
    assert result.preset is not None
    assert result.to_dict()["preset"]["given"] == {"methods": "gradient", "limit": 2}
    result.to_html(tmp_path / "page.html")
    assert "<h2>Preset</h2>" in (tmp_path / "page.html").read_text()
