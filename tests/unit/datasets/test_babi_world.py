"""The stories against a simulation written apart: it reads the text, and is itself checked against the real bAbI."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest
from scipy import stats

from assay import SpecError
from assay.datasets.babi_world import PLACES, babi_world
from assay.datasets.load import load_dataset

from .shared import needs


def solve(story, question):
    """The answer and the supporting sentences, from the text alone."""
    at, carrier, last, mover, track = {}, {}, {}, {}, defaultdict(list)

    def be(thing, who):
        if who in at and (not track[thing] or track[thing][-1][0] != at[who][0]):
            track[thing].append(at[who])

    for i, sentence in enumerate(s.strip() for s in re.findall(r"[^.]+\.", story)):
        if m := re.fullmatch(r"(\w+) (?:went|journeyed|went back|travelled|moved) to the (\w+)\.", sentence):
            at[m[1]] = m[2], i
            for thing, who in carrier.items():
                if who == m[1]:
                    track[thing].append(at[who])
                    mover[thing] = i
            continue
        m = re.fullmatch(r"(\w+) (\w+(?: up| down)?) the (\w+)(?: there)?\.", sentence)
        taken = m[2] in ("grabbed", "picked up", "got", "took")
        assert taken or m[2] in ("left", "discarded", "dropped", "put down")
        assert taken == (carrier.get(m[3]) is None), "nobody takes what is held or drops what is not"
        assert taken or carrier[m[3]] == m[1]
        be(m[3], m[1])
        carrier[m[3]], last[m[3]] = (m[1] if taken else None), i
        mover[m[3]] = at[m[1]][1] if m[1] in at else None
    if m := re.fullmatch(r"Where is (\w+)\?", question):
        return at[m[1]][0], {at[m[1]][1]}
    if m := re.fullmatch(r"Where is the (\w+)\?", question):
        return track[m[1]][-1][0], {mover[m[1]], last[m[1]]}
    m = re.fullmatch(r"Where was the (\w+) before the (\w+)\?", question)
    stays = track[m[1]]
    k = max(k for k, (place, _) in enumerate(stays) if place == m[2] and k)
    return stays[k - 1][0], {stays[k - 1][1], stays[k][1], last[m[1]]}


def sentences(example):
    return [s.strip() for s in re.findall(r"[^.]+\.", example.text)]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_answers_and_supports_against_the_simulation(task):
    data = babi_world(task, 400, seed=task)
    for example in data:
        answer, support = solve(example.text, example.text_pair)
        assert example.label == answer
        assert set(example.meta["support"]) == support
        said = sentences(example)
        (spans,) = example.rationales
        assert [example.text[s.start : s.end] for s in spans] == [said[i] for i in sorted(support)]
        assert all(s.segment == 0 for s in spans)
    assert stats.chisquare([Counter(e.label for e in data)[place] for place in PLACES]).pvalue > 0.001
    assert len({e.text for e in data}) > 300
    assert max(len(spans) for e in data for spans in e.rationales) == task


@pytest.mark.parametrize("name", [f"task{t}_{s}" for t in (1, 2, 3) for s in ("test", "train")])
def test_the_simulation_against_the_real_stories(name):
    for example in load_dataset(needs("babi"), split=name, limit=1000):
        answer, support = solve(example.text, example.text_pair)
        assert example.label == answer
        assert set(example.meta["support"]) == support


def test_the_words_are_those_of_babi():
    real = {w for t in (1, 2, 3) for e in load_dataset(needs("babi"), split=f"task{t}_test") for w in e.text.split()}
    made = {w for t in (1, 2, 3) for e in babi_world(t, 100) for w in e.text.split()}
    assert made <= real


def test_lengths_seeds_and_prefixes():
    data = babi_world(2, 60, seed=4, sentences=(6, 9))
    assert {len(sentences(e)) for e in data} == {6, 7, 8, 9}
    assert data[:20].fingerprint == babi_world(2, 20, seed=4, sentences=(6, 9)).fingerprint
    assert data.fingerprint != babi_world(2, 60, seed=5, sentences=(6, 9)).fingerprint
    assert (data.labels, data.task) == (PLACES, "classification")
    assert len({e.id for e in data}) == 60


@pytest.mark.parametrize("options", [{"task": 4}, {"n": 0}, {"sentences": (3, 2)}, {"task": 3, "sentences": (2, 9)}])
def test_bad_options(options):
    with pytest.raises(SpecError, match=r"task=4: choose|give n >= 1 and"):
        babi_world(**options)
