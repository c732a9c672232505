"""Answers: what participants said, checked against the task, and turned into judgements and guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import InputError
from assay.human.folder import StudyFolder
from assay.human.items import Item
from assay.human.settings import GUESSES
from assay.human.tasks import Task
from assay.statistics.preferences.guesses import NO_EXPLANATION, Guess
from assay.statistics.preferences.judgement import Judgement, check_ranks

LONGEST = 2000  # characters of a comment


@dataclass(frozen=True)
class Answer:
    """What one participant said about one task, by codes of methods."""

    participant: str
    seat: int
    task: int
    content: Mapping[str, Any]  # {"ranks": {code: rank}} or {"guess": answer}
    comment: str = ""
    saved: float = 0.0  # seconds since 1970


def content_of(folder: StudyFolder, task: Task, given: Mapping[str, str]) -> dict[str, Any]:
    """The content of an answer from the fields of a form: rank-0, rank-1, ... from left to right; better; or guess."""
    kind = folder.study.kind
    asked = folder.asked(task.item)
    if asked is not None:
        return {"guess": _guess(folder.items[asked], given.get("guess", ""))}
    if kind == "choice":
        return {"ranks": dict(zip(task.codes, _choice(given.get("better", "")), strict=True))}
    ranks = [_rank(given.get(f"rank-{place}", ""), len(task.codes)) for place in range(len(task.codes))]
    check_ranks(ranks)
    return {"ranks": dict(zip(task.codes, ranks, strict=True))}


def fields_of(task: Task, content: Mapping[str, Any], kind: str) -> dict[str, str]:
    """The fields of a form that holds an answer already."""
    if kind in GUESSES:
        return {"guess": str(content["guess"])}
    ranks = [content["ranks"][code] for code in task.codes]
    if kind == "choice":
        return {"better": "same" if ranks[0] == ranks[1] else "left" if ranks[0] < ranks[1] else "right"}
    return {f"rank-{place}": str(rank) for place, rank in enumerate(ranks)}


def judgements(
    folder: StudyFolder, answers: Sequence[Answer], names: Mapping[str, str], *, repeated: bool = False
) -> list[Judgement]:
    """The rankings that are analysed, or those of repeated items, with the methods' names."""
    rows = [(answer, folder.tasks(answer.seat)[answer.task]) for answer in answers]
    chosen = [(a, t) for a, t in rows if not t.practice and (t.repeats is not None) == repeated]
    return [_judgement(folder, answer, task, names) for answer, task in chosen]


def repeated_pairs(
    folder: StudyFolder, answers: Sequence[Answer], names: Mapping[str, str]
) -> list[tuple[Judgement, Judgement]]:
    """The two rankings of every item that a participant judged twice."""
    by_task = {(answer.seat, answer.task): answer for answer in answers}
    pairs = []
    for answer in answers:
        tasks = folder.tasks(answer.seat)
        task = tasks[answer.task]
        first = None if task.repeats is None else by_task.get((answer.seat, task.repeats))
        if first is not None:
            earlier = _judgement(folder, first, tasks[first.task], names)
            pairs.append((earlier, _judgement(folder, answer, task, names)))
    return pairs


def guesses(folder: StudyFolder, answers: Sequence[Answer], names: Mapping[str, str]) -> list[Guess]:
    """The guesses that are analysed: neither practice nor repeated ones."""
    out = []
    for answer in answers:
        task = folder.tasks(answer.seat)[answer.task]
        if task.practice or task.repeats is not None:
            continue
        asked = folder.asked(task.item)
        assert asked is not None
        item = folder.items[asked]
        condition = names[task.codes[0]] if task.codes else NO_EXPLANATION
        out.append(Guess(_person(answer), item.example, condition, answer.content["guess"] == item.answer))
    return out


def _judgement(folder: StudyFolder, answer: Answer, task: Task, names: Mapping[str, str]) -> Judgement:
    ranks = {names[code]: int(rank) for code, rank in answer.content["ranks"].items()}
    return Judgement(_person(answer), folder.items[task.item].example, ranks)


def _person(answer: Answer) -> str:
    """Who answered: the seat, because the name of an account that was removed may be that of a new one."""
    return str(answer.seat)


def _guess(item: Item, given: str) -> str:
    if given not in item.options:
        raise InputError("Choose one of the answers." if not given else f"{given!r} is not one of the model's answers.")
    return given


def _choice(given: str) -> tuple[int, int]:
    ranks = {"left": (1, 2), "right": (2, 1), "same": (1, 1)}
    if given not in ranks:
        raise InputError("Choose the better explanation, or say that they are equally good.")
    return ranks[given]


def _rank(given: str, most: int) -> int:
    if not given.strip():
        raise InputError(f"Give every explanation a rank, from 1 (best) to {most}.")
    if not given.strip().isascii() or not given.strip().isdecimal() or len(given.strip()) > 2:
        raise InputError(f"{given[:20]!r} is not a rank: give a whole number from 1 (best) to {most} (worst).")
    return int(given)
