"""The plans in full can be read, without weights: every setting exists, and the numbers are the thesis's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Store

FULL = Path(__file__).parents[1] / "full"
CHECKPOINTS = {
    "t5_1": "google/t5-efficient-tiny",
    "t5_2": "google/t5-efficient-mini",
    "t5_3": "google/t5-efficient-small",
    "t5_4": "google/t5-efficient-base",
    "t5": "google-t5/t5-base",
    "bert": "google-bert/bert-base-uncased",
    "roberta": "FacebookAI/roberta-base",
    "gpt2": "openai-community/gpt2",
}
SPLITS = {
    "sst2": ("train", "dev"),
    "multinli": ("train", "dev_matched"),
    "esnli": ("train", "dev", "test"),
}


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two dozen rows of each data set where the plans look for them."""
    for name, splits in SPLITS.items():
        folder = tmp_path / "reproductions" / "data" / name
        folder.mkdir(parents=True)
        for split in splits:
            with gzip.open(folder / f"{split}.jsonl.gz", "wt") as file:
                for i in range(24):
                    file.write(json.dumps(_row(name, f"{name}-{split}-{i}", i)) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _row(name: str, key: str, i: int) -> dict[str, object]:
    if name == "sst2":
        return {"id": key, "text": f"film number {i} was fine", "label": ("negative", "positive")[i % 2]}
    label = ("entailment", "neutral", "contradiction")[i % 3]
    pair = {"id": key, "premise": f"Dog number {i} runs.", "hypothesis": "An animal moves.", "label": label}
    return {**pair, "rationales": [[[0, 3]]]} if name == "esnli" else pair


@pytest.mark.parametrize("name", ["augmented_sst", "mnli", "esnli"])
def test_a_full_plan_can_be_read(name: str, small_data: Path) -> None:
    plan = read_plan(FULL / f"{name}.yaml", Store(small_data / "store"))
    trained = {job.tags["grid"]: job.task for job in plan.trainings}
    assert {grid: task.train for grid, task in trained.items()} == CHECKPOINTS
    for task in trained.values():
        recipe = task.full_recipe("classification")
        assert (recipe.epochs, recipe.batch_size, recipe.learning_rate, recipe.warmup) == (10, 16, 5e-5, 0.06)
        assert (recipe.schedule, recipe.patience) == ("linear", 5)
        assert task.limit is None
    studies = plan.studies()
    assert {len(cells) for cells in studies.values()} == {8}
    assert _limits(plan) == {"probability": 500, "logit": 500, "controls": 500, "ranked": 500, "randomisation": 50,
                             "randomisation_logit": 50, "attack": 16, "attack_logit": 16, "attack_sign": 16,
                             "attack_sign_logit": 16}  # fmt: skip
    published = studies["attack"][0].study
    assert (published.step, published.steps, published.rate, published.halve) == ("gradient", 500, 0.1, 200)
    assert (published.epsilon, published.relative, published.share) == (2.0, False, 0.15)


def _limits(plan: Plan) -> dict[str, int]:
    return {name: cells[0].data.limit for name, cells in plan.studies().items()}
