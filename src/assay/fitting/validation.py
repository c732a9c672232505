"""How good an attribution model is on held-out texts, by the metric that chooses its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from assay.core.rng import generator
from assay.core.types import Floats, Target
from assay.explainers.learned.parts.attribution_model import Attributor
from assay.explainers.learned.parts.fitted import class_outputs
from assay.faithfulness.criterion import Criterion
from assay.faithfulness.protocol import descending_order
from assay.fitting.card import Chance
from assay.fitting.texts import FitTexts
from assay.masking.units import unit_scores

BATCH = 32
DRAWS = 3  # of a random order


@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out texts and a criterion. The labels of the data are not needed: the predicted class is explained."""

    texts: FitTexts
    criterion: Criterion
    soft: bool

    def value(self, attributor: Attributor) -> float:
        """The mean of the criterion over the texts."""
        return self._mean(np.concatenate([self._values(part, found) for part, found in self._scores(attributor)]))

    def against_chance(self, attributor: Attributor) -> Chance:
        """The same for a random order of the units of each text, and how surely the attribution model differs."""
        own = np.concatenate([self._values(part, found) for part, found in self._scores(attributor)])
        difference = own - self._random
        error = float(np.std(difference, ddof=1) / np.sqrt(len(own))) if len(own) > 1 else None
        return Chance(self._mean(self._random), error, len(own))

    @cached_property
    def _random(self) -> Floats:
        """(N,) the criterion of a random order of each text, as a mean over draws; a search needs it many times."""
        draws = [
            np.concatenate([self._values(part, [self._noise(i, seed) for i in part]) for part in self._parts()])
            for seed in range(DRAWS)
        ]
        mean: Floats = np.mean(draws, 0)
        return mean

    def _noise(self, i: int, seed: int) -> Floats:
        encoding = self.texts.encodings[i]
        return generator("random order", seed, encoding.example.content).random(encoding.players).astype(np.float32)

    def _mean(self, values: Floats) -> float:
        return float(np.mean(values, dtype=np.float64))

    def _parts(self) -> list[list[int]]:
        order = sorted(range(len(self.texts)), key=lambda i: self.texts.lengths[i])
        return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]

    def _players(self, i: int) -> int:
        return self.texts.encodings[i].players

    def _scores(self, attributor: Attributor) -> Iterator[tuple[list[int], list[Floats]]]:
        """The scores of the units of each text, batch by batch; their order is all that counts."""
        model = self.texts.model
        for part in self._parts():
            batch = self.texts.take(part)
            assert batch.batch.unit_of is not None
            with torch.no_grad():
                reading = attributor.read(model, batch.batch, batch.outputs)
                out = class_outputs(attributor, model, batch.batch, reading, batch.outputs.argmax(-1), soft=self.soft)
            most = max(self._players(i) for i in part)
            units = unit_scores(out.float(), batch.batch.unit_of, most).numpy(force=True)
            yield part, [row[: self._players(i)] for row, i in zip(units, part, strict=True)]

    def _values(self, part: list[int], scores: list[Floats]) -> Floats:
        model, encodings = self.texts.model, [self.texts.encodings[i] for i in part]
        full = self.texts.outputs[part]
        targets = [Target(int(row.argmax())) for row in full]
        orders = [[descending_order(row)] for row in scores]
        values = self.criterion.values(model, encodings, full, orders, targets, model.budget)
        return np.array([row[0] for row in values])
