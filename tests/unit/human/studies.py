"""Small human studies without a model, and participants who answer by known tastes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.core.png import png
from assay.core.spec import parse
from assay.core.types import Attribution, Target, Unit
from assay.human.answers import Answer
from assay.human.folder import PICTURES, StudyFolder, finish_folder, start_folder
from assay.human.items import Item, make_item
from assay.human.prepare import codes_of
from assay.human.settings import HumanStudy
from assay.statistics.preferences.judgement import competition_ranks

METHODS = ("gradient_x_input", "integrated_gradients", "average_attention", "secret_attention")
WORDS = ["a", "modest", "pleasure", "that", "accomplishes", "its", "goals"]


def made_study(
    path: Path, *, examples: int = 6, images: bool = False, hostile: str = "", **settings: Any
) -> StudyFolder:
    """A study of hand-made explanations in a folder."""
    study = HumanStudy(**{"practice": 1, "repeats": 2, **settings})
    names = codes_of(METHODS, study.seed)
    unsigned = [code for code, name in names.items() if "attention" in name]
    head = {"id": f"{abs(hash(str(study))):016x}"[:16], "title": f"Toy study{hostile}", "settings": study.to_dict()}
    start_folder(path, {**head, "codes": list(names), "unsigned": unsigned}, names)
    numbers = range(examples + study.practice)
    made = [_item(path, names, n, n < study.practice, images, hostile) for n in numbers]
    finish_folder(path, made, {"comprehensiveness": "higher"})
    return StudyFolder.open(path)


def _item(path: Path, names: dict[str, str], number: int, practice: bool, images: bool, hostile: str) -> Item:
    rng = np.random.default_rng(number)
    text = f"{' '.join(WORDS)} {number}{hostile}"
    units = _patches() if images else _words(text)
    attributions = {}
    for code, name in names.items():
        scores = rng.normal(size=len(units))
        scores = np.abs(scores) if "attention" in name else scores
        attributions[code] = Attribution(
            units, scores.astype(np.float32), Target(1, scale="logit"), "positive", parse(name), text=text,
            probabilities={"negative": 0.2, f"positive{hostile}": 0.8},
        )  # fmt: skip
    picture = f"{number}.png" if images else None
    if images:
        (path / PICTURES).mkdir(exist_ok=True)
        (path / PICTURES / f"{number}.png").write_bytes(png(rng.integers(0, 255, (32, 32, 3), np.uint8)))
    options = ("negative", f"positive{hostile}")
    item = make_item(f"example-{number}", attributions, options=options, picture=picture, practice=practice)
    values = {code: float(METHODS.index(name)) for code, name in names.items()}
    return Item(**{**item.__dict__, "metrics": {} if practice else {"comprehensiveness": values}})


def _words(text: str) -> tuple[Unit, ...]:
    units, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        units.append(Unit(word, start, start + len(word)))
        start += len(word)
    return tuple(units)


def _patches() -> tuple[Unit, ...]:
    return tuple(Unit("", 0, 0, box=(x, y, x + 8, y + 8)) for y in range(0, 32, 8) for x in range(0, 32, 8))


def tasteful(folder: StudyFolder, seats: int, *, noise: float = 1.0) -> list[Answer]:
    """Answers of participants who like methods better the later they stand in METHODS."""
    names, rng = folder.methods(), np.random.default_rng(0)
    answers = []
    for seat in range(seats):
        for task in folder.tasks(seat):
            asked = folder.asked(task.item)
            if asked is not None:
                right = rng.random() < (0.9 if task.codes and "secret" in names[task.codes[0]] else 0.5)
                item = folder.items[asked]
                content: dict[str, Any] = {"guess": item.answer if right else "negative"}
            else:
                liked = [-METHODS.index(names[code]) + noise * rng.gumbel() for code in task.codes]
                content = {"ranks": dict(zip(task.codes, competition_ranks(liked), strict=True))}
            answers.append(Answer(f"person {seat}", seat, task.number, content))
    return answers
