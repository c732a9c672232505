"""The plans can be read, without weights: every setting exists, and each study has what the page looks for."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from assay.statistics.claims import Outcome
from reproductions.smat.claims import CLAIMS, NORMALISERS
from reproductions.smat.evidence import Evidence, Room
from reproductions.smat.page import PLANS, _places
from reproductions.smat.published import NAMES, OWN, SMAT, short_name

HERE = Path(__file__).parents[1]
SPLITS = {
    "sst2_sentences": ("train", "dev", "test"),
    "imdb": ("train", "test"),
    "eraser_movies": ("test",),
    "mlqe_pe": ("ro-en.train", "ro-en.dev", "ro-en.test"),
}
ROWS = 1000  # in test splits, from which students are drawn


@pytest.fixture(scope="module")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of each data set, and empty models, where the plans look for them."""
    root = tmp_path_factory.mktemp("smat")
    for name, splits in SPLITS.items():
        folder = root / "reproductions" / "data" / name
        folder.mkdir(parents=True)
        for split in splits:
            with gzip.open(folder / f"{split}.jsonl.gz", "wt") as file:
                for i in range(4000 if name == "imdb" else ROWS if split.endswith("test") else 24):
                    file.write(json.dumps(row_of(name, split, i)) + "\n")
    (root / "reproductions" / "data" / "cifar10").mkdir()
    for split, count in (("train", 24), ("test", ROWS)):
        images = np.random.default_rng(0).integers(0, 255, (count, 4, 4, 3), dtype=np.uint8)
        content = {"images": images, "labels": np.arange(count) % 2, "classes": np.array(["cat", "dog"])}
        np.savez(root / "reproductions" / "data" / "cifar10" / f"{split}.npz", **content)
    for model in (
        "models/minilm",
        "models/bert-tiny-toxicity",
        "smat/models/minilm-3",
        "smat/models/dinov2-56",
    ):  # only their files are hashed
        folder = root / "reproductions" / model
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    return root


def row_of(name: str, split: str, i: int) -> dict[str, object]:
    if name == "mlqe_pe":
        words = {"source_tokens": ["film"], "target_tokens": ["Film"], "source_tags": [1], "target_tags": [0]}
        return {"id": f"{split}-{i}", "source": f"film {i}", "target": f"Film {i}", "score": i / 10, **words}
    row = {"id": f"{split}-{i}", "text": f"film number {i} was fine", "label": ("negative", "positive")[i % 2]}
    return row | ({"rationale": [[0, 4]]} if name == "eraser_movies" else {})


def plan_of(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.chdir(root)
    return read_plan(HERE / name, Store(root / "store"))


def test_the_students_of_table_1_and_7(small_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("sst.yaml", small_data, monkeypatch)
    studies = {cell.name: cell.study for cell in plan.cells}
    assert {*NORMALISERS, "students", "others", "more_texts", "weaker"} == set(studies)
    assert [studies[name].normaliser for name in ("students", *NORMALISERS)] == [
        "sparsemax",
        "softmax",
        "entmax15",
        "none",
    ]
    places = [place for place in _places("sst", plan) if place.study == "students" and place.step == "student"]
    few = {place.key: place for place in places if place.size == 125}.values()  # controls are shared by two studies
    counts = Counter(short_name(place.method) for place in few)
    assert set(counts.values()) == {studies["students"].seeds}
    assert {place.size for place in places} == {125, 250}
    static = set(NAMES.values()) - {OWN} | {"gradient", "gradient_x_input"}
    assert set(counts) == static | {f"shuffled {name}" for name in static} | {OWN, "none", "uniform"}
    assert SMAT in counts


def test_no_statement_about_students_is_left_open_by_the_plans(
    small_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the claims compare is what the plans train."""
    rng, answers = np.random.default_rng(0), np.arange(40) % 2
    said: dict[tuple[str, str], dict[int, dict[str, set[int]]]] = {}
    for data in ("sst", "cifar", "mlqe"):
        for place in _places(data, plan_of(PLANS[data], small_data, monkeypatch)):
            if place.step == "student":
                methods = said.setdefault((data, place.study), {}).setdefault(place.size, {})
                methods.setdefault(short_name(place.method), set()).add(place.seed)
    rooms = {
        cell: {
            size: Room(answers, {m: rng.integers(0, 2, (len(seeds), 40)) for m, seeds in methods.items()})
            for size, methods in sizes.items()
        }
        for cell, sizes in said.items()
    }
    findings = [f for claim in CLAIMS for f in claim.judge(Evidence(rooms)).findings]
    left = [f.statement.text for f in findings if f.outcome == Outcome.NOT_RUN]
    assert [text for text in left if not text.startswith("movies") and "heads" not in text] == []
    few = [f.statement.text for f in findings if "3 students" in f.statement.reason]
    assert few
    assert all(text.startswith("mlqe") for text in few)


@pytest.mark.parametrize("name", [*PLANS.values(), "full/imdb.yaml", "full/mlqe.yaml"])
def test_every_plan_can_be_read_and_uses_what_it_fits(
    name: str, small_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(name, small_data, monkeypatch)
    used = {key for cell in plan.cells for job in cell.jobs for key in job.needs}
    assert {job.key for job in plan.fits} <= used
    assert len(plan.trainings) == 1
    assert {"students"} <= {cell.name for cell in plan.cells} or name == "movies.yaml"
