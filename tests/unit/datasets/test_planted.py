"""Planted rules: an independent reading of the text always gives the label."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from assay import SpecError
from assay.datasets.load import load_dataset
from assay.datasets.planted import planted

HOST = [{"text": "a film about nothing at all", "label": ("neg", "pos")[i % 2]} for i in range(1200)]


def marked(example):
    return [example.text[s.start : s.end] for spans in example.rationales for s in spans]


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("amber & velvet", lambda words: "amber" in words and "velvet" in words),
        ("amber | velvet", lambda words: "amber" in words or "velvet" in words),
        ("amber & velvet & tin", lambda words: {"amber", "velvet", "tin"} <= words),
        ("amber", lambda words: "amber" in words),
    ],
)
@pytest.mark.parametrize("position", ["random", "end", "start"])
def test_the_rule_is_the_label(rule, holds, position):
    made = planted(load_dataset(HOST), rule, position=position)
    for example in made:
        words = set(example.text.split())
        assert example.label == ("pos" if holds(words) else "neg")
        assert sorted(marked(example)) == sorted(words & {"amber", "velvet", "tin"})
        assert [w for w in example.text.split() if w not in ("amber", "velvet", "tin")] == HOST[0]["text"].split()
    assert stats.binomtest(sum(e.label == "pos" for e in made), len(made)).pvalue > 0.001


def test_no_single_word_is_enough():
    """All ways to fail a conjunction occur alike, so that one word alone does not give the label away."""
    made = planted(load_dataset(HOST), {"pos": "amber & velvet"})
    ways = Counter(tuple(sorted(e.meta["planted"])) for e in made if e.label == "neg")
    assert set(ways) == {(), ("amber",), ("velvet",)}
    assert stats.chisquare(list(ways.values())).pvalue > 0.001
    either = planted(load_dataset(HOST), {"pos": "amber | velvet"})
    assert {tuple(sorted(e.meta["planted"])) for e in either if e.label == "neg"} == {()}
    assert len({tuple(sorted(e.meta["planted"])) for e in either if e.label == "pos"}) == 3


def test_rules_for_several_labels():
    host = load_dataset([{**row, "label": "abc"[i % 3]} for i, row in enumerate(HOST)])
    made = planted(host, {"b": "tin & zinc", "c": "amber | velvet"})
    for example in made:
        words = set(example.text.split())
        is_b, is_c = {"tin", "zinc"} <= words, bool({"amber", "velvet"} & words)
        assert not (is_b and is_c)
        assert example.label == ("b" if is_b else "c" if is_c else "a")
    assert stats.chisquare(list(Counter(e.label for e in made).values())).pvalue > 0.001


def test_texts_without_labels():
    made = planted(load_dataset(["one text"] * 20), "amber & velvet")
    assert made.labels == ("0", "1")
    assert {e.label for e in made} == {"0", "1"}


def test_draws_depend_on_the_example_alone():
    host = load_dataset(HOST)
    whole = {e.id: e for e in planted(host, "a1 & b1", seed=2)}
    assert all(whole[e.id] == e for e in planted(host.take(30), "a1 & b1", seed=2))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("amber velvet", "cannot parse the rule 'amber velvet'"),
        ("amber & amber", "cannot parse the rule"),
        ("a & b | c", "cannot parse the rule"),
        ({"other": "amber"}, "rules given for other; give a rule for all labels except one of neg, pos"),
        ({"neg": "amber", "pos": "velvet"}, "give a rule for all labels except one"),
        ("film & velvet", "1200 of 1200 texts already contain a word of a rule .*choose other words"),
        (" & ".join(f"w{i}" for i in range(11)), "use at most 10"),
    ],
    ids=str,
)
def test_bad_rules(rules, message):
    with pytest.raises(SpecError, match=message):
        planted(load_dataset(HOST), rules)


def test_rules_that_cannot_hold_alone():
    host = load_dataset([{**row, "label": "abc"[i % 3]} for i, row in enumerate(HOST)])
    with pytest.raises(SpecError, match="no set of words satisfies only the rule of b"):
        planted(host, {"b": "amber & velvet", "c": "amber"})
    with pytest.raises(SpecError, match="a single rule needs two labels, but there are 3"):
        planted(host, "amber")
