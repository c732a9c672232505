"""The page of a tiny store: two T5s of one block, trained and explained for real."""

from __future__ import annotations

from pathlib import Path

import page

import assay

from .made import SIZES

PLAN = """
data:
  cues: {source: augmented(builtin), limit: 4, seed: 0}
models:
  t5_1: &size
    train: t5(layers=1, width=16, heads=2, vocabulary=300)
    on: cues
    recipe: recipe(epochs=1, batch_size=16)
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
  randomisation: {kind: study, data: cues, study: "layer_randomisation(methods=[gradient(reduction=sum)])"}
"""


def test_the_page_of_a_tiny_store(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(PLAN)
    assert assay.run(tmp_path / "tiny.yaml", store=tmp_path / "store", progress=False).ok
    where = {"plans": {"sst": "tiny.yaml", "mnli": "none.yaml"}, "folder": tmp_path}
    made = page.write(tmp_path / "store", tmp_path / "docs", words="STORE", **where)
    text = made.read_text()
    for name in ("sizes_ground_truth", "sizes_cascading"):
        assert (tmp_path / "docs" / "thesis" / f"{name}.png").stat().st_size > 1000
        assert f"page.py --store STORE --only {name}" in text
    assert "| augmented SST | t5_1 | `t5(layers=1" in text
    assert "from scratch" in text
    assert text.count("### ") >= 25
    e, _ = page.gather(tmp_path / "store", **where)
    small, large = (next(r for r in e.models if r["grid"] == grid) for grid in SIZES[:2])
    assert (small["layers"], large["layers"]) == (1, 2)
    assert 0 < small["parameters"] < large["parameters"]
    assert 0 < e.floors["sst", "t5_1"] < 0.5
    assert e.passes["sst", "t5_1", "gradient"] == (1.0, 1.0)
