"""Explainers that a plan fits: used by name, stored, resumed, reported, packed; their keys hold no folders."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import assay
from assay.experiments.plan import make_plan
from assay.experiments.store import Store
from assay.experiments.yaml_node import YamlNode

WORDS = "a the film plot story slow dull charming moving funny sad warm weak clever".split()  # noqa: SIM905
PLAN = """
name: fits
data:
  texts: {source: DATA, split: test}
models: {ready: builtin}
explainers:
  quick: {fit: "aml(epochs=1, masks=2, batch_size=10)", on: texts, models: ready}
studies:
  evaluate:
    methods: [quick, "quick(steps=1)", "ensemble([quick, random])", random]
    metrics: [comprehensiveness]
  randomise: {methods: [quick], modes: [cascading]}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for split, count in (("train", 24), ("dev", 4), ("test", 3)):
        texts = [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 7)) for i in range(1, count + 1)]
        labels = ("positive", "negative")
        lines = [json.dumps({"text": f"{text} {i}", "label": labels[i % 2]}) for i, text in enumerate(texts)]
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def ran(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    (folder / "plan.yaml").write_text(PLAN.replace("DATA", str(data)))
    status = assay.run(folder / "plan.yaml", store=folder / "store", progress=False)
    assert status.ok, status.reasons
    assert len(status.states) == 3
    return folder


def test_the_fit_is_a_job_whose_record_outlives_its_weights(ran: Path) -> None:
    again = assay.run(ran / "plan.yaml", store=ran / "store", progress=False)
    assert again.before == 3
    counts = assay.status(ran / "plan.yaml", store=ran / "store").counts()
    assert ("fit", "ready") in counts
    rows = assay.results(ran / "plan.yaml", store=ran / "store")
    fitted = [row for row in rows if row["study"] == "fit"]
    assert {row["metric"] for row in fitted} == {"comprehensiveness", "comprehensiveness of a random order"}
    assert {row["method"] for row in fitted} == {"quick"}
    shown = {row["method"] for row in rows if row["study"] == "evaluate"}
    assert shown == {"aml(quick)", "aml(quick, steps=1)", "ensemble([aml(quick), random])", "random"}
    assert not list(ran.glob("store/artifacts/*/explainer.safetensors")), "nobody needs the weights any more"


def test_the_report_needs_no_weights(ran: Path, tmp_path: Path) -> None:
    files = {path.name for path in assay.report(ran / "plan.yaml", tmp_path / "report", store=ran / "store")}
    assert {"fit.csv", "evaluate.csv", "randomise.csv", "rows.csv"} <= files
    page = next((tmp_path / "report" / "evaluate").glob("*.html")).read_text()
    assert "aml(quick)" in page
    assert str(ran) not in page


def test_no_record_names_a_folder_of_this_machine(ran: Path, data: Path) -> None:
    for path in ran.glob("store/??/*.json"):
        text = path.read_text()
        assert str(ran) not in text
        assert str(data) not in text


def test_packed_and_unpacked(ran: Path, tmp_path: Path) -> None:
    assert assay.pack([ran / "plan.yaml"], tmp_path / "records.xz", store=ran / "store") == (3, 3)
    assay.unpack(tmp_path / "records.xz", store=tmp_path / "other")
    assert assay.status(ran / "plan.yaml", store=tmp_path / "other").ok
    assay.report(ran / "plan.yaml", tmp_path / "report", store=tmp_path / "other")
    assert next((tmp_path / "report" / "evaluate").glob("*.html")).read_text().count("aml(quick)")


def keys(text: str, store: Path) -> dict[str, str]:
    plan = make_plan(YamlNode.parse(text), Store(store))
    return {job.name: key for key, job in plan.jobs.items()}


def test_the_key_holds_all_that_changes_the_result(data: Path, tmp_path: Path) -> None:
    text = PLAN.replace("DATA", str(data))
    first = keys(text, tmp_path)
    moved = tmp_path / "moved"
    shutil.copytree(data, moved)
    assert keys(PLAN.replace("DATA", str(moved)), tmp_path) == first, "the same content elsewhere"
    edited = tmp_path / "edited"
    shutil.copytree(data, edited)
    (edited / "train.jsonl").write_text((data / "train.jsonl").read_text().replace("charming", "lovely"))
    for changed in (text.replace("masks=2", "masks=4"), PLAN.replace("DATA", str(edited))):
        other = keys(changed, tmp_path)
        assert not set(other.values()) & set(first.values()), "and what uses the explainer is another job too"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("quick: {", "lime: {", "lime is the name of a method"),
        ("masks=2", "mask=2", "aml has no parameter 'mask'"),
        ("aml(epochs=1, masks=2, batch_size=10)", "lime", "'lime' cannot be fitted"),
        ("on: texts", "on: nothing", "the plan has no 'nothing'"),
        ("on: texts, ", "", "needs `on`"),
        ("models: ready}", "model: ready}", "unknown key 'model'"),
        ("ready: builtin", "other: builtin, ready: builtin", "quick is not fitted to other"),
        ("[quick, ", "[quic, ", "unknown method 'quic'"),
        ('"quick(steps=1)"', '"quick(10)"', "by name, such as steps=10"),
        ("masks=2", "masks=2, start=quick", "quick takes from quick, which never ends"),
    ],
)
def test_mistakes_are_sentences(data: Path, tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(assay.AssayError, match=words.replace("(", r"\(")):
        keys(PLAN.replace("DATA", str(data)).replace(old, new), tmp_path)


CHAIN = """
name: chain
data:
  texts: {source: DATA, split: test}
models: {ready: builtin}
explainers:
  warm: {fit: "aml(objective=masking, epochs=1, batch_size=10, start=tuned, weights_of=tuned)", on: texts}
  tuned: {fit: "aml(objective=masking, epochs=1, batch_size=10, inverse=0.5)", on: texts}
studies:
  evaluate: {methods: [warm, random], metrics: [comprehensiveness]}
"""


def test_a_fit_takes_weights_from_another_of_the_plan(data: Path, tmp_path: Path) -> None:
    text = CHAIN.replace("DATA", str(data))
    (tmp_path / "plan.yaml").write_text(text)
    status = assay.run(tmp_path / "plan.yaml", store=tmp_path / "store", only={"study": ["evaluate"]}, progress=False)
    assert status.ok, status.reasons
    store = Store(tmp_path / "store")
    records = {job.tags["method"]: store.get(job.key) for job in make_plan(YamlNode.parse(text), store).fits}
    tuned, warm = (records[name].rows for name in ("tuned", "warm"))
    assert warm["settings"]["inverse"] == 0.5
    assert warm["start"]["value"] == pytest.approx(tuned["validation"]["best"], abs=1e-6)
    first, other = keys(text, tmp_path), keys(text.replace("inverse=0.5", "inverse=0.6"), tmp_path)
    assert all(first[name] != other[name] for name in first), "a changed source changes all that follows"


def test_the_card_of_a_deleted_explainer_is_enough_for_its_weights_of_losses(data: Path, tmp_path: Path) -> None:
    """What a search found outlives its explainer: another fit takes it over, and nothing is fitted again."""
    text = CHAIN.replace("DATA", str(data)).replace("start=tuned, ", "")
    tuned_only = text.replace("methods: [warm, random]", "methods: [tuned, random]")
    for name, plan in (("first", tuned_only), ("second", text), ("third", CHAIN.replace("DATA", str(data)))):
        (tmp_path / f"{name}.yaml").write_text(plan)
    run = partial(assay.run, store=tmp_path / "store", only={"study": ["evaluate"]}, progress=False)
    assert run(tmp_path / "first.yaml").ok
    store = Store(tmp_path / "store")
    key = next(job.key for job in make_plan(YamlNode.parse(text), store).fits if job.tags["method"] == "tuned")
    before = store.path(key).stat().st_mtime_ns
    assert not store.artifacts.has(key), "nobody needs its weights any more"
    assert run(tmp_path / "second.yaml").ok
    fits = {job.tags["method"]: store.get(job.key) for job in make_plan(YamlNode.parse(text), store).fits}
    assert fits["warm"].rows["settings"]["inverse"] == 0.5
    assert store.path(key).stat().st_mtime_ns == before, "it was not fitted again"
    assert run(tmp_path / "third.yaml").ok
    assert store.path(key).stat().st_mtime_ns > before, "a warm start needs the weights themselves"


def test_a_failed_fit_blocks_only_what_needs_it(data: Path, tmp_path: Path) -> None:
    text = PLAN.replace("DATA", str(data)).replace("on: texts,", "on: texts, limit: 5,").replace(
        "  randomise: {methods: [quick]", "  randomise: {methods: [gradient]"
    )  # fmt: skip
    (tmp_path / "plan.yaml").write_text(text)
    status = assay.run(tmp_path / "plan.yaml", store=tmp_path / "store", progress=False)
    assert sorted(map(str, status.states.values())) == ["blocked", "done", "failed"]
    assert all("too few to fit an explainer" in reason for reason in status.reasons.values())
    assay.report(tmp_path / "plan.yaml", tmp_path / "report", store=tmp_path / "store")
    assert "too few to fit an explainer" in (tmp_path / "report" / "index.html").read_text()


TRAINED = """
data: {cues: {source: DATA, split: test}}
models:
  small:
    train: bert(layers=1, width=16, heads=2, vocabulary=300, positions=128)
    on: cues
    recipe: recipe(epochs=1, batch_size=16)
    requires: accuracy >= chance + 0.9
explainers:
  quick: {fit: "aml(epochs=1, masks=2)", on: trained_on}
studies:
  evaluate: {methods: [quick, random], metrics: [sufficiency]}
"""


def test_no_explainer_is_fitted_to_a_model_that_does_not_meet_its_requirement(data: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TRAINED.replace("DATA", str(data)))
    status = assay.run(tmp_path / "plan.yaml", store=tmp_path / "store", progress=False)
    assert sorted(map(str, status.states.values())) == ["done", "skipped", "skipped"]


def test_roar_ranks_with_the_fitted_model_only(data: Path, tmp_path: Path) -> None:
    study = "{models: small, data: trained_on, methods: [quick], step: 50, test: test}"
    text = TRAINED.replace("DATA", str(data)).replace("    requires: accuracy >= chance + 0.9\n", "")
    text = text.replace("  evaluate: {methods: [quick, random], metrics: [sufficiency]}", f"  roar: {study}")
    with pytest.raises(assay.SpecError, match=r"aml\(quick\) was fitted to one model. Recursive ROAR ranks"):
        keys(text, tmp_path)
    with pytest.raises(assay.SpecError, match="A measurable model is fine-tuned with masks first"):
        keys(text.replace("roar: {", "measurable: {"), tmp_path)
    (tmp_path / "plan.yaml").write_text(text.replace("roar: {", "roar: {recursive: false, "))
    status = assay.run(tmp_path / "plan.yaml", store=tmp_path / "store", progress=False)
    assert status.ok, status.reasons
    assert {job.tags.get("method") for job in status.plan.jobs.values()} >= {"aml(quick)", "random"}


COMMAND = [sys.executable, "-m", "assay", "run", "plan.yaml", "--threads", "1", "--store"]
ENV = {**os.environ, "OMP_NUM_THREADS": "1"}


def weights(store: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(store.glob("artifacts/*/explainer.safetensors"))]


@pytest.mark.kill
def test_a_fit_killed_inside_a_plan_goes_on_to_the_same_weights(data: Path, tmp_path: Path) -> None:
    """SIGKILL while it fits: masks that ran are kept, and the weights are the same to the bit."""
    text = PLAN.replace("DATA", str(data)).replace("epochs=1", "epochs=400").replace("models: ready}", "keep: true}")
    (tmp_path / "plan.yaml").write_text(text)
    assert subprocess.run([*COMMAND, "whole"], cwd=tmp_path, env=ENV, check=False).returncode == 0
    victim = subprocess.Popen([*COMMAND, "killed"], cwd=tmp_path, env=ENV, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not list(tmp_path.glob("killed/artifacts/*.part/values.safetensors")):
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL, "it was still at work"
    assert subprocess.run([*COMMAND, "killed"], cwd=tmp_path, env=ENV, check=False).returncode == 0
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole") != []


@pytest.mark.ray
def test_the_same_explainer_with_ray(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "plan.yaml").write_text(PLAN.replace("DATA", str(data)).replace("models: ready}", "keep: true}"))
    for store, more in (("local", []), ("cluster", ["--engine", "ray", "--workers", "2"])):
        done = subprocess.run([*COMMAND, store, *more], cwd=tmp_path, env=ENV, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert weights(tmp_path / "local") == weights(tmp_path / "cluster") != []
    found = [sorted((p.name, json.loads(p.read_text())["rows"]) for p in tmp_path.glob(f"{store}/??/*.json"))
             for store in ("local", "cluster")]  # fmt: skip
    assert json.dumps(found[0]) == json.dumps(found[1])
