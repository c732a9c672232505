"""What a model predicts: labels and probabilities of one input or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from assay.core.errors import InputError
from assay.core.optional import optional
from assay.datasets.examples import as_examples, is_single
from assay.models.batches import run_in_batches
from assay.models.target import scaled

if TYPE_CHECKING:
    from assay.core.types import Example
    from assay.models.model import Model

CHUNK = 1024  # inputs that are encoded at once


@dataclass(frozen=True)
class Prediction:
    """The predicted class of one input (the one with the highest output), or the value of a regression."""

    label: str | float
    probabilities: dict[str, float] | None  # of all classes, by name; of a multi-label model each by itself
    example_id: str = ""

    @property
    def probability(self) -> float | None:
        """Of the predicted class; None for a regression."""
        return None if self.probabilities is None else self.probabilities[str(self.label)]

    def __repr__(self) -> str:
        if self.probability is None:
            return f"<Prediction: {self.label:.4g}>"
        return f"<Prediction: {self.label!r}, probability {self.probability:.3f}>"


class Predictions(list[Prediction]):
    """What `Model.predict` returns for several inputs."""

    @property
    def labels(self) -> list[str | float]:
        return [prediction.label for prediction in self]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per input: example, label, and the probability of each class."""
        rows = [{"example": p.example_id, "label": p.label, **(p.probabilities or {})} for p in self]
        return optional("pandas", "data").DataFrame(rows)


def predict(model: Model, inputs: Any, batch_tokens: int | None = None) -> Any:
    """See `Model.predict`."""
    stream, found = enumerate(as_examples(inputs)), Predictions()
    while chunk := list(islice(stream, CHUNK)):
        found += _predict(model, chunk, batch_tokens or model.budget)
    return found[0] if is_single(inputs) else found


def _predict(model: Model, chunk: Sequence[tuple[int, Example]], budget: int) -> Iterator[Prediction]:
    encodings = [_encoded(model, index, example) for index, example in chunk]
    rows: dict[int, Tensor] = {}

    def run(batch: list[int], _: int) -> Tensor:
        with torch.inference_mode():
            return model.logits(model.batch([encodings[i] for i in batch])).double().cpu()

    for batch, logits in run_in_batches([len(e) for e in encodings], budget, run):
        rows.update(zip(batch, logits, strict=True))
    for i, (_, example) in enumerate(chunk):
        yield _prediction(model, rows[i], example.id)


def _encoded(model: Model, index: int, example: Example) -> Any:
    try:
        return model.encode(example)
    except InputError as error:
        raise error if error.index is not None else InputError(error.message, index) from error


def _prediction(model: Model, logits: Tensor, example_id: str) -> Prediction:
    if model.task == "regression":
        return Prediction(float(logits[0]), None, example_id)
    probabilities = scaled(logits[None], "probability", independent=model.task == "multi_label")[0].tolist()
    named = dict(zip(model.labels, probabilities, strict=True))
    return Prediction(model.labels[int(logits.argmax())], named, example_id)
