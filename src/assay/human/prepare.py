"""Preparing a human study: explanations are computed once, chunk by chunk, and kept, so that a rerun goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.errors import InputError, SpecError
from assay.core.files import write_file
from assay.core.png import png
from assay.core.progress import Progress
from assay.core.rng import generator
from assay.core.spec import Spec
from assay.core.types import Attribution, Example
from assay.core.user_code import identity, is_outside
from assay.datasets.dataset import Dataset
from assay.explainers.session import Session
from assay.human.folder import PICTURES
from assay.human.items import Item, make_item
from assay.human.settings import GUESSES, HumanStudy

CHUNK = 8  # examples between two savings
PART = "items.part.jsonl"  # items that are ready, until all are
LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Chosen:
    """The examples of a study and those to practise on, drawn from the data."""

    examples: tuple[Example, ...]
    practice: tuple[Example, ...]

    @staticmethod
    def of(dataset: Dataset, count: int, study: HumanStudy) -> Chosen:
        if count < 2:
            raise SpecError(f"examples={count}: a study needs at least 2")
        if count + study.practice > len(dataset):
            raise InputError(
                f"the data have {len(dataset)} examples, and {count} and {study.practice} to practise on were asked "
                f"for; give fewer with --examples or --practice"
            )
        examples = dataset.take(count, study.seed).examples
        own = {id(example) for example in examples}
        both = dataset.take(count + study.practice, study.seed).examples  # a larger subset holds the smaller one
        return Chosen(examples, tuple(example for example in both if id(example) not in own))

    @property
    def named(self) -> list[tuple[str, Example, bool]]:
        """Practice first; names are ids where they tell examples apart, otherwise numbers."""
        rows = [*((example, True) for example in self.practice), *((example, False) for example in self.examples)]
        ids = [example.id for example, _ in rows]
        unique = all(ids) and len(set(ids)) == len(ids)
        return [(ids[i] if unique else str(i), example, practice) for i, (example, practice) in enumerate(rows)]


def codes_of(methods: Sequence[str], seed: int) -> dict[str, str]:
    """A letter for each method, in random order, so that the letter says nothing."""
    order = generator("human study", seed, "codes", *methods).permutation(len(methods))
    return dict(sorted((LETTERS[int(place)], method) for method, place in zip(methods, order, strict=True)))


def study_id(session: Session, dataset: Dataset, study: HumanStudy, metrics: Sequence[str]) -> str:
    """A hash of all that makes a study: model, examples, methods and settings."""
    methods = session.methods.items()
    content = {
        **session.model.identity,
        "data": dataset.fingerprint,
        "methods": {n: identity(m) if is_outside(type(m)) else str(Spec.of(m)) for n, m in methods},
        "units": session.units,
        "removal": session.removal.name,
        "scope": session.scope,
        "metrics": list(metrics),
        "settings": study.to_dict(),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def prepare_items(
    folder: Path, session: Session, chosen: Chosen, names: Mapping[str, str], *, progress: bool | None = None
) -> list[Item]:
    """The items of all examples; those of an earlier run are read. names: method by code."""
    done, rows = _stored(folder / PART), chosen.named
    with Progress("explaining", len(rows) * len(names), progress) as bar:
        bar.advance(len(done) * len(names))
        for start in range(len(done), len(rows), CHUNK):
            numbered = [(i, rows[i][1]) for i in range(start, min(start + CHUNK, len(rows)))]
            by_method = session.explain_chunk(numbered, [None] * len(numbered), bar)
            for place, (i, _) in enumerate(numbered):
                several = {code: by_method[method][place] for code, method in names.items()}
                done.append(_item(folder, session, rows[i][0], several, i, practice=rows[i][2]))
            write_file(folder / PART, "".join(f"{json.dumps(item.to_dict(), ensure_ascii=False)}\n" for item in done))
    return done


def with_metrics(
    items: Sequence[Item], values: Mapping[str, Mapping[str, Sequence[float]]], names: Mapping[str, str]
) -> list[Item]:
    """The values of automatic metrics (metric -> method -> one per example) in the items that are analysed."""
    out, place = [], 0
    for item in items:
        if item.practice:
            out.append(item)
            continue
        own = {m: {code: float(by[method][place]) for code, method in names.items()} for m, by in values.items()}
        known = {m: {code: v for code, v in row.items() if v == v} for m, row in own.items()}
        out.append(replace(item, metrics=known))
        place += 1
    return out


def _item(
    folder: Path, session: Session, name: str, attributions: Mapping[str, Attribution], number: int, *, practice: bool
) -> Item:
    rgb = next(iter(attributions.values())).picture
    picture = None if rgb is None else f"{number}.png"
    if picture is not None:
        write_file(folder / PICTURES / picture, png(rgb), parents=True)
    options = () if session.model.task == "regression" else tuple(session.model.labels)
    return make_item(name, attributions, options=options, picture=picture, practice=practice)


def _stored(path: Path) -> list[Item]:
    return list(_read(path)) if path.is_file() else []


def _read(path: Path) -> Iterator[Item]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from (Item.from_dict(json.loads(line)) for line in file)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"cannot read {path}: {error}; delete it and run the command again") from error


def check_kind(study: HumanStudy, task: Any) -> None:
    """Answers can be guessed only among classes."""
    if study.kind in GUESSES and task == "regression":
        raise SpecError(
            f"kind={study.kind!r} needs a classifier: the answer of a regression cannot be chosen from a list"
        )
