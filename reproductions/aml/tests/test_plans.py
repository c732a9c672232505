"""The plans can be read, without weights: every setting exists, and each study has what it names."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from reproductions.aml.claims import IMDB, MOVIES
from reproductions.aml.evidence import TRAINING
from reproductions.aml.page import TABLE_1, _places

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
    models = ("minilm", "granite-embedding-30m-english", "distilbert-cased-quire-grammar")
    for model in models:  # only their files are hashed
        folder = tmp_path / "reproductions" / "models" / model
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_explainer_of_the_plan_is_used(small_data: Path) -> None:
    plan = read_plan(HERE / "encoders.yaml", Store(small_data / "store"))
    used = {key for cell in plan.cells for job in cell.jobs for key in job.needs}
    used |= {key for job in plan.fits for key in job.needs}
    assert {job.key for job in plan.fits} <= used


def test_run_runs_every_study_once_and_the_weights_first(small_data: Path) -> None:
    """The parts of run.sh name all studies of the plans, and each record has a place on the page."""
    lines = (HERE / "run.sh").read_text().splitlines()
    script = "\n".join(line for line in lines if not line.startswith("#"))
    plan = read_plan(HERE / "encoders.yaml", Store(small_data / "store"))
    named = re.findall(r"encoders\.yaml study=([\w,$]+)", script)
    studies = [name for part in named for name in part.split(",")]
    loop = [name for name in studies if name.endswith("_$data")]
    expected = [name.replace("$data", data) for name in loop for data in ("sst", "emotion", "rotten")]
    found = sorted([*expected, *(name for name in studies if name not in loop)])
    assert found == sorted({cell.name for cell in plan.cells})
    found = list(_places(plan))
    assert {(place.data, place.model) for place in found} == {*TABLE_1, IMDB, MOVIES}
    trained = {(place.data, place.model) for place in found if place.name == TRAINING}
    assert trained == set(TABLE_1), "each explained model stands where its explainers are judged"


def test_the_weights_of_the_search_reach_all_data_sets(small_data: Path) -> None:
    plan = read_plan(HERE / "encoders.yaml", Store(small_data / "store"))
    by_name = {job.tags["method"]: job for job in plan.fits}
    for data in ("sst", "rotten", "emotion"):
        assert by_name["searched"].key in by_name[f"paml_{data}"].needs
        assert by_name["searched_sufficiency"].key in by_name[f"paml_sufficiency_{data}"].needs


def test_the_plan_in_full_has_all_cells_of_table_1(small_data: Path) -> None:
    plan = read_plan(HERE / "full" / "encoders.yaml", Store(small_data / "store"))
    counts = Counter(cell.name.partition("_")[0] for cell in plan.cells)
    assert counts == {"baselines": 12, "aml": 12}  # three models, four data sets
    assert len(plan.trainings) == 12
    assert len(plan.fits) == 24  # for each metric
