"""Who judges what: every example gets its annotators, and no place or neighbour favours a method."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from assay.human.settings import HumanStudy
from assay.human.tasks import seats_needed, tasks_of, williams

CODES = ("a", "b", "c", "d")


@pytest.mark.parametrize("k", range(2, 9))
def test_the_square_is_balanced_in_places_and_neighbours(k):
    rows = williams(k)
    assert len(rows) == (k if k % 2 == 0 else 2 * k)
    assert all(sorted(row) == list(range(k)) for row in rows)
    places = Counter((place, thing) for row in rows for place, thing in enumerate(row))
    assert set(places.values()) == {len(rows) // k}
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == k * (k - 1)
    assert len(set(followed.values())) == 1


@pytest.mark.parametrize(("per_participant", "seats"), [(None, 3), (10, 6), (7, 9)])
def test_every_example_gets_its_annotators(per_participant, seats):
    study = HumanStudy(annotators=3, per_participant=per_participant, repeats=2, practice=2)
    examples, practice = range(2, 22), range(2)
    assert seats_needed(study, 20) == seats
    count = Counter()
    for seat in range(seats):
        tasks = tasks_of(study, CODES, examples, practice, seat)
        assert [task.number for task in tasks] == list(range(len(tasks)))
        assert [task.item for task in tasks[:2]] == [0, 1]
        assert all(task.practice for task in tasks[:2])
        judged = [task.item for task in tasks if not task.practice and task.repeats is None]
        assert len(set(judged)) == len(judged) == (per_participant or 20)
        count.update(judged)
    assert set(count) == set(examples)
    assert min(count.values()) >= 3
    assert max(count.values()) <= 4


def test_each_method_stands_in_each_place_equally_often():
    study = HumanStudy(annotators=4, repeats=0, practice=0)
    places = Counter()
    for seat in range(4):
        for task in tasks_of(study, CODES, range(20), (), seat):
            places.update((task.item, place, code) for place, code in enumerate(task.codes))
    assert set(places.values()) == {1}  # over four participants, on every example
    assert len(places) == 20 * 16


def test_the_published_order_is_fixed_per_example():
    study = HumanStudy(order="fixed", repeats=0, practice=0)
    orders = [{task.item: task.codes for task in tasks_of(study, CODES, range(20), (), seat)} for seat in range(3)]
    assert orders[0] == orders[1] == orders[2]
    assert len(set(orders[0].values())) > 5


def test_repeated_tasks_come_later_in_another_order():
    study = HumanStudy(repeats=5, practice=1)
    tasks = tasks_of(study, CODES, range(1, 41), (0,), 3)
    again = [task for task in tasks if task.repeats is not None]
    assert len(again) == 5
    for task in again:
        first = tasks[task.repeats]
        assert first.item == task.item
        assert first.codes == task.codes[::-1]
        assert not first.practice
        assert task.number > first.number + 1
    assert len({task.item for task in again}) == 5


def test_annotators_of_an_example_choose_between_the_same_two():
    study = HumanStudy(kind="choice", repeats=0, practice=0)
    shown = [{task.item: task.codes for task in tasks_of(study, CODES, range(24), (), seat)} for seat in range(2)]
    assert all(shown[0][item] == shown[1][item][::-1] for item in range(24))
    pairs = Counter(frozenset(codes) for codes in shown[0].values())
    assert set(pairs.values()) == {4}
    assert len(pairs) == 6


def test_guesses_meet_every_condition_equally_often():
    study = HumanStudy(kind="guess", repeats=0, practice=0)
    conditions = Counter((t.item, t.codes) for seat in range(5) for t in tasks_of(study, CODES, range(10), (), seat))
    assert set(conditions.values()) == {1}
    assert {codes for _, codes in conditions} == {(), ("a",), ("b",), ("c",), ("d",)}


def test_tasks_follow_from_the_seed():
    one, same, other = (tasks_of(HumanStudy(seed=s), CODES, range(30), (), 0) for s in (0, 0, 1))
    assert one == same
    assert [task.item for task in one] != [task.item for task in other]


def test_nobody_is_asked_about_an_input_whose_answer_was_shown():
    """In `next_guess` each task shows the answer to its own input and asks about the next one; the last closes the
    circle."""
    study = HumanStudy(kind="next_guess", repeats=3, practice=0)
    following = {item: (item + 1) % 20 for item in range(20)}
    starts = set()
    for seat in range(4):
        tasks = [t for t in tasks_of(study, CODES, range(20), (), seat) if t.repeats is None]
        starts.add(tasks[0].item)
        assert sorted(task.item for task in tasks) == list(range(20))
        for place, task in enumerate(tasks[:-1]):
            assert following[task.item] not in [earlier.item for earlier in tasks[: place + 1]]
    assert len(starts) > 1
