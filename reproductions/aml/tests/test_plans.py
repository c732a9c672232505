"""The plans can be read, without weights: every setting exists, and each study has what it names."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from reproductions.aml.page import PLANS

HERE = Path(__file__).parents[1]
SPLITS = {
    "sst2_sentences": ("train", "dev", "test"),
    "rotten_tomatoes": ("train", "dev", "test"),
    "emotion": ("train", "dev", "test"),
    "imdb": ("train", "test"),
    "eraser_movies": ("train", "dev", "test"),
}
LABELS = {"emotion": ("anger", "fear", "joy", "love", "sadness", "surprise")}


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two dozen rows of each data set, and empty models, where the plans look for them."""
    for name, splits in SPLITS.items():
        folder = tmp_path / "reproductions" / "data" / name
        folder.mkdir(parents=True)
        labels = LABELS.get(name, ("negative", "positive"))
        for split in splits:
            with gzip.open(folder / f"{split}.jsonl.gz", "wt") as file:
                for i in range(24):
                    row = {"id": f"{split}-{i}", "text": f"film number {i} was fine", "label": labels[i % len(labels)]}
                    row |= {"rationale": [[0, 4]]} if name == "eraser_movies" else {}
                    file.write(json.dumps(row) + "\n")
    for model in ("minilm", "granite-embedding-30m-english"):  # only their files are hashed
        folder = tmp_path / "reproductions" / "models" / model
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [name for name in PLANS.values() if name != "language.yaml"])
def test_every_explainer_of_a_plan_is_used(name: str, small_data: Path) -> None:
    plan = read_plan(HERE / name, Store(small_data / "store"))
    used = {key for cell in plan.cells for job in cell.jobs for key in job.needs}
    assert {job.key for job in plan.fits} <= used


def test_the_plan_in_full_has_all_cells_of_table_1(small_data: Path) -> None:
    plan = read_plan(HERE / "full" / "encoders.yaml", Store(small_data / "store"))
    counts = Counter(cell.name.partition("_")[0] for cell in plan.cells)
    assert counts == {"baselines": 12, "aml": 12}  # three models, four data sets
    assert len(plan.trainings) == 12
    assert len(plan.fits) == 24  # for each metric
