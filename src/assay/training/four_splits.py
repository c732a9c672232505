"""Four disjoint splits for teaching: students' texts, outer loss of a bilevel fit, early stopping, test."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset

SHARES = {"test": 0.2, "validation": 0.1, "outer": 0.1}  # the rest is for students
FEWEST = 10  # examples of each split


@dataclass(frozen=True)
class FourSplits:
    """No input is in two of them."""

    students: Dataset
    outer: Dataset
    validation: Dataset
    test: Dataset

    def drawn(self, size: int, seed: int) -> Dataset:
        """A student's texts: drawn anew for each seed; of one seed, the smaller set is part of the larger."""
        if size > len(self.students):
            raise SpecError(
                f"a student wants {size:,} examples, but only {len(self.students):,} are left for students "
                "(a fifth is for the test, a tenth each for early stopping and the outer loss); give smaller sizes or "
                "more data"
            )
        return self.students.take(size, seed)


def four_splits(data: Dataset, seed: int = 0) -> FourSplits:
    """Deal the inputs of a data set at random; empty ones are left out.

    Of inputs that are equal up to case and blanks, which many models do not read, the first is kept.
    """
    unique = {_input(e): e for e in reversed(data.examples) if not _is_empty(e)}
    examples = list(reversed(unique.values()))
    order = generator("four splits", seed, len(examples)).permutation(len(examples))
    parts, start = {}, 0
    for name, share in SHARES.items():
        count = round(share * len(examples))
        if count < FEWEST:
            raise SpecError(
                f"{data.name or 'the data'} has {len(examples)} different inputs; four splits need at least "
                f"{int(FEWEST / min(SHARES.values()))}; give more data or another split"
            )
        parts[name] = _part(data, examples, order[start : start + count].tolist(), name)
        start += count
    return FourSplits(students=_part(data, examples, order[start:].tolist(), "students"), **parts)


def _part(data: Dataset, examples: list[Example], places: list[int], name: str) -> Dataset:
    return replace(data, examples=tuple(examples[i] for i in sorted(places)), split=name)


def _input(example: Example) -> tuple[object, ...]:
    if example.text is None:
        return (example.content,)
    return tuple(None if t is None else " ".join(t.casefold().split()) for t in (example.text, example.text_pair))


def _is_empty(example: Example) -> bool:
    return example.text is not None and not example.text.strip() and not (example.text_pair or "").strip()
