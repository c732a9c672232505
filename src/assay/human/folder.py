"""The folder of a human study. What participants see and the key to the codes of methods are separate files.

study.json: settings and codes. items.jsonl: the items. pictures/: images. key.json: the method behind each code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.core.errors import InputError
from assay.core.files import write_file
from assay.human.items import Item
from assay.human.settings import HumanStudy
from assay.human.tasks import Task, seats_needed, tasks_of

VERSION = 1
STUDY, ITEMS, KEY, PICTURES, ANSWERS = "study.json", "items.jsonl", "key.json", "pictures", "answers.sqlite"


@dataclass(frozen=True, eq=False)
class StudyFolder:
    """A study that was prepared: settings and items, but not which method is behind which code."""

    path: Path
    id: str  # hash of all that makes the study; answers are filed under it
    title: str
    study: HumanStudy
    codes: tuple[str, ...]
    unsigned: tuple[str, ...]  # codes of methods without negative scores; only for the published colours
    items: tuple[Item, ...]

    @staticmethod
    def open(path: str | Path) -> StudyFolder:
        path = Path(path)
        head = read_head(path)
        if not head.get("complete"):
            raise InputError(f"the study in {path} is not complete; run the same `assay study create` again")
        items = tuple(Item.from_dict(row) for row in _lines(path / ITEMS))
        if len(items) != head["items"]:
            raise InputError(f"{path / ITEMS} has {len(items)} items instead of {head['items']}; restore the file")
        settings = HumanStudy.from_dict(head["settings"])
        return StudyFolder(
            path, head["id"], head["title"], settings, tuple(head["codes"]), tuple(head["unsigned"]), items
        )

    @cached_property
    def examples(self) -> tuple[int, ...]:
        return tuple(number for number, item in enumerate(self.items) if not item.practice)

    @cached_property
    def practice(self) -> tuple[int, ...]:
        return tuple(number for number, item in enumerate(self.items) if item.practice)

    @property
    def seats(self) -> int:
        """Participants after which every example has its annotators."""
        return seats_needed(self.study, len(self.examples))

    def tasks(self, seat: int) -> tuple[Task, ...]:
        if seat not in self._tasks:
            self._tasks[seat] = tasks_of(self.study, self.codes, self.examples, self.practice, seat)
        return self._tasks[seat]

    @cached_property
    def _tasks(self) -> dict[int, tuple[Task, ...]]:
        return {}

    def asked(self, number: int) -> int | None:
        """The item whose answer is guessed: the same, or the next one that is analysed; None in other kinds."""
        if self.study.kind != "next_guess":
            return number if self.study.kind == "guess" else None
        following = (item for item in self.examples if item > number)
        return next(following, self.examples[0])

    def picture(self, number: int) -> Path | None:
        """The image of an item; the name comes from the items, never from a request."""
        name = self.items[number].picture
        return None if name is None else self.path / PICTURES / name

    def methods(self) -> dict[str, str]:
        """The method behind each code. Only for results, after the study is closed."""
        content: dict[str, str] = _json(self.path / KEY)["methods"]
        return content

    def metrics(self) -> dict[str, str]:
        """The automatic metrics that items hold, and whether higher or lower is better."""
        content: dict[str, str] = _json(self.path / KEY)["metrics"]
        return content


def read_head(path: Path) -> dict[str, Any]:
    """study.json, checked."""
    if not (path / STUDY).is_file():
        raise InputError(
            f"{path} holds no human study; make one with `assay study create --output {path}`, or give `assay serve` a "
            "--model and --data too, and create it in the browser"
        )
    head = _json(path / STUDY)
    if head.get("version") != VERSION:
        raise InputError(
            f"the study in {path} has the version {head.get('version')}, and this Assay reads {VERSION}; "
            "use the version of Assay that made it, or make the study again"
        )
    return head


def is_complete(path: Path) -> bool:
    """Whether a folder holds a study that was prepared to its end."""
    return (path / STUDY).is_file() and bool(read_head(path).get("complete"))


def start_folder(path: Path, head: Mapping[str, Any], methods: Mapping[str, str]) -> bool:
    """Begin a study, or go on with the same one; whether it is complete. Another study or other files are refused."""
    if (path / STUDY).is_file():
        known = read_head(path)
        if known["id"] != head["id"]:
            raise InputError(
                f"{path} holds another study ({known['title']}); two studies cannot share a folder. Name another "
                "--output, or repeat the command that made it"
            )
        return bool(known["complete"])
    if path.is_dir() and any(not file.name.startswith(ANSWERS) for file in path.iterdir()):  # a server may run already
        raise InputError(f"{path} is not empty and holds no human study; name another --output")
    write_file(path / KEY, _text({"methods": dict(methods), "metrics": {}}), parents=True)
    write_file(path / STUDY, _text({**head, "version": VERSION, "complete": False}))
    return False


def finish_folder(path: Path, items: Sequence[Item], metrics: Mapping[str, str]) -> None:
    """Write the items and the direction of each metric; from then on the study is complete."""
    lines = (json.dumps(item.to_dict(), ensure_ascii=False, allow_nan=False) for item in items)
    write_file(path / ITEMS, "".join(f"{line}\n" for line in lines))
    write_file(path / KEY, _text({**_json(path / KEY), "metrics": dict(metrics)}))
    write_file(path / STUDY, _text({**read_head(path), "items": len(items), "complete": True}))


def _text(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}; restore the file, or make the study again") from error


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}; restore the file, or make the study again") from error
