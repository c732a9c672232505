"""Plans: what a YAML becomes, keys that exist before anything has run, and errors that say where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
from assay.api.run import run
from assay.core.errors import AssayError, SpecError
from assay.experiments.file_cache import read_again
from assay.experiments.plan import Plan, make_plan, read_plan
from assay.experiments.references import base_identity
from assay.experiments.requirement import Requirement
from assay.experiments.scheduler import State
from assay.experiments.status import plan_status
from assay.experiments.store import Store
from assay.experiments.yaml_node import YamlNode
from assay.studies.evaluate.report import cell_result
from assay.studies.evaluate.study import Evaluate

PLAN = """
data:
  opinions: {source: builtin, limit: 4}
  cues: {source: augmented(builtin), limit: 3}
models:
  ready: builtin
  tiny:
    train: bert(layers=1, width=16, heads=2, vocabulary=120, positions=128)
    on: [opinions, cues]
    recipe: recipe(epochs=1, batch_size=8)
    seeds: [0, 1]
    requires: accuracy >= 0.0
studies:
  evaluate:
    models: ready
    data: opinions
    methods: [occlusion, random]
    metrics: [sufficiency, auprc]
  own:
    kind: evaluate
    models: [tiny]
    data: trained_on
    methods: [random]
    metrics: [comprehensiveness]
