"""The page and the report of a tiny store: two T5s of one and two blocks, trained and explained."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import assay
from assay.experiments.plan import read_plan
from assay.experiments.store import Store

from .. import full_attack, page
from .synthetic_evidence import SIZES

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


def test_the_page_of_a_tiny_store(run_folder: Path, tmp_path: Path) -> None:
    where = {"plans": {"sst": "tiny.yaml", "mnli": "none.yaml"}, "folder": run_folder}
    text = page.write(run_folder / "store", tmp_path / "out", shown_store="STORE", **where).read_text()
    for name in ("sizes_ground_truth", "sizes_cascading"):
        assert (tmp_path / "out" / "figures" / f"{name}.png").stat().st_size > 1000
        assert f"reproductions.thesis.page --store STORE --only {name}" in text
    assert "| augmented SST | t5_1 | `t5(layers=1" in text
    assert "from scratch" in text
    assert text.count("### ") >= 25
    table = text.partition("## Success of attacks")[2]
    attacks = [
        line.split(" | ") for line in table.splitlines() if line.startswith("| augmented SST | attack | t5_1 | ")
    ]
    assert attacks
    assert all(0 <= int(cells[6]) <= int(cells[7]) <= int(cells[5]) for cells in attacks)  # succeeded, within, attacks
    outputs = text.partition("## Output of a randomised model")[2]
    (row,) = [line.split(" | ") for line in outputs.splitlines() if line.startswith("| t5_2 | ")]
    rows = [
        r for r in assay.results(run_folder / "tiny.yaml", store=run_folder / "store") if r["study"] == "randomisation"
    ]
    last = [r["value"] for r in rows if (r["grid"], r["mode"], r["block"]) == ("t5_2", "cascading", 1)]
    assert row[1].split()[0] == f"{sum(last) / len(last):.2f}"
    maps = (tmp_path / "out" / "attacked.html").read_text()
    assert maps.count('<p class="h"') == 3  # one sentence: the original and two objectives
    assert "Gradients of the logit" not in maps  # not in this plan
    e, _ = page.read_evidence(run_folder / "store", **where)
    small, large = (next(r for r in e.models if r["grid"] == grid) for grid in SIZES[:2])
    assert (small["layers"], large["layers"]) == (1, 2)
    assert 0 < small["parameters"] < large["parameters"]
    assert 0 < e.floors["sst", "t5_1"] < 0.5
    assert e.passes["sst", "t5_1", "gradient"] == (1.0, 1.0)


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
    assert page.full_attack_table(tmp_path).count("| thesis | 3 | 2 |") == 2  # a line per objective
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
