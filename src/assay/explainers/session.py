"""Session: the settings under which inputs are explained, chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.core.attributions import Attributions
from assay.core.errors import AssayError, InputError, SpecError
from assay.core.memory import trim_heap
from assay.core.progress import Progress
from assay.core.spec import Spec, check_type
from assay.core.types import Attribution, Cost, Example, Target
from assay.explainers.black_box import explain_black_box
from assay.explainers.composite import combine
from assay.explainers.methods import check_fitted, check_visible, parts_of, with_baseline
from assay.explainers.protocols import BlackBox, Composite, Reader
from assay.explainers.round import Round
from assay.explainers.white_box import explain_white_box
from assay.masking.game import Game
from assay.masking.removal import Removal, removal_for
from assay.masking.special_tokens import TokenName, token_names
from assay.masking.units import divide, kind_for
from assay.models.encoding import Encoding
from assay.models.exclusive import exclusive
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.target import parse_target

SETTINGS = {
    "units": str,
    "removal": str | None,
    "scope": int | str | None,
    "seed": int,
    "batch_tokens": int | None,
    "special_tokens": str,
}
CHUNK = 64  # inputs that share a Game; bounds memory use


@dataclass(frozen=True)
class Session:
    """A model, methods and settings that stay the same from chunk to chunk."""

    model: Model
    methods: Mapping[str, Any]
    units: str
    removal: Removal
    scope: int | str | None
    seed: int
    budget: int  # positions per forward pass
    requested_removal: str | None = None  # as the caller named it; None: the model's default
    special_tokens: str = "protected"

    @staticmethod
    def create(
        model: Any,
        methods: Mapping[str, Any],
        units: str = "token",
        removal: str | None = None,
        scope: int | str | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
        special_tokens: str = "protected",
    ) -> Session:
        given = (units, removal, scope, seed, batch_tokens, special_tokens)
        for (name, kind), value in zip(SETTINGS.items(), given, strict=True):
            check_type(name, value, kind)
        loaded = load_model(model)
        check_visible(methods, loaded)
        token_names(loaded, special_tokens)  # refuses what the model cannot have
        check_fitted(methods.values(), loaded)
        by_name = {name: with_baseline(method, removal) for name, method in methods.items()}
        if batch_tokens is not None and batch_tokens < 1:
            raise SpecError(f"batch_tokens={batch_tokens}: give at least 1, or leave it out")
        budget = batch_tokens or loaded.budget
        kind, how = kind_for(loaded, units), removal_for(loaded, removal)
        return Session(loaded, by_name, kind, how, scope, seed, budget, removal, special_tokens)

    def explain_chunk(
        self, chunk: Sequence[tuple[int, Example]], targets: Sequence[Any], bar: Progress
    ) -> dict[str, Attributions]:
        """Open a round and explain it with all methods."""
        attributions = self.explain(self.open(chunk, targets), bar)
        trim_heap()
        return attributions

    def open(self, chunk: Sequence[tuple[int, Example]], targets: Sequence[Any]) -> Round:
        """Encode a few numbered inputs; `targets` as a caller gives them, one per input."""
        indices = tuple(index for index, _ in chunk)
        requested = self._targets(targets, indices)
        with exclusive(self.model.hf):  # once, not for every input; to freeze the model would visit all its parameters
            encodings = tuple(self.encode(example, index) for index, example in chunk)
        return self._round(indices, encodings, requested)

    def reopen(self, inputs: Round, targets: Sequence[Any]) -> Round:
        """The same encoded inputs with an empty Game, after the model's weights or the targets have changed."""
        return self._round(inputs.indices, inputs.encodings, self._targets(targets, inputs.indices))

    def explain(self, inputs: Round, bar: Progress) -> dict[str, Attributions]:
        """Attributions of all methods, by the methods' names."""
        attributions: dict[str, Attributions] = {}
        with self.model.frozen():
            for name, method in self.methods.items():
                try:
                    attributions[name] = Attributions(self._explain_with(method, inputs))
                except InputError as error:
                    index = None if error.index is None else inputs.indices[error.index]
                    raise InputError(error.message, index) from error
                bar.advance(len(inputs.indices))
        return attributions

    def encode(self, example: Example, index: int) -> Encoding:
        """An example with its units; an error names its index."""
        try:
            return divide(self.model.encode(example), self.units, self.scope, self._token_names)
        except InputError as error:
            raise error if error.index is not None else InputError(error.message, index) from error

    @cached_property
    def _token_names(self) -> TokenName | None:
        return token_names(self.model, self.special_tokens)

    def _explain_with(self, method: Any, inputs: Round) -> list[Attribution]:
        """Attributions of one method; those that the round already has cost nothing."""
        spec = Spec.of(method)
        if spec in inputs.attributions:
            return [replace(a, cost=Cost(0, 0, 0.0)) for a in inputs.attributions[spec]]
        if isinstance(method, Composite):
            parts = [with_baseline(part, self.requested_removal) for part in parts_of(method)]
            return combine(method, [self._explain_with(part, inputs) for part in parts])
        run = explain_black_box if isinstance(method, BlackBox | Reader) else explain_white_box
        return inputs.attributions.setdefault(spec, run(method, inputs))

    def _round(self, indices: tuple[int, ...], encodings: tuple[Encoding, ...], requested: tuple[Target, ...]) -> Round:
        game = Game(self.model, encodings, self.removal, self.budget)
        return Round(self.model, indices, encodings, requested, game, self.budget, self.seed)

    def _targets(self, targets: Sequence[Any], indices: Sequence[int]) -> tuple[Target, ...]:
        return tuple(self._target(target, index) for target, index in zip(targets, indices, strict=True))

    def _target(self, target: Any, index: int) -> Target:
        try:
            return parse_target(target, self.model.labels, self.model.task)
        except AssayError as error:
            raise type(error)(f"input {index}: {error}") from error
