"""The answers of a study as a table, one row per judged heat map or guess, for CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.csv_table import csv_table
from assay.human.answers import Answer
from assay.human.folder import StudyFolder

COLUMNS = (
    "participant", "seat", "task", "example", "asked", "practice", "repeats", "place", "method", "rank", "guess",
    "answer", "correct", "comment", "saved",
)  # fmt: skip


def rows_of(folder: StudyFolder, answers: Sequence[Answer], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """names: the method of each code, or the codes themselves before a study is closed."""
    return [row for answer in answers for row in _rows(folder, answer, names)]


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    return csv_table(rows, COLUMNS)


def _rows(folder: StudyFolder, answer: Answer, names: Mapping[str, str]) -> list[dict[str, Any]]:
    task = folder.tasks(answer.seat)[answer.task]
    item = folder.items[task.item]
    common = dict.fromkeys(COLUMNS) | {
        "participant": answer.participant,
        "seat": answer.seat + 1,
        "task": answer.task + 1,
        "example": item.example,
        "practice": task.practice,
        "repeats": None if task.repeats is None else task.repeats + 1,
        "answer": item.answer,
        "comment": answer.comment,
        "saved": answer.saved,
    }
    asked = folder.asked(task.item)
    if asked is not None:
        guess, item = answer.content["guess"], folder.items[asked]
        common |= {"asked": item.example, "answer": item.answer}
        method = names[task.codes[0]] if task.codes else None
        return [common | {"method": method, "guess": guess, "correct": guess == item.answer}]
    ranks = answer.content["ranks"]
    places = enumerate(task.codes)
    return [common | {"place": place + 1, "method": names[code], "rank": ranks[code]} for place, code in places]
