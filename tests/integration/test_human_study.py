"""The commands of the guide to human studies, as it stands, and what they say about bad input."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from assay.human.folder import ANSWERS, StudyFolder
from assay.statistics.preferences.judgement import competition_ranks
from assay.web.accounts import SCHEMA as ACCOUNTS
from assay.web.accounts import Account
from assay.web.database import Database
from assay.web.study.answers import SCHEMA, StudyDatabase

from .conftest import invoke

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "human_study.md").read_text(encoding="utf-8")


def guided(command: str) -> list[str]:
    """A command of the guide."""
    line = re.search(rf"^assay {command}.*$", GUIDE, re.MULTILINE)
    assert line, command
    return shlex.split(line[0])[1:]


def answer(folder: StudyFolder, people: int) -> None:
    """Everybody likes occlusion best, then the others by name."""
    database = Database.open(folder.path / ANSWERS, [ACCOUNTS, SCHEMA])
    answers, names = StudyDatabase(database, folder.id), folder.methods()
    for number in range(people):
        person = answers.join(Account(f"id-{number}", f"person {number}", "participant"))
        for task in folder.tasks(person.seat):
            ranks = competition_ranks([(names[code] != "occlusion", names[code]) for code in task.codes])
            answers.save(person, task.number, {"ranks": dict(zip(task.codes, ranks, strict=True))}, "")
    database.close()


def test_the_guide_from_create_to_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    made = invoke(*guided("study create"))
    assert made.exit_code == 0, made.output
    assert "3 participants are needed" in made.output
    none = invoke(*guided("study results"))
    assert none.exit_code != 0
    assert "there are no answers" in none.output
    folder = StudyFolder.open("study")
    answer(folder, 8)
    shown = invoke(*guided("study results"), "--json", "study.json")
    assert shown.exit_code == 0, shown.output
    assert "People prefer occlusion to gradient_x_input and integrated_gradients." in shown.output
    assert "comprehensiveness" in shown.output
    assert "People prefer occlusion" in Path("study.html").read_text()
    assert json.loads(Path("study.json").read_text())["participants"] == 8
    assert invoke(*guided("study export")).exit_code == 0
    rows = list(csv.DictReader(Path("answers.csv").read_text().splitlines()))
    assert len(rows) == 8 * 17 * 3  # 2 to practise on, 10 examples and 5 repeated ones, 3 heat maps each
    assert {row["rank"] for row in rows if row["method"] == "occlusion"} == {"1"}
    wrong = invoke("study", "export", "study", "--output", "answers.xlsx")
    assert "ends in .csv or .json" in wrong.output


def test_a_missing_study_gets_a_sentence(tmp_path: Path) -> None:
    for command in (["results"], ["export", "--output", str(tmp_path / "a.csv")]):
        done = invoke("study", command[0], str(tmp_path), *command[1:])
        assert done.exit_code == 2
        assert "holds no human study" in done.output
