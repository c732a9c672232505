"""Which tasks a participant gets, and in which order heat maps stand: all follows from the seed and the seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil

from assay.core.rng import generator
from assay.human.settings import GUESSES, HumanStudy

Place = tuple[int, tuple[str, ...]]  # an item, and its heat maps from left to right


@dataclass(frozen=True, slots=True)
class Task:
    """One page for one participant. `codes`: the heat maps from left to right; none in a guess without explanation."""

    number: int
    item: int
    codes: tuple[str, ...]
    practice: bool = False
    repeats: int | None = None  # number of the task that it repeats


def seats_needed(study: HumanStudy, examples: int) -> int:
    """Participants after which every example has its annotators."""
    return ceil(study.annotators * examples / _share(study, examples))


def tasks_of(
    study: HumanStudy, codes: Sequence[str], examples: Sequence[int], practice: Sequence[int], seat: int
) -> tuple[Task, ...]:
    """The tasks of the participant in a seat (0, 1, ...): practice first, then examples in random order (`_ordered`).

    Examples stand in a ring, and each seat takes the next ones, so that all get their annotators evenly. `lap` counts
    the annotators whom an example had before, and moves the order of its heat maps on.
    """
    ring = [examples[i] for i in generator("human study", study.seed, "ring").permutation(len(examples))]
    share = _share(study, len(ring))
    places: list[Place] = []
    for place in range(seat * share, (seat + 1) * share):
        lap, at = divmod(place, len(ring))
        places.append((ring[at], _shown(study, codes, ring[at], at, lap)))
    rng = generator("human study", study.seed, "seat", seat)
    own = _ordered(study, places, rng.permutation(len(places)).tolist())
    first = [(item, _shown(study, codes, item, at, seat)) for at, item in enumerate(practice)]
    rows = [Task(number, item, shown, practice=True) for number, (item, shown) in enumerate(first)]
    rows += [Task(len(first) + number, item, shown) for number, (item, shown) in enumerate(own)]
    return _with_repeats(rows, len(first), min(study.repeats, len(own) // 2), rng)


def _ordered(study: HumanStudy, places: list[Place], order: list[int]) -> list[Place]:
    """In random order. Where the next input's answer is guessed, in that of the data from a random one on: nobody is
    asked about an input whose answer was shown, except in the last task, where the circle closes."""
    if study.kind != "next_guess":
        return [places[i] for i in order]
    ascending = sorted(places)
    return ascending[order[0] :] + ascending[: order[0]]


def _share(study: HumanStudy, examples: int) -> int:
    return min(study.per_participant or examples, examples)


def _shown(study: HumanStudy, codes: Sequence[str], item: int, at: int, lap: int) -> tuple[str, ...]:
    """The heat maps of an item from left to right."""
    if study.kind in GUESSES:
        condition = (at + lap) % (len(codes) + 1)
        return () if condition == len(codes) else (codes[condition],)
    if study.kind == "choice":  # one pair per example, so that its annotators can agree
        pairs = list(combinations(codes, 2))
        pair = pairs[at % len(pairs)]
        turned = (at // len(pairs) + (lap if study.order == "balanced" else 0)) % 2
        return pair[::-1] if turned else pair
    if study.order == "fixed":
        return tuple(codes[i] for i in generator("human study", study.seed, "order", item).permutation(len(codes)))
    rows = williams(len(codes))
    return tuple(codes[i] for i in rows[(at + lap) % len(rows)])


def williams(k: int) -> list[tuple[int, ...]]:
    """Orders of k things in which each stands in each place, and follows each other one, equally often (Williams 1949).

    k orders if k is even, 2k if it is odd.
    """
    zigzag = [0]
    for step in range(1, k):
        zigzag.append((step + 1) // 2 if step % 2 else k - step // 2)
    rows = [tuple((start + shift) % k for start in zigzag) for shift in range(k)]
    return rows if k % 2 == 0 else rows + [row[::-1] for row in rows]


def _with_repeats(rows: list[Task], first: int, repeats: int, rng: object) -> tuple[Task, ...]:
    """Repeat tasks of the first half between those of the second, with the heat maps in the opposite order."""
    if not repeats:
        return tuple(rows)
    middle = first + (len(rows) - first + 1) // 2
    chosen = sorted(int(i) for i in rng.choice(range(first, middle), repeats, replace=False))  # type: ignore[attr-defined]
    late = rows[middle:]
    gap = max(1, len(late) // repeats)
    out = rows[:middle]
    for position, again in enumerate(chosen):
        out += late[position * gap : (position + 1) * gap]
        out.append(Task(0, rows[again].item, rows[again].codes[::-1], repeats=again))
    out += late[repeats * gap :]
    return tuple(Task(number, task.item, task.codes, task.practice, task.repeats) for number, task in enumerate(out))
