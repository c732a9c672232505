"""Generate bAbI stories, in which people move, take and drop things, with questions about where they are.

Tasks 1-3 of Weston et al. (2015), arXiv:1502.05698, with the original vocabulary. The supporting facts are the
rationale: 1 = the person's last move; 2 = the last time the object was taken or dropped, and the last move of the
person who did it; 3 = the same event, the move that brought the object to the place in the question, and the move that
brought it to the place before. The story is the text, the question the second text, the place the label.
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
P_HANDLE = 0.4  # that a person who can take or drop something does so
P_THERE = 0.2  # that the sentence ends in "there"
LENGTHS = {1: (2, 10), 2: (4, 20), 3: (8, 40)}  # sentences per story, by task
MAX_TRIES = 1000

Stay = tuple[str, int]  # a place, and the index of the sentence about the move there
Question = tuple[str, str, list[int]]  # question, answer, indices of the supporting sentences


@dataclass
class World:
    """Where everyone and everything is, and the sentences of the story so far."""

    rng: np.random.Generator
    hidden: dict[str, str]  # place of each object before it is first touched
    sentences: list[str] = field(default_factory=list)
    people: dict[str, Stay] = field(default_factory=dict)
    holder: dict[str, str] = field(default_factory=dict)  # object: person
    touched: dict[str, int] = field(default_factory=dict)  # sentence in which an object was last taken or dropped
    brought: dict[str, int] = field(default_factory=dict)  # last move of that person, until they dropped it
    stays: dict[str, list[Stay]] = field(default_factory=dict)  # places of an object, in order

    def step(self, handles: bool) -> None:
        """A person moves, or takes or drops something."""
        person = self._pick(PEOPLE)
        held = [thing for thing, holder in self.holder.items() if holder == person]
        near = [thing for thing in OBJECTS if thing not in self.holder and self._is_at(thing, person)]
        if handles and (held or near) and self.rng.random() < P_HANDLE:
            thing = self._pick((*held, *near))
            (self._drop if thing in held else self._take)(person, thing)
        else:
            self._move(person, held)

    def _move(self, person: str, held: list[str]) -> None:
        here = self.people.get(person, ("", 0))[0]
        stay = self._pick([place for place in PLACES if place != here]), len(self.sentences)
        self.people[person] = stay
        for thing in held:
            self.stays[thing].append(stay)
            self.brought[thing] = stay[1]
        self.sentences.append(f"{person} {self._pick(MOVES)} the {stay[0]}.")

    def _take(self, person: str, thing: str) -> None:
        self.stays.setdefault(thing, [self.people[person]])
        self.holder[thing] = person
        self._handle(person, TAKES, thing)

    def _drop(self, person: str, thing: str) -> None:
        del self.holder[thing]
        self._handle(person, DROPS, thing)

    def _handle(self, person: str, verbs: tuple[str, ...], thing: str) -> None:
        self.touched[thing], self.brought[thing] = len(self.sentences), self.people[person][1]
        there = " there" if self.rng.random() < P_THERE else ""
        self.sentences.append(f"{person} {self._pick(verbs)} the {thing}{there}.")

    def _is_at(self, thing: str, person: str) -> bool:
        where = self.stays[thing][-1][0] if thing in self.stays else self.hidden[thing]
        return person in self.people and self.people[person][0] == where

    def _pick(self, options: tuple[str, ...] | list[str]) -> str:
        return options[int(self.rng.integers(len(options)))]

    # --- questions: None if the story does not answer them -----------------------------------------------------------

    def where_is_person(self) -> Question | None:
        person = self._pick(PEOPLE)
        if person not in self.people:
            return None
        place, sentence = self.people[person]
        return f"Where is {person}?", place, [sentence]

    def where_is_object(self) -> Question | None:
        thing = self._pick(OBJECTS)
        if thing not in self.touched:
            return None
        return f"Where is the {thing}?", self.stays[thing][-1][0], [self.touched[thing], self.brought[thing]]

    def where_was_object(self) -> Question | None:
        thing = self._pick(OBJECTS)
        stays = self.stays.get(thing, [])
        last = {place: k for k, (place, _) in enumerate(stays) if k}  # the last arrival at each place
        if not last:
            return None
        k = last[self._pick(list(last))]
        support = [self.touched[thing], stays[k][1], stays[k - 1][1]]
        return f"Where was the {thing} before the {stays[k][0]}?", stays[k - 1][0], support


QUESTIONS: dict[int, Callable[[World], Question | None]] = {
    1: World.where_is_person,
    2: World.where_is_object,
    3: World.where_was_object,
}


def babi_world(task: int = 1, n: int = 1000, seed: int = 0, *, sentences: tuple[int, int] | None = None) -> Dataset:
    """Generate `n` stories of a task, each with a question; `sentences` is the (minimum, maximum) story length.

    Story i depends only on task, sentences, seed and i: the first 100 of 1000 stories are those of n=100.
    """
    if task not in QUESTIONS:
        raise SpecError(f"task={task}: choose task 1, 2 or 3 (the number of supporting facts)")
    shortest, longest = sentences or LENGTHS[task]
    if n < 1 or not task <= shortest <= longest:
        raise SpecError(f"n={n}, sentences=({shortest}, {longest}): give n >= 1 and {task} <= minimum <= maximum")
    examples = tuple(_story(task, shortest, longest, seed, i) for i in range(n))
    return Dataset(examples, f"babi_world(task={task})", PLACES)


def _story(task: int, shortest: int, longest: int, seed: int, i: int) -> Example:
    rng = generator("babi_world", seed, task, shortest, longest, i)
    length = int(rng.integers(shortest, longest + 1))
    for _ in range(MAX_TRIES):  # retry if the story does not allow the question
        world = World(rng, {thing: PLACES[int(rng.integers(len(PLACES)))] for thing in OBJECTS})
        for _ in range(length):
            world.step(handles=task > 1)
        question = QUESTIONS[task](world)
        if question is not None:
            return _example(world.sentences, question, task, f"babi_world-{task}-{seed}-{i}")
    raise SpecError(f"no story of {length} sentences allows a question of task {task}; allow more sentences")


def _example(sentences: list[str], question: Question, task: int, name: str) -> Example:
    text_pair, answer, support = question
    starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)]).tolist()
    spans = tuple(Span(0, starts[i], starts[i] + len(sentences[i])) for i in sorted(set(support)))
    meta = {"task": task, "support": sorted(set(support))}
    return Example(" ".join(sentences), text_pair, None, name, answer, (spans,), meta)
