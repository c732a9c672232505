"""The gold label of an example as the model encodes it."""

from __future__ import annotations

from assay.core.errors import SpecError, TargetError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.models.model import Model
from assay.models.target import label_index


def gold_label(example: Example, dataset: Dataset, model: Model) -> int | float | None:
    """The index of the label among the model's labels, or the score of a regression.

    None if the example has no label or the model does not know it. Names match exactly or, failing that, ignoring case.
    """
    label = example.label
    if label is None:
        return None
    if model.task == "regression":
        try:
            return float(label)
        except ValueError as error:
            raise SpecError(f"the label {label!r} is not a number; choose a score, or train a classifier") from error
    named = dataset.labels[label] if dataset.labels and isinstance(label, int) else label
    if isinstance(named, str) and named in model.labels:
        return model.labels.index(named)
    try:
        name_or_index = named.casefold() if isinstance(named, str) else int(named)
        return label_index(name_or_index, [name.casefold() for name in model.labels])
    except TargetError:
        return None
