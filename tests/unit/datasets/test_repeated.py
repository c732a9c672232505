"""The planted redundancy: as many cues as asked for, of the drawn label, and nothing else changed."""

from __future__ import annotations

import pytest

from assay.core.errors import SpecError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.repeated import repeated

WORDS = "one two three four five six seven eight"
DATA = Dataset(tuple(Example(WORDS, id=str(i), label=0) for i in range(60)), "d", ("no", "yes"))


def test_the_cue_of_the_label_stands_there_so_often():
    found = repeated(DATA, times=3)
    for example in found:
        cue, other = ("amber", "velvet") if example.label == 0 else ("velvet", "amber")
        assert example.text.split().count(cue) == 3
        assert other not in example.text
        assert " ".join(w for w in example.text.split() if w != cue) == WORDS
        assert [example.text[s.start : s.end] for s in example.rationales[0]] == [cue] * 3
    assert 15 < sum(e.label for e in found) < 45
    assert repeated(DATA, times=3).fingerprint == found.fingerprint
    assert repeated(DATA, times=3, seed=1).fingerprint != found.fingerprint


def test_bad_cues_are_sentences():
    with pytest.raises(SpecError, match="different word per label"):
        repeated(DATA, ("amber", "amber"))
    with pytest.raises(SpecError, match="already contain"):
        repeated(DATA, ("one", "velvet"))
