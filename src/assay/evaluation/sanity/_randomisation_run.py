"""Runs layer randomisation: explains, re-initialises blocks, explains again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from assay.core.attributions import Attributions
from assay.core.errors import ModelError
from assay.core.memory import trim_heap
from assay.core.progress import Progress
from assay.core.types import Example, Target
from assay.evaluation.sanity.layer_randomisation import correlation
from assay.explainers.methods import named_methods
from assay.explainers.round import Round
from assay.explainers.session import CHUNK, Session
from assay.models import hooks
from assay.models.load import load_model
from assay.models.model import Model

if TYPE_CHECKING:
    from assay.evaluation.sanity.layer_randomisation import LayerRandomisation, Row, Steps


@dataclass(frozen=True)
class RandomisationRun:
    """A randomisation with its settings; the model is restored bit for bit."""

    settings: LayerRandomisation

    def run(self, model: Any, examples: Sequence[Example], bar: Progress | None) -> list[Row]:
        """One row per example, method, mode, block and seed."""
        loaded = load_model(model)
        session = Session.create(
            loaded,
            named_methods(self.settings.methods),
            self.settings.units,
            self.settings.removal,
            None,
            self.settings.seed,
            self.settings.batch_tokens,
            self.settings.special_tokens,
        )
        steps = self.settings.steps(loaded.n_blocks)
        numbered = list(enumerate(examples))
        chunks = [numbered[i : i + CHUNK] for i in range(0, len(numbered), CHUNK)]
        rounds = [
            session.open(chunk, [Target(scale=self.settings.scale)] * len(chunk)) for chunk in chunks
        ]  # encoded once
        bar = bar or Progress("", None, show=False)
        before = [session.explain(on, bar) for on in rounds]
        return [row for seed in self.settings.seeds for row in self._seeded(session, steps, rounds, before, seed, bar)]

    def _seeded(
        self,
        session: Session,
        steps: Steps,
        rounds: Sequence[Round],
        before: Sequence[Mapping[str, Attributions]],
        seed: int,
        bar: Progress,
    ) -> Iterator[Row]:
        weights = _reinitialised(
            session.model,
            {b for blocks in steps for b in blocks},
            seed,
            shared_parameters=self.settings.shared_parameters,
        )
        for blocks, stands_for in steps.items():
            with session.model.with_blocks({b: weights[b] for b in blocks}):
                again = [session.reopen(on, self._same_class(whole)) for on, whole in zip(rounds, before, strict=True)]
                after = [session.explain(on, bar) for on in again]
            for mode, block in stands_for:
                yield from _rows(before, after, {"mode": mode, "block": block, "blocks": len(blocks), "seed": seed})
        trim_heap()  # once per seed: after every step it would cost a tenth of the time

    def _same_class(self, whole: Mapping[str, Attributions]) -> list[Target]:
        first = next(iter(whole.values()))
        return [Target(a.target.label, None, self.settings.scale) for a in first]


def _reinitialised(model: Model, blocks: set[int], seed: int, *, shared_parameters: bool) -> hooks.Weights:
    """New weights of some blocks; raises if they equal the old ones, which would make the study meaningless."""
    weights = {block: model.reinitialised(block, seed, shared_parameters=shared_parameters) for block in blocks}
    old = hooks.blocks(model.hf)
    for block, new in weights.items():
        if all(torch.equal(new[name], p) for name, p in old[block].named_parameters() if name in new):
            raise ModelError(
                f"block {block} of {model.name} has the same weights after re-initialisation, so nothing can be tested"
            )
    return weights


def _rows(
    before: Sequence[Mapping[str, Attributions]], after: Sequence[Mapping[str, Attributions]], where: Row
) -> Iterator[Row]:
    for whole, broken in zip(before, after, strict=True):
        for method in whole:
            for old, new in zip(whole[method], broken[method], strict=True):
                values = {"spearman": correlation(old, new), "value": new.value_full, "value_intact": old.value_full}
                yield {"example": old.example_id, "method": method, **where, **values}
