"""The full-scale plans, listed with small stand-ins for data and vectors and without any weights; MIMIC's tasks."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import pytest

import assay

from ..full import mimic
from ..full.data import SIZES, compare
from ..plans import HERE

STEPS, SEEDS, TASKS = 9, 5, 8  # of a measure that masks shares
PLANS = {"roberta.yaml": 3, "bilstm.yaml": 4}  # measures


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Two texts per split, and vectors of two words, where the plans look for them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "reproductions/roar/full"
    for name in SIZES:
        (folder / "data" / name).mkdir(parents=True)
        for split in ("train", "dev", "test"):
            pair = {"text_pair": "where is mary"} if name.startswith(("snli", "babi")) else {}
            rows = [{"id": f"{split}{i}", "text": f"{split} {i} b", **pair, "label": "xy"[i % 2]} for i in range(4)]
            (folder / "data" / name / f"{split}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (folder / "vectors").mkdir()
    for name in ("wiki.simple.vec", "glove.840B.300d.txt", "mimic.vec"):
        (folder / "vectors" / name).write_text("a 1 2\nb 3 4\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_full_plans_list_their_jobs(stand_ins, name):
    """Recursive ROAR: per task, seed and measure nine rankings and nine trainings; a dry run needs no weights."""
    plan = assay.status(HERE / "full" / name, store=stand_ins / "store").plan
    studies = plan.studies()
    assert set(studies) == {"recursive", "roar", "words", "formula", "predicted"}
    assert {dict(cell.model.tags)["seed"] for cell in studies["recursive"]} == set(range(SEEDS))
    tasks = [job.task for cell in studies["recursive"] for job in cell.jobs if job.tags["method"] != "random"]
    counts = Counter(type(task).__name__ for task in tasks)
    assert counts["RankTask"] == STEPS * SEEDS * TASKS * PLANS[name]
    assert len({task.method for task in tasks if type(task).__name__ == "RankTask"}) == PLANS[name]
    artifacts = stand_ins / "store" / "artifacts"
    assert not artifacts.exists() or not any(artifacts.iterdir())


def test_plans_that_were_not_run_say_so():
    for path in [
        *(HERE / "full").glob("*.yaml"),
        HERE / "full/README.md",
        HERE / "full/mimic.py",
        HERE / "full/data.py",
    ]:
        assert "not run here" in path.read_text(encoding="utf-8").lower(), path


def write_csv(path, rows):
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)


def test_mimic_tasks(tmp_path):
    """Acute or chronic but not both; discharge summaries only, joined; too long notes left out."""
    codes = {str(i): ["2851"] if i % 2 else ["28521"] for i in range(40)} | {"both": ["2851", "2852"], "no": ["25000"]}
    codes |= {"long": ["2851"]}
    write_csv(
        tmp_path / "DIAGNOSES_ICD.csv.gz", [{"HADM_ID": a, "ICD9_CODE": c} for a, own in codes.items() for c in own]
    )
    notes = [
        {"HADM_ID": a, "CATEGORY": "Discharge summary", "TEXT": f"Mr. [**Name 3**] took 40mg --- {a}"} for a in codes
    ]
    notes += [
        {"HADM_ID": "1", "CATEGORY": "Discharge summary", "TEXT": "Addendum"},
        {"HADM_ID": "1", "CATEGORY": "Nursing", "TEXT": "asleep"},
        {"HADM_ID": "long", "CATEGORY": "Discharge summary", "TEXT": "word " * 4000},
    ]
    write_csv(tmp_path / "NOTEEVENTS.csv.gz", notes)
    splits = mimic.anemia(tmp_path)
    by_id = {row["id"]: row for rows in splits.values() for row in rows}
    assert {name: len(rows) for name, rows in splits.items()} == {"train": 27, "dev": 5, "test": 8}
    assert set(by_id) == {str(i) for i in range(40)}
    assert by_id["1"] == {"id": "1", "text": "mr . <DE> took [DIGITS] - [DIGITS] addendum", "label": "acute"}
    assert by_id["2"]["label"] == "chronic"
    for name, part in {"train": "no", "dev": "1", "test": "2\nmissing"}.items():
        (tmp_path / f"{name}_50_hadm_ids.csv").write_text(part)
    splits = mimic.diabetes(tmp_path)
    assert [splits[s][0]["label"] for s in ("train", "dev", "test")] == ["diabetes", "none", "none"]
    assert len(splits["test"]) == 1, "an admission without a summary is left out"


def test_counts_stand_beside_the_papers():
    rows = {"train": [{}] * 8500, "dev": [{}] * 1500, "test": [{}] * 1000}
    assert compare("babi3", rows) == "babi3: (8500, 1500, 1000), as in the paper"
    assert "PAPER (8066, 1573, 1729)" in compare("diabetes", rows)