"""


def made(text: str, store: Path = Path("/nowhere")) -> Plan:
    return make_plan(YamlNode.parse(text, "plan.yaml"), Store(store))


def test_a_grid_of_trainings_and_its_studies() -> None:
    plan = made(PLAN)
    names = ["tiny(on=opinions, seed=0)", "tiny(on=opinions, seed=1)", "tiny(on=cues, seed=0)", "tiny(on=cues, seed=1)"]
    assert [job.tags["model"] for job in plan.trainings] == names
    own = [cell for cell in plan.cells if cell.name == "own"]
    assert [(cell.model.name, cell.data.name) for cell in own] == list(
        zip(names, ["opinions", "opinions", "cues", "cues"], strict=True)
    )
    assert [cell.jobs[0].needs for cell in own] == [(job.key,) for job in plan.trainings]
    assert len({job.key for job in plan.trainings}) == 4
    order = list(plan.jobs)
    assert all(order.index(need) < order.index(key) for key, job in plan.jobs.items() for need in job.needs)


def test_keys_are_of_content_alone() -> None:
    """Names, threads and batches change no key; data, recipe, seed, methods and the training behind a model do."""
    keys = set(made(PLAN).jobs)
    for same in (
        PLAN.replace("opinions", "views"),
        PLAN.replace("tiny:", "small:").replace("[tiny]", "[small]"),
        PLAN.replace("metrics: [comprehensiveness]", "metrics: [comprehensiveness]\n    batch_tokens: 64"),
        PLAN.replace("requires: accuracy >= 0.0", "requires: accuracy >= 0.9"),
    ):
        assert set(made(same).jobs) == keys, same
    other = set(made(PLAN.replace("epochs=1", "epochs=2")).jobs)
    assert len(other & keys) == 1, "only the evaluation of the model from outside stays"
    assert len(set(made(PLAN.replace("limit: 4", "limit: 5")).jobs) & keys) == 6, "only what is explained of opinions"
    assert len(set(made(PLAN.replace("[random]", "['random(seed=1)']")).jobs) & keys) == 5


def test_evaluate_and_run_share_records(tmp_path: Path) -> None:
    """The same job function and keys: what one has computed, the other finds, and the numbers are the same."""
    plan = made(PLAN, tmp_path)
    ready = next(cell for cell in plan.cells if cell.name == "evaluate")
    data, methods, metrics = ready.data.load(), ["occlusion", "random"], ["sufficiency", "auprc"]
    found = assay.evaluate("builtin", data, methods, metrics, store=tmp_path, progress=False).evaluation
    ended = run(plan, store=tmp_path, progress=False)
    assert ended.ok
    assert ended.before == 1
    stored = cell_result(ready, Store(tmp_path))
    assert stored is not None
    again = stored.evaluation
    assert again.settings == found.settings
    for metric, methods in found.values.items():
        for method, values in methods.items():
            assert again.values[metric][method].tolist() == values.tolist()
    tidy = assay.results(plan, store=tmp_path)
    mine = [row["value"] for row in tidy if row["study"] == "evaluate" and row["metric"] == "sufficiency"]
    assert mine == [v for values in found.values["sufficiency"].values() for v in values.tolist()]
    trained = [row for row in tidy if row["study"] == "own"]
    assert {(row["grid"], row["trained_on"], row["seed"]) for row in trained} == {
        ("tiny", data, seed) for data in ("opinions", "cues") for seed in (0, 1)
    }
    _reports_without_weights(plan, tmp_path)


def _reports_without_weights(plan: Plan, store: Path) -> None:
    """A trained model that was deleted still has its page and tables."""
    from assay.api.report import report

    assert not list((store / "artifacts").glob("*/model.safetensors"))
    files = {path.name for path in report(plan, store / "report", store=store)}
    assert {"index.html", "rows.csv", "train.csv", "own.json", "tiny(on=cues, seed=1) on cues.html"} <= files
    page = (store / "report" / "own" / "tiny(on=cues, seed=1) on cues.html").read_text()
    assert "Which explanation of tiny(on=cues, seed=1) can be trusted?" in page


def test_plans_and_their_status_are_short_in_a_notebook(tmp_path: Path) -> None:
    plan = made(PLAN)
    assert f"{len(plan.jobs)} jobs of " in repr(plan)
    assert f": {len(plan.jobs)} missing>" in repr(plan_status(plan, Store(tmp_path)))
    assert max(len(repr(plan)), len(repr(plan_status(plan, Store(tmp_path))))) < 200


def test_a_shared_job_is_one_job() -> None:
    same = "models: ready, data: opinions, methods: [occlusion, random], metrics: [sufficiency, auprc]"
    twice = f"{PLAN}  again: {{kind: evaluate, {same}}}\n"
    assert set(made(twice).jobs) == set(made(PLAN).jobs)
    assert len(made(twice).cells) == len(made(PLAN).cells) + 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("studies:", "studys:", ["plan.yaml: unknown key 'studys'", "did you mean 'studies'"]),
        ("  own:\n    kind: evaluate", "  own:\n    kind: evaluat", ["studies.own: unknown study", "'evaluate'"]),
        ("methods: [occlusion", "methods: [oclusion", ["studies.evaluate: unknown method 'oclusion'"]),
        ("metrics: [suff", "metrics: [sff", ["studies.evaluate: unknown metric", "did you mean 'sufficiency'"]),
        ("metrics: [suff", "revision: 2\n    metrics: [suff", ["studies.evaluate: unknown key 'revision'"]),
        ("metrics: [suff", "metrcs: [suff", ["studies.evaluate: unknown key 'metrcs'; did you mean 'metrics'"]),
        ("data: opinions\n", "data: opinion\n", ["studies.evaluate.data: the plan has no 'opinion'", "'opinions'"]),
        ("models: ready", "models: redy", ["studies.evaluate.models: the plan has no 'redy'", "did you mean 'ready'"]),
        ("on: [opinions, cues]", "on: [opinion]", ["models.tiny.on: the plan has no 'opinion'"]),
        ("    on: [opinions, cues]\n", "", ["models.tiny does not say what to train on"]),
        ("epochs=1", "epoch=1", ["models.tiny: recipe has no parameter 'epoch'", "did you mean 'epochs'"]),
        ("recipe: recipe(", "recpe: recipe(", ["models.tiny: unknown key 'recpe'; did you mean 'recipe'"]),
        ("seeds: [0, 1]", "seeds: [0, one]", ["models.tiny: train: seed=one is not allowed", "a whole number"]),
        ("seeds: [0, 1]", "seeds: []", ["models.tiny.seeds is an empty list"]),
        ("seeds: [0, 1]", "seeds: [0, 1, 0]", ["models.tiny.seeds: 0 is given twice"]),
        ("seeds: [0, 1]", "keep: no", ["models.tiny.keep: write true or false, not 'no'"]),
        ("accuracy >= 0.0", "accuracy >= 1.2.3", ["models.tiny.requires: cannot read", "accuracy >= chance"]),
        ("bert(layers", "brt(layers", ["models.tiny: unknown model family 'brt'", "'bert'"]),
        ("bert(layers=1", "bert(layers=0", ["models.tiny: bert(layers=0", "every size must be at least 1"]),
        ("accuracy >= 0.0", "accuracy > chance", ["models.tiny.requires: cannot read", "accuracy >= chance"]),
        ("accuracy >= 0.0", "pearson >= 0.1", ["models.tiny.requires: classification has no score 'pearson'"]),
        ("ready: builtin", "ready: {lod: builtin}", ["models.ready needs `load`"]),
        ("ready: builtin", "ready: /no/such/folder", ["studies.evaluate with ready on opinions", "cannot load"]),
        ("limit: 4", "limits: 4", ["data.opinions: unknown key 'limits'; did you mean 'limit'"]),
        ("limit: 4", "limit: many", ["data.opinions: data: limit=many is not allowed"]),
        ("source: builtin, limit: 4", "limit: 4", ["data.opinions has no `source`"]),
        ("  ready: builtin", "  ready: builtin\n  ready: other", ["line 7: 'ready' is given twice, first in line 6"]),
        ("models: ready\n    data: opinions", "models: ready\n    data: trained_on", ["but ready is loaded"]),
        ("  own:\n", "  train:\n", ["trainings belong under `models`"]),
        ("data:\n  opinions", "data: [\n  opinions", ["plan.yaml is not valid YAML"]),
        (PLAN, "- a list", ["plan.yaml must hold `name: value` lines, but it is a list"]),
    ],
)  # fmt: skip
def test_a_bad_plan_is_named_by_its_key(old: str, new: str, words: list[str]) -> None:
    assert old in PLAN
    with pytest.raises(AssayError) as caught:
        made(PLAN.replace(old, new, 1))
    for word in words:
        assert word in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=r"cannot read the plan .*nope\.yaml: No such file"):
        read_plan(tmp_path / "nope.yaml", Store(tmp_path))


def test_words_of_yaml_stay_words_and_numbers_are_numbers() -> None:
    """In YAML 1.1 on, yes and no are truth values and 5e-5 is a word."""
    page = YamlNode.parse("on: yes\nno: [5e-5, 1e3, 0.5, 7, .5, -1.5e-2, true, 1.2.3, e5]")
    assert page.mapping == {"on": "yes", "no": (5e-5, 1e3, 0.5, 7, 0.5, -1.5e-2, True, "1.2.3", "e5")}


@pytest.mark.parametrize(
    ("text", "rows", "ok"),
    [
        ("accuracy >= 0.6", {"accuracy": 0.6}, True),
        ("accuracy >= 0.6", {"accuracy": 0.59}, False),
        ("accuracy >= chance + 0.1", {"accuracy": 0.34}, False),
        ("accuracy >= chance + 0.1", {"accuracy": 0.36}, True),
        ("accuracy >= majority", {"accuracy": 0.69}, False),
        ("accuracy>=majority+.05", {"accuracy": 0.76}, True),
        ("loss <= 5e-1", {"loss": 0.51}, False),
        ("loss <= 5e-1", {"loss": 0.5}, True),
    ],
)
def test_rules(text: str, rows: dict[str, float], ok: bool) -> None:
    found = Requirement.parse(text).unmet({"validation": rows, "chance": 0.25, "majority": 0.7})
    assert (found is None) is ok


def test_a_rule_is_read_as_it_is_written() -> None:
    assert str(Requirement.parse("accuracy >= chance + 0.10")) == "accuracy >= chance + 0.1"
    for text in ("accuracy", "accuracy >=", "accuracy >= luck + 0.1", ">= 3", "", "accuracy >= .", "loss <= 1.2.3"):
        with pytest.raises(SpecError, match="cannot read the requirement"):
            Requirement.parse(text)


def test_the_settings_of_a_study_are_checked_at_once() -> None:
    with pytest.raises(SpecError, match="target='positive'"):
        Evaluate(("random",), ("sufficiency",), target="positive")  # type: ignore[arg-type]
    empty: Any = ()
    with pytest.raises(SpecError, match="methods=\\[\\]"):
        Evaluate(empty)


def test_an_edited_file_is_read_again_with_its_plan(tmp_path: Path) -> None:
    """In a notebook the same process reads a plan twice; old records must not pass for those of new data."""
    file, store = tmp_path / "reviews.csv", Store(tmp_path / "store")
    text = f"data: {{reviews: {file}}}\nmodels: {{ready: builtin}}\n"
    text += "studies: {evaluate: {methods: [random], metrics: [sufficiency]}}"
    file.write_text("text,label\na great film,positive\na dull film,negative\n")
    first = make_plan(YamlNode.parse(text), store)
    assert set(make_plan(YamlNode.parse(text), store).jobs) == set(first.jobs)
    file.write_text("text,label\na great film,positive\na lame film,negative\n")
    assert not set(make_plan(YamlNode.parse(text), store).jobs) & set(first.jobs)
    status = run(first, store=store, progress=False)
    assert not status.ok, "no record of the old data is made from the new ones"
    assert "the data reviews were changed after the plan was read" in "".join(status.why(State.failed))


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
def test_a_base_model_is_its_weights_in_either_format(tmp_path: Path, weights: str) -> None:
    for name, content in (("a", b"1"), ("b", b"2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / weights).write_bytes(content)
    a, b = (base_identity(str(tmp_path / name)) for name in "ab")
    assert a != b
    (tmp_path / "a" / "training_args.bin").write_bytes(b"3")
    read_again()
    assert (base_identity(str(tmp_path / "a")) == a) is (weights == "model.safetensors"), "not what is loaded"


def test_a_training_selects_by_loss_if_asked() -> None:
    selections = {"": "accuracy", ", selection=loss": "loss", ", selection=macro_f1": "macro_f1"}
    for given, selection in selections.items():
        plan = made(PLAN.replace("batch_size=8", f"batch_size=8{given}"))
        assert {dict(job.spec["recipe"]["params"])["selection"] for job in plan.trainings} == {selection}
