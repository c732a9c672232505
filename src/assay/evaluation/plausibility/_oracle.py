"""The attention layer and the head that agree best with rationales: a reference that knows the answer.

Chosen on the texts that it is judged on, so no method that has not seen the rationales can be expected to reach it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from assay.core.errors import SpecError
from assay.core.progress import Progress
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import AttributionMetric
from assay.explainers.methods import named_methods
from assay.explainers.session import CHUNK, Session
from assay.models.encoding import Encoding
from assay.models.model import Model

Values = NDArray[np.float64]


@dataclass(frozen=True)
class HeadAgreement:
    """How well each layer and head agrees with the rationales: means over texts, and the values behind them."""

    layers: Values  # (N,L)
    heads: Values  # (N,L,H)

    @property
    def best_layer(self) -> tuple[int, Values]:
        """The layer, and its value on each text."""
        place = int(self.layers.mean(0).argmax())
        return place, self.layers[:, place]

    @property
    def best_head(self) -> tuple[tuple[int, int], Values]:
        """The layer and the head, and its value on each text."""
        layer, head = np.unravel_index(int(self.heads.mean(0).argmax()), self.heads.shape[1:])
        return (int(layer), int(head)), self.heads[:, layer, head]


def head_agreement(model: Model, examples: Sequence[Example], metric: AttributionMetric) -> HeadAgreement:
    """Measure every layer and every head, as `attention_logits` explains by them, with one pass per text."""
    rows: list[Values] = []  # (L + L*H,) each
    for example, known, logits in _read(model, examples):
        explained = torch.cat([logits.mean(1), logits.flatten(0, 1)]).softmax(-1).double().numpy()
        values = [_measured(known, example, row, metric) for row in explained]
        if None not in values:  # the text has a rationale, and words outside it
            rows.append(np.array(values, np.float64))
    if not rows:
        raise SpecError("none of the texts has a rationale that the model has read and words outside it")
    found, blocks = np.stack(rows), model.n_blocks
    return HeadAgreement(found[:, :blocks], found[:, blocks:].reshape(len(found), blocks, -1))


Read = tuple[Example, "tuple[Attribution, Encoding]", torch.Tensor]


def _read(model: Model, examples: Sequence[Example]) -> Iterator[Read]:
    """Each text with its units, and the attention logits (L,H,T) of every head."""
    session = Session.create(model, named_methods(["attention_logits"]))
    numbered = list(enumerate(examples))
    for start in range(0, len(numbered), CHUNK):
        chunk = numbered[start : start + CHUNK]
        inputs = session.open(chunk, [None] * len(chunk))
        (found,) = session.explain(inputs, Progress("", None, show=False)).values()
        for (_, example), encoding, attribution in zip(chunk, inputs.encodings, found, strict=True):
            with torch.no_grad():
                logits = model.head_logits(model.batch([encoding]))[1][0]
            yield example, (attribution, encoding), logits.unflatten(0, (model.n_blocks, -1))


def _measured(
    known: tuple[Attribution, Encoding], example: Example, row: Values, metric: AttributionMetric
) -> float | None:
    """The metric of an explanation (T,), summed over the positions of each unit."""
    attribution, encoding = known
    used = encoding.unit_of >= 0
    scores = np.bincount(encoding.unit_of[used], row[used], minlength=len(attribution.scores))
    return metric.measure(replace(attribution, scores=scores.astype(np.float32)), example)
