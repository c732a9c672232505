"""Game: runs a model on masked inputs, batched over examples, sorted by length, memoised and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from assay.core.errors import InputError, RowError
from assay.core.types import Bools
from assay.masking.removal import Removal
from assay.models.batches import run_in_batches
from assay.models.encoding import Encoding
from assay.models.model import Model

Outputs = NDArray[np.float32]  # (M,C)
Request = tuple[int, Bools]  # index of an example, and which of its units each mask keeps (M,U)


class AnswersMasks(Protocol):
    """Anything that gives the class outputs of masks: the Game, or a plain function in tests."""

    def outputs(self, requests: Sequence[Request]) -> list[Outputs]: ...


@dataclass
class Tally:
    """Forward passes and seconds spent on one example."""

    forwards: int = 0
    seconds: float = 0.0


@dataclass
class Game:
    """Class outputs of keep-masks (True = kept). Each distinct mask of an example runs once in the life of a Game.

    The players of the game are the units that the model reads.
    """

    model: Model
    encodings: Sequence[Encoding]
    removal: Removal
    budget: int  # positions per forward pass
    progress: Callable[[int], Any] | None = None  # called with the number of sequences that ran
    tallies: list[Tally] = field(default_factory=list)
    memo: list[dict[bytes, NDArray[np.float32]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tallies = [Tally() for _ in self.encodings]
        self.memo = [{} for _ in self.encodings]

    def outputs(self, requests: Sequence[Request]) -> list[Outputs]:
        """The class outputs (M,C) of the masks of each request, in order."""
        keys = [_keys(keep) for _, keep in requests]
        todo: dict[tuple[int, bytes], Bools] = {}
        for (i, keep), names in zip(requests, keys, strict=True):
            todo.update({(i, key): row for key, row in zip(names, keep, strict=True) if key not in self.memo[i]})
        self._run([(i, key, row) for (i, key), row in todo.items()])
        return [np.stack([self.memo[i][key] for key in names]) for (i, _), names in zip(requests, keys, strict=True)]

    def take(self, index: Sequence[int]) -> Game:
        """The game of some of the examples; masks that have run are known to both."""
        part = Game(self.model, [self.encodings[i] for i in index], self.removal, self.budget, self.progress)
        part.memo = [self.memo[i] for i in index]
        return part

    def full(self) -> NDArray[np.float32]:
        """The outputs (B,C) of the whole inputs."""
        whole = [(i, np.ones((1, e.players), bool)) for i, e in enumerate(self.encodings)]
        return np.concatenate(self.outputs(whole))

    def known(self, i: int, keep: Bools) -> NDArray[np.float32] | None:
        """The output (C,) of a mask (U,) that has run already, or None."""
        return self.memo[i].get(_keys(keep[None])[0])

    def _run(self, todo: list[tuple[int, bytes, Bools]]) -> None:
        todo = sorted(todo, key=lambda request: request[0])  # variants of one example share a batch
        lengths = [self._length(i, row) for i, _, row in todo]

        def run(batch: list[int], budget: int) -> None:
            self._forward([todo[k] for k in batch])
            self.budget = budget  # what fits is remembered

        for _ in run_in_batches(lengths, self.budget, run):
            pass

    def _length(self, i: int, row: Bools) -> int:
        return int(self._positions(i, row[None]).sum()) if self.removal.shortens else len(self.encodings[i])

    def _positions(self, i: int, keep: Bools) -> Bools:
        """(M,U) players -> (M,T) positions; positions without a unit are always kept."""
        unit_of = self.encodings[i].unit_of
        padded = np.concatenate([keep, np.ones((len(keep), 1), bool)], 1)
        return padded[:, unit_of]  # -1 indexes the added column

    def _forward(self, requests: list[tuple[int, bytes, Bools]]) -> None:
        start = time.perf_counter()
        groups = [(i, list(rows)) for i, rows in groupby(requests, key=lambda request: request[0])]
        rows = [
            self.removal.rows(self.model, self.encodings[i], self._positions(i, np.stack([row for _, _, row in group])))
            for i, group in groups
        ]
        with torch.inference_mode():
            try:
                logits = self.model.logits(self.model.batch(rows)).numpy(force=True)
            except RowError as error:
                raise InputError(str(error), requests[error.row][0]) from error
        share = (time.perf_counter() - start) / len(requests)
        for (i, key, _), row in zip(requests, logits, strict=True):
            self.memo[i][key] = row
            self.tallies[i].forwards += 1
            self.tallies[i].seconds += share
        if self.progress is not None:
            self.progress(len(requests))


def _keys(keep: Bools) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(keep, axis=1)]
