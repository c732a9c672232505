"""The page and the report of a tiny store: two T5s of one and two blocks, trained and explained."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.experiments.archive import unpack_records
from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from assay.masking.units import divide

from .. import full_attack, page, records
from ..findings import findings
from .synthetic_evidence import SIZES, Evidence, evidence
from .test_claims import false_score, true_attack, true_rho, true_score

PLAN = """
data:
  cues: {source: augmented(builtin), limit: 4, seed: 0}
models:
  t5_1: &size
    train: t5(layers=1, width=16, heads=2, vocabulary=300)
    on: cues
    recipe: recipe(epochs=1, batch_size=16)
    seeds: [1]
    limit: 16
    validation_limit: 8
  t5_2: {<<: *size, train: "t5(layers=2, width=16, heads=2, vocabulary=300)"}
studies:
  probability:
    kind: evaluate
    data: cues
    protocol: thesis
    scale: probability
    methods: [gradient(reduction=sum), random]
    metrics: [ground_truth_overlap, mean_rank_percentage]
  randomisation:
    kind: randomise
    data: cues
    methods: [gradient(reduction=sum), integrated_gradients(steps=2)]
    seeds: [0, 3]
  attack: {kind: attack, data: cues, models: t5_1, methods: [gradient], steps: 1}
"""


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thesis")
    (folder / "tiny.yaml").write_text(PLAN)
    assert assay.run(folder / "tiny.yaml", store=folder / "store", keep=True, progress=False).ok
    return folder


def test_the_page_of_a_tiny_store(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed once with the plans; then the packed records alone are enough."""
    plans = {"sst": "tiny.yaml", "mnli": "none.yaml"}
    done, jobs = records.update_records(Store(run_folder / "store"), tmp_path, plans, run_folder)
    assert done == jobs > 0
    monkeypatch.setattr(records, "read_plan", None)  # no data, no models
    packed = records.read_records(tmp_path)
    text = page.write(packed, tmp_path).read_text()
    for name in ("sizes_ground_truth", "sizes_cascading"):
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 1000
        assert f"figures/{name}.png" in text
    assert "| augmented SST | t5_1 | `t5(layers=1" in text
    assert "**Not run**" not in text  # all of this plan is there
    assert text.count("statements.md#claim-") == 25
    attacks = text.partition("## Success of attacks")[2]
    assert "| augmented SST | t5_1 | " in attacks
    assert "| sign | " in attacks
    statements = (tmp_path / "statements.md").read_text()
    assert all(f'<a id="claim-{number}">' in statements for number in range(1, 26))
    assert "16 Nov 09:05" in statements
    maps = (tmp_path / "attacked.html").read_text()
    assert maps.count('<p class="heat"') == 3  # one sentence: the original and two objectives
    assert "Gradients of the logit" not in maps  # not in this plan


def test_the_evidence_of_a_tiny_store(run_folder: Path, tmp_path: Path) -> None:
    store = Store(run_folder / "store")
    records.update_records(store, tmp_path, {"sst": "tiny.yaml"}, run_folder)
    e = records.evidence(records.read_records(tmp_path))
    small, large = (next(r for r in e.models if r["grid"] == grid) for grid in SIZES[:2])
    assert (small["layers"], large["layers"]) == (1, 2)
    assert 0 < small["parameters"] < large["parameters"]
    model = full_attack.trained_model(read_plan(run_folder / "tiny.yaml", store), store, "t5_1")
    words = [len(divide(model.encode(example), "token").units) for example in assay.load_dataset("augmented(builtin)")]
    floors = e.floor("t5_1").values.ravel()  # one cue among the words of each text
    assert set(np.round(1 / floors).astype(int)) <= set(words)
    assert e.passes["sst", "t5_1", "gradient"] == (1.0, 1.0)
    rows = [r for r in assay.results(run_folder / "tiny.yaml", store=store) if r["study"] == "randomisation"]
    last = [r["value"] for r in rows if (r["grid"], r["mode"], r["block"]) == ("t5_2", "cascading", 1)]
    assert e.output("t5_2", "cascading")[1] == pytest.approx(np.mean(last))
    scores = [r["value"] for r in assay.results(run_folder / "tiny.yaml", store=store) if _is_overlap(r)]
    assert e.score("t5_1", "gradient", "ground_truth_overlap").mean == pytest.approx(np.mean(scores))
    assert e.attack("t5_1", "gradient", "prediction_kept", "rank_change").gap != ""  # read under our name of the study


def _is_overlap(row: dict[str, Any]) -> bool:
    wanted = {"study": "probability", "grid": "t5_1", "metric": "ground_truth_overlap"}
    return wanted.items() <= row.items() and row["method"].startswith("gradient")


def test_sizes_of_models_survive_without_their_files(run_folder: Path, tmp_path: Path) -> None:
    """Records that were unpacked into another store come without configurations."""
    old, new = Store(run_folder / "store"), Store(tmp_path / "store")
    records.update_records(old, tmp_path, {"sst": "tiny.yaml"}, run_folder)
    before = records.read_records(tmp_path).models
    unpack_records(tmp_path / records.RECORDS, new)
    records.update_records(new, tmp_path, {"sst": "tiny.yaml"}, run_folder)
    after = records.read_records(tmp_path).models
    assert [row["parameters"] for row in after] == [row["parameters"] for row in before]


