"""Planted rules over several words, e.g. label 1 if and only if "amber" and "velvet" both occur.

A conjunction shows which methods detect that a word matters only together with another; a disjunction shows which
methods miss redundant words. The planted words are the rationale. Known weakness: a label that holds because words
are absent has no words to mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.insert import Position, check_position, insert_words, require_text

MAX_WORDS = 10  # in all rules together: all their subsets are enumerated


@dataclass(frozen=True)
class WordRule:
    """Holds if all, or any, of its words are present."""

    words: tuple[str, ...]
    every: bool

    @staticmethod
    def parse(text: str) -> WordRule:
        """Parse "amber & velvet" (all of them) or "amber | velvet" (any of them)."""
        mark = "|" if "|" in text else "&"
        words = tuple(word.strip() for word in text.split(mark))
        if not all(re.fullmatch(r"\w+", word) for word in words) or len(set(words)) < len(words):
            raise SpecError(f"cannot parse the rule {text!r}; write different words joined by & (all) or | (any)")
        return WordRule(words, every=mark == "&")

    def holds(self, present: Sequence[str]) -> bool:
        return (all if self.every else any)(word in present for word in self.words)


def planted(
    dataset: Dataset,
    rules: str | Mapping[str, str] = "amber & velvet",
    *,
    seed: int = 0,
    position: Position = "random",
) -> Dataset:
    """Give every text a random label and insert words so that exactly this label's rule holds.

    rules: {label: "amber & velvet", ...} for all labels except one, the default; a single rule belongs to the second of
    two labels. Both the label and the set of words that satisfies it are uniformly random and depend only on seed, id
    and text.
    """
    check_position(position)
    labels = dataset.labels or ("0", "1")
    known = _rules(rules, labels)
    choices = _choices(known, labels)
    _check_absent(dataset, known)
    named = not any(isinstance(example.label, int) for example in dataset)
    examples = tuple(_plant(example, choices, named, seed, position) for example in dataset)
    return replace(
        dataset, examples=examples, name=f"planted({dataset.name})", labels=tuple(choices), task="classification"
    )


def _plant(
    example: Example, choices: Mapping[str, list[tuple[str, ...]]], named: bool, seed: int, position: Position
) -> Example:
    rng = generator("planted", seed, example.id, example.content)
    index = int(rng.integers(len(choices)))
    label, sets = list(choices.items())[index]
    chosen = sets[int(rng.integers(len(sets)))]
    words = [chosen[i] for i in rng.permutation(len(chosen))]
    text, spans = insert_words(require_text(example, "planted"), words, position, rng)
    meta = {**example.meta, "planted": tuple(words), "original_label": example.label}
    return replace(example, text=text, label=label if named else index, rationales=(spans,) if spans else (), meta=meta)


def _rules(rules: str | Mapping[str, str], labels: Sequence[str]) -> dict[str, WordRule]:
    if isinstance(rules, str):
        if len(labels) != 2:
            raise SpecError(f"a single rule needs two labels, but there are {len(labels)}; give {{label: rule, ...}}")
        rules = {labels[1]: rules}
    if not set(rules) < set(labels) or len(labels) - len(rules) != 1:
        raise SpecError(
            f"rules given for {', '.join(rules) or 'no label'}; give "
            f"a rule for all labels except one of {', '.join(labels)}"
        )
    return {label: WordRule.parse(text) for label, text in rules.items()}


def _choices(rules: Mapping[str, WordRule], labels: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """For each label, the sets of words under which its rule and no other holds."""
    words = list(dict.fromkeys(word for rule in rules.values() for word in rule.words))
    if len(words) > MAX_WORDS:
        raise SpecError(f"the rules use {len(words)} words; use at most {MAX_WORDS}")
    out: dict[str, list[tuple[str, ...]]] = {label: [] for label in labels}
    otherwise = next(label for label in labels if label not in rules)
    for chosen in chain.from_iterable(combinations(words, n) for n in range(len(words) + 1)):
        holding = [label for label, rule in rules.items() if rule.holds(chosen)]
        if len(holding) < 2:
            out[holding[0] if holding else otherwise].append(chosen)
    if empty := [label for label, sets in out.items() if not sets]:
        raise SpecError(f"no set of words satisfies only the rule of {', '.join(empty)}; change the rules")
    return out


def _check_absent(dataset: Dataset, rules: Mapping[str, WordRule]) -> None:
    """The rule explains the label only if no text already contains its words."""
    words = "|".join(word for rule in rules.values() for word in rule.words)
    containing = [e.id for e in dataset if re.search(rf"\b({words})\b", f"{e.text} {e.text_pair}", re.IGNORECASE)]
    if containing:
        raise SpecError(
            f"{len(containing)} of {len(dataset)} texts already contain a word of a rule (first: {containing[0]!r}); "
            "choose other words"
        )
