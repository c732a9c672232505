"""A small world that writes bAbI stories of its own: people walk, take and drop things; who or what is where?

Tasks 1-3 of Weston et al. (2015), arXiv:1502.05698, with their vocabulary and their supporting facts, which are the
rationale: 1 = the last move of the person; 2 = the last time the object was taken or dropped, and the last move of who
did it; 3 = the same event, the move that brought the object to the place asked about, and the one that brought it to
the place before. The story is the text, the question the second text, the place the label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example, Span
from assay.datasets.dataset import Dataset

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
OBJECTS = ("apple", "football", "milk")
MOVES = ("journeyed to", "moved to", "travelled to", "went back to", "went to")
TAKES = ("got", "grabbed", "picked up", "took")
DROPS = ("discarded", "dropped", "left", "put down")
HANDLE = 0.4  # how often somebody who can take or drop something does
THERE = 0.2  # how often the sentence ends in "there"
LENGTHS = {1: (2, 10), 2: (4, 20), 3: (8, 40)}  # sentences of a story, by task
TRIES = 1000

Stay = tuple[str, int]  # a place, and the sentence that tells of the move there
Question = tuple[str, str, list[int]]  # question, answer, indices of the supporting sentences


@dataclass
class World:
    """Where everybody and everything is, and the sentences that say so."""

    rng: np.random.Generator
    hidden: dict[str, str]  # where the objects are before anybody has touched them
    sentences: list[str] = field(default_factory=list)
    people: dict[str, Stay] = field(default_factory=dict)
    holder: dict[str, str] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)  # the sentence in which an object was last taken or dropped
    brought: dict[str, int] = field(default_factory=dict)  # the last move of who did that, while they had it
    stays: dict[str, list[Stay]] = field(default_factory=dict)  # where an object has been, in order

    def step(self, handles: bool) -> None:
        """Somebody moves, or takes or drops something where they are."""
        person = self._one(PEOPLE)
        held = [thing for thing, who in self.holder.items() if who == person]
        near = [thing for thing in OBJECTS if thing not in self.holder and self._is_at(thing, person)]
        if handles and (held or near) and self.rng.random() < HANDLE:
            thing = self._one((*held, *near))
            (self._drop if thing in held else self._take)(person, thing)
        else:
            self._move(person, held)

    def _move(self, person: str, held: list[str]) -> None:
        here = self.people.get(person, ("", 0))[0]
        stay = self._one([place for place in PLACES if place != here]), len(self.sentences)
        self.people[person] = stay
        for thing in held:
            self.stays[thing].append(stay)
            self.brought[thing] = stay[1]
        self.sentences.append(f"{person} {self._one(MOVES)} the {stay[0]}.")

    def _take(self, person: str, thing: str) -> None:
        self.stays.setdefault(thing, [self.people[person]])
        self.holder[thing] = person
        self._handle(person, TAKES, thing)

    def _drop(self, person: str, thing: str) -> None:
        del self.holder[thing]
        self._handle(person, DROPS, thing)

    def _handle(self, person: str, verbs: tuple[str, ...], thing: str) -> None:
        self.touched[thing], self.brought[thing] = len(self.sentences), self.people[person][1]
        there = " there" if self.rng.random() < THERE else ""
        self.sentences.append(f"{person} {self._one(verbs)} the {thing}{there}.")

    def _is_at(self, thing: str, person: str) -> bool:
        where = self.stays[thing][-1][0] if thing in self.stays else self.hidden[thing]
        return person in self.people and self.people[person][0] == where

    def _one(self, among: tuple[str, ...] | list[str]) -> str:
        return among[int(self.rng.integers(len(among)))]

    # --- questions: None if the story has no answer yet -------------------------------------------------------------

    def where_is_who(self) -> Question | None:
        person = self._one(PEOPLE)
        if person not in self.people:
            return None
        place, told = self.people[person]
        return f"Where is {person}?", place, [told]

    def where_is_what(self) -> Question | None:
        thing = self._one(OBJECTS)
        if thing not in self.touched:
            return None
        return f"Where is the {thing}?", self.stays[thing][-1][0], [self.touched[thing], self.brought[thing]]

    def where_was_what(self) -> Question | None:
        thing = self._one(OBJECTS)
        stays = self.stays.get(thing, [])
        last = {place: k for k, (place, _) in enumerate(stays) if k}  # the last time it came to each place
        if not last:
            return None
        k = last[self._one(list(last))]
        support = [self.touched[thing], stays[k][1], stays[k - 1][1]]
        return f"Where was the {thing} before the {stays[k][0]}?", stays[k - 1][0], support


ASK: dict[int, Callable[[World], Question | None]] = {
    1: World.where_is_who,
    2: World.where_is_what,
    3: World.where_was_what,
}


def babi_world(task: int = 1, n: int = 1000, seed: int = 0, *, sentences: tuple[int, int] | None = None) -> Dataset:
    """`n` stories of a task with a question each; `sentences` is the fewest and the most that a story has.

    Story i depends on task, sentences, seed and i only: the first 100 of 1000 are those of n=100.
    """
    if task not in ASK:
        raise SpecError(f"task={task}: there are the tasks 1, 2 and 3, with as many supporting facts")
    fewest, most = sentences or LENGTHS[task]
    if n < 1 or not task <= fewest <= most:
        raise SpecError(f"n={n}, sentences=({fewest}, {most}): give n >= 1 and {task} <= fewest <= most")
    examples = tuple(_story(task, fewest, most, seed, i) for i in range(n))
    return Dataset(examples, f"babi_world(task={task})", PLACES)


def _story(task: int, fewest: int, most: int, seed: int, i: int) -> Example:
    rng = generator("babi_world", seed, task, fewest, most, i)
    length = int(rng.integers(fewest, most + 1))
    for _ in range(TRIES):  # a story in which nothing of the kind happened is told anew
        world = World(rng, {thing: PLACES[int(rng.integers(len(PLACES)))] for thing in OBJECTS})
        for _ in range(length):
            world.step(handles=task > 1)
        asked = ASK[task](world)
        if asked is not None:
            return _example(world.sentences, asked, task, f"babi_world-{task}-{seed}-{i}")
    raise SpecError(f"no story of {length} sentences allows a question of task {task}; allow more sentences")


def _example(sentences: list[str], asked: Question, task: int, name: str) -> Example:
    question, answer, support = asked
    starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)]).tolist()
    spans = tuple(Span(0, starts[i], starts[i] + len(sentences[i])) for i in sorted(set(support)))
    meta = {"task": task, "support": sorted(set(support))}
    return Example(" ".join(sentences), question, None, name, answer, (spans,), meta)
