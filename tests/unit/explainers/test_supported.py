"""Families of a method in words."""

from __future__ import annotations

import pytest

from assay.explainers import METHODS, supported
from assay.models.families import FAMILIES


def test_every_method_has_a_line_for_every_family():
    for name in METHODS.names:
        assert sorted(supported.supported(name)) == FAMILIES.names, (
            "run: ASSAY_WRITE_DOCS=1 pytest tests/contracts/test_table.py"
        )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, "not tested yet"),
        ({"bert": "no", "gpt2": "no"}, "prompted language models"),
        ({"bert": "", "gpt2": ""}, "all 2"),
        ({"bert": "", "gpt2": "", "vit": "no words"}, "all but vit"),
        ({"bert": "", "gpt2": "no", "vit": "no words"}, "bert"),
    ],
)
def test_in_words(found, words, monkeypatch):
    monkeypatch.setattr(supported, "_table", lambda: {"mine": found})
    assert supported.in_words("mine") == words
