"""Gold labels as the model encodes them, and whether the labels of the data are those of the model at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import SpecError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.label_map import label_name
from assay.models.model import Model

LISTED = 10  # labels named in a message


@dataclass(frozen=True)
class GoldLabels:
    """The gold label of every example, and what a reader should know about how it was found."""

    values: tuple[int | float | None, ...]  # index of a class or score of a regression; None: unknown
    warning: str = ""  # the labels do not meet, so all values are None
    note: str = ""  # they meet, but only if the numbers of the data are the model's indices


def gold_labels(data: Dataset, model: Model) -> GoldLabels:
    """The gold labels of all examples, or of none if the model lacks a label that occurs.

    Some labels that happen to match would give an accuracy that looks right and is not.
    """
    labels = [None if example.label is None else label_name(example, data) for example in data]
    if model.task == "regression":
        return _scores(labels)
    index = {label: _index(label, model.labels) for label in labels if label is not None}
    if None in index.values():
        return GoldLabels((None,) * len(labels), warning=_unmet(labels, index, model.labels))
    by_number = sorted((i, label) for label, i in index.items() if i is not None and not _named(label, model.labels))
    values = tuple(None if label is None else index[label] for label in labels)
    return GoldLabels(values, note=_numbers(by_number, model.labels) if by_number else "")


def gold_label(example: Example, data: Dataset, model: Model) -> int | float | None:
    """The gold label of one example; None if it has none or the model does not know it."""
    if example.label is None:
        return None
    if model.task == "regression":
        try:
            return float(example.label)
        except ValueError as error:
            message = f"the label {example.label!r} is not a number; choose a score, or train a classifier"
            raise SpecError(message) from error
    return _index(label_name(example, data), model.labels)


def _index(label: Any, names: Sequence[str]) -> int | None:
    """The class with this name, in the same case or, if only one fits, in any; a number without a name is an index.

    Where classes are called by numbers, a number is a name only: 0 is not the first of 1, 2, 3.
    """
    found = _by_name(label, names)
    number = int(label) if _is_number(label) and not any(map(str.isdecimal, names)) else -1
    return found if found is not None else number if 0 <= number < len(names) else None


def _by_name(label: Any, names: Sequence[str]) -> int | None:
    if str(label) in names:
        return list(names).index(str(label))
    alike = [i for i, name in enumerate(names) if name.casefold() == str(label).casefold()]
    return alike[0] if len(alike) == 1 else None


def _named(label: Any, names: Sequence[str]) -> bool:
    return _by_name(label, names) is not None


def _is_number(label: Any) -> bool:
    return (isinstance(label, int) and not isinstance(label, bool)) or (isinstance(label, str) and label.isdecimal())


def _scores(labels: Sequence[Any]) -> GoldLabels:
    try:
        return GoldLabels(tuple(None if label is None else float(label) for label in labels))
    except ValueError:
        words = sorted({str(label) for label in labels if isinstance(label, str)})
        text = f"The model gives a score, but the labels of the data are words ({_listed(words)}): {NOTHING}."
        return GoldLabels((None,) * len(labels), warning=text)


NOTHING = "nothing is measured that needs gold labels: neither the model's performance nor plausibility"


def _unmet(labels: Sequence[Any], index: dict[Any, int | None], names: Sequence[str]) -> str:
    counts = Counter(label for label in labels if label is not None)
    unknown = sorted((str(label) for label, i in index.items() if i is None))
    affected = sum(n for label, n in counts.items() if index[label] is None)
    form = ",".join(f"{label}=..." for label in unknown[:3]) + (",..." if len(unknown) > 3 else "")
    return (
        f"The labels of the data ({_listed(sorted(map(str, counts)))}) are not those of the model ({_listed(names)}): "
        f"the model lacks the label of {affected} of {counts.total()} examples, so {NOTHING}. "
        f'If they mean the same, say so with --label-map "{form}" (label_map in Python); "{unknown[0]}=" leaves the '
        "examples of a label unlabelled."
    )


def _numbers(pairs: Sequence[tuple[int, Any]], names: Sequence[str]) -> str:
    reading = _listed([f"{label} = {names[i]}" for i, label in pairs])
    return (
        f"The labels of the data are numbers, read as positions among the model's labels: {reading}. "
        "If that is wrong, name them with --label-map (label_map in Python)."
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(str, names[:LISTED])) + more