def test_a_folder_without_records_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(assay.AssayError, match="Run the plans, then the page with --update"):
        records.read_records(tmp_path)


def test_findings_follow_the_numbers() -> None:
    """Every sentence of the findings, on evidence that agrees with the thesis and on evidence that does not."""
    worlds = {}
    for agrees, score in ((True, true_score), (False, false_score)):
        rho, attack = (true_rho, true_attack) if agrees else (lambda *a: 0.9, lambda *a: 0.2)
        made = evidence(score, rho, attack, lambda m: 20, score, true_score, data=("sst", "mnli", "esnli"))
        worlds[agrees] = " ".join(findings(made, page.judge_claims(made)))
    pairs = {
        "find the cue": "do not find the cue",
        "is an exception": "is no exception",
        "Architectures differ more": "do not differ more",
        "gradient methods lose": "do not all lose",
        "Ensembles are as good": "Ensembles are not as good",
    }
    for agrees, words in pairs.items():
        assert agrees in worlds[True]
        assert words in worlds[False]
        assert words not in worlds[True]
    assert "ranked is closer to it" in worlds[False]  # whose attention agrees only where special tokens are ranked
    assert findings(Evidence({}), page.judge_claims(Evidence({})))[0].startswith("**Of twenty-five claims** 25 incomp")


def test_what_attacks_say_about_the_scale() -> None:
    """The earlier conclusion, that the thesis differentiated the logit, needs attacks that work on the logit alone."""

    def world(on_probability: float, on_logit: float) -> str:
        rows = evidence(attack=lambda *a: 0.5).rows["sst"]
        changes = {"attack": on_probability, "attack_logit": on_logit}
        changed = [
            {**row, "study": study, "rank_change": float(int(row["example"]) < 8 * share)}
            for study, share in changes.items()
            for row in rows
        ]
        e = Evidence({"sst": changed})
        return " ".join(findings(e, page.judge_claims(e)))

    assert "this no longer follows" in world(1.0, 1.0)
    assert "100% of inputs on the probability and 50% on the logit" in world(1.0, 0.5)
    assert "Attacks work on the logit (100% of inputs) but not on the probability (0%)" in world(0.0, 1.0)


def test_the_report_of_half_a_run(run_folder: Path, tmp_path: Path) -> None:
    """Lines over size and curves over blocks, also where the larger model has not been randomised yet."""
    store = shutil.copytree(run_folder / "store", tmp_path / "store")
    plan = run_folder / "tiny.yaml"
    (late,) = [job for job in read_plan(plan, Store(store)).jobs.values()
               if (job.tags["study"], job.tags["model"]) == ("randomisation", "t5_2")]  # fmt: skip
    (store / late.key[:2] / f"{late.key}.json").unlink()
    assay.report(plan, tmp_path / "out", store=store, figure_format="svg")
    drawn = {path.relative_to(tmp_path / "out" / "figures").as_posix() for path in tmp_path.glob("out/figures/*/*")}
    modes = {f"randomisation/{mode} by size of t5.svg" for mode in ("cascading", "independent")}
    assert drawn == {"probability/by size of t5.svg", "attack/by size of t5.svg", *modes}
    curve = (tmp_path / "out" / "figures" / "randomisation" / "cascading by size of t5.svg").read_text()
    assert "t5_1" in curve
    assert "t5_2" not in curve
    assert (
        'src="figures/randomisation/cascading%20by%20size%20of%20t5.svg"' in (tmp_path / "out/index.html").read_text()
    )


def test_the_full_attack_beside_the_cheaper_one(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_attack, "SETTINGS", {"reproduction": (1, 2), "thesis": (2, 3)})
    store = Store(run_folder / "store")
    plan = read_plan(run_folder / "tiny.yaml", store)
    model = full_attack.trained_model(plan, store, "t5_1")
    examples = full_attack.sentences(plan, model, 2)
    rows = list(full_attack.compare(model, examples))
    assert len(rows) == 2 * 2 * 2  # settings, objectives, sentences
    assert {(row["setting"], row["steps"], row["nodes"]) for row in rows} == {("reproduction", 1, 2), ("thesis", 2, 3)}
    alone = full_attack.attack(2, 3).run(model, examples)
    assert [row["rank_change"] for row in rows[4:]] == [round(row["rank_change"], 4) for row in alone]
    assert len(list(full_attack.side_by_side(rows))) == 1 + 4
    full_attack.write(rows, tmp_path / "full_attack.csv")
    assert len((tmp_path / "full_attack.csv").read_text().splitlines()) == 1 + 8
    with pytest.raises(assay.AssayError, match="Run the plan with --keep first"):
        full_attack.trained_model(plan, Store(tmp_path), "t5_1")


def test_a_study_keeps_its_seed_beside_that_of_the_training(run_folder: Path) -> None:
    rows = [
        row
        for row in assay.results(run_folder / "tiny.yaml", store=run_folder / "store")
        if row["study"] == "randomisation"
    ]
    assert {(row["model"], row["seed"], row["study_seed"]) for row in rows} == {
        (grid, 1, draw) for grid in SIZES[:2] for draw in (0, 3)
    }
