"""explain: any method on any inputs. Chunks of inputs share one Game, so methods share what they ask the model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

import numpy as np
import torch

from assay.core.attributions import Attributions
from assay.core.errors import AssayError, InputError, ModelError, SpecError
from assay.core.memory import trim_heap
from assay.core.progress import Progress
from assay.core.rng import generator, seed_of
from assay.core.spec import Spec
from assay.core.types import Attribution, Cost, Example, Scores, Target
from assay.datasets.examples import as_examples, is_single
from assay.explainers import METHODS
from assay.explainers.protocols import BlackBox, Composite, why_not_a_method
from assay.masking.flow import run_flows
from assay.masking.game import Game, Outputs, out_of_memory
from assay.masking.removal import Removal, removal_for
from assay.masking.units import divide, pad_unseen, to_units
from assay.models.encoding import Batch, Encoding
from assay.models.load import load_model
from assay.models.model import Model, NotFiniteError
from assay.models.target import Targets, resolve

CHUNK = 64  # inputs that share a Game; bounds what is held in memory
BATCH_START = 32  # what starting a batch costs, in positions


def explain(
    model: Any,
    inputs: Any,
    method: Any = "integrated_gradients",
    *,
    target: Any = None,
    units: str = "token",
    removal: str | None = None,
    scope: int | str | None = None,
    seed: int = 0,
    batch_tokens: int | None = None,
    progress: bool | None = None,
) -> Any:
    """Explain predictions: an Attribution for one input, a list for many; a dict of these for a list of methods.

    model: anything `load_model` takes. inputs: a text, a (text, text_pair), an image, a list of these or a Dataset.
    method: a spec such as "lime(samples=500)", a method object, or a list of these. target: None (the predicted class
    of each input), a label's name or index, a Target, or a list of these, one per input. units: token, word, sentence
    or patch. removal: mask_token, delete, pad, unk, zero, mean_colour; None is the model's own. scope: score "text" or
    "text_pair" only. batch_tokens: positions per forward pass. progress: True, False, or None for long work only.
    """
    many = isinstance(method, list)
    methods = named_methods(method if many else [method])
    job = Job.make(model, methods, units, removal, scope, seed, batch_tokens)
    found: dict[str, Attributions] = {name: Attributions() for name in methods}
    total = None if not hasattr(inputs, "__len__") else 1 if is_single(inputs) else len(inputs)
    _check_targets(target, total)
    with Progress("explaining", None if total is None else total * len(methods), progress) as bar:
        for chunk in _chunks(as_examples(inputs)):
            for name, part in job.run(chunk, _targets(target, chunk), bar).items():
                found[name] += part
    out = {name: part[0] if is_single(inputs) else part for name, part in found.items()}
    return out if many else next(iter(out.values()))


def named_methods(methods: Iterable[Any]) -> dict[str, Any]:
    """Method objects by the spec they were asked for."""
    out: dict[str, Any] = {}
    for asked in methods:
        made = METHODS.make(asked) if isinstance(asked, str | Spec) else asked
        reason = why_not_a_method(made)
        if reason is not None:
            raise SpecError(f"{asked!r} is not a method. {reason}")
        out[str(asked) if isinstance(asked, str | Spec) else str(Spec.of(asked, full=False))] = made
    return out


def default_budget(device: torch.device) -> int:
    """Positions per pass: on a CPU small batches stay in the cache, an accelerator wants large ones."""
    return 2048 if device.type == "cpu" else 16384


@dataclass(frozen=True)
class Round:
    """A few inputs at play: who they are in the caller's list, what is asked of each, and the Game that all share."""

    indices: tuple[int, ...]
    encodings: tuple[Encoding, ...]
    asked: tuple[Target, ...]
    game: Game
    found: dict[Spec, list[Attribution]] = field(default_factory=dict)  # by method: an ensemble asks its parts again


@dataclass(frozen=True)
class Job:
    """All that stays the same from chunk to chunk."""

    model: Model
    methods: Mapping[str, Any]
    units: str
    removal: Removal
    scope: int | str | None
    seed: int
    budget: int
    named: str | None = None  # the removal that the caller named

    @staticmethod
    def make(
        model: Any,
        methods: Mapping[str, Any],
        units: str = "token",
        removal: str | None = None,
        scope: int | str | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
    ) -> Job:
        loaded = load_model(model)
        gone = removal_for(loaded, removal)
        ready = {name: with_baseline(method, removal) for name, method in methods.items()}
        if batch_tokens is not None and batch_tokens < 1:
            raise SpecError(f"batch_tokens={batch_tokens}: give at least 1, or None for the default")
        return Job(loaded, ready, units, gone, scope, seed, batch_tokens or default_budget(loaded.device), removal)

    def open(self, chunk: Sequence[tuple[int, Example]], targets: Sequence[Any]) -> Round:
        """A few inputs, encoded and ready to be asked about; `targets` as a caller gives them, one per input."""
        asked = tuple(self._target(target, index) for target, (index, _) in zip(targets, chunk, strict=True))
        encodings = tuple(self.encode(example, index) for index, example in chunk)
        game = Game(self.model, encodings, self.removal, self.budget)
        return Round(tuple(index for index, _ in chunk), encodings, asked, game)

    def again(self, on: Round, targets: Sequence[Any]) -> Round:
        """The same inputs with nothing asked yet: the model or the targets are others now, the encodings are not."""
        asked = tuple(self._target(target, index) for target, index in zip(targets, on.indices, strict=True))
        return Round(on.indices, on.encodings, asked, Game(self.model, on.encodings, self.removal, self.budget))

    def attributions(self, on: Round, bar: Progress) -> dict[str, Attributions]:
        """All methods on a few inputs."""
        out: dict[str, Attributions] = {}
        with self.model.frozen():
            for name, method in self.methods.items():
                try:
                    out[name] = Attributions(self._one(method, on))
                except InputError as error:
                    raise InputError(error.message, None if error.index is None else on.indices[error.index]) from error
                bar.advance(len(on.indices))
        return out

    def run(self, chunk: Sequence[tuple[int, Example]], targets: list[Any], bar: Progress) -> dict[str, Attributions]:
        """Open a round and explain it with all methods."""
        found = self.attributions(self.open(chunk, targets), bar)
        trim_heap()
        return found

    def encode(self, example: Example, index: int) -> Encoding:
        """An example with its units; an error names its index."""
        try:
            return divide(self.model.encode(example), self.units, self.scope)
        except InputError as error:
            raise error if error.index is not None else InputError(error.message, index) from error

    def _target(self, target: Any, index: int) -> Target:
        try:
            return resolve(target, self.model.labels, self.model.task)
        except AssayError as error:
            raise type(error)(f"input {index}: {error}") from error

    def _one(self, method: Any, on: Round) -> list[Attribution]:
        """A method's answers; those that the round has already are free."""
        spec = Spec.of(method)
        if spec in on.found:
            return [replace(a, cost=Cost(0, 0, 0.0)) for a in on.found[spec]]
        if isinstance(method, Composite):
            return self._composite(method, on)
        run = self._black_box if isinstance(method, BlackBox) else self._white_box
        return on.found.setdefault(spec, run(method, list(on.encodings), list(on.asked), on.game))

    def _aims(self, method: Any, asked: Sequence[Target]) -> Targets:
        return Targets(tuple(asked), method.facts.scale, self.model.task == "multi_label")

    def _seed(self, method: Any, encoding: Encoding) -> tuple[object, ...]:
        return self.seed, Spec.of(method), encoding.example.content

    # --- black box -------------------------------------------------------------------------------------------------

    def _black_box(self, method: Any, encodings: list[Encoding], asked: list[Target], game: Game) -> list[Attribution]:
        before = [(t.forwards, t.seconds) for t in game.tallies]
        targets = self._aims(method, asked).settle(torch.from_numpy(game.full()))
        flows = [method.flow(e.players, generator(*self._seed(method, e))) for e in encodings]

        def value(i: int, outputs: Outputs) -> np.ndarray[Any, np.dtype[np.float64]]:
            # in float64: differences of probabilities near 1 keep their digits
            return targets.take([i]).values(torch.from_numpy(outputs).double()).numpy()

        began = time.perf_counter()
        results = run_flows(game, flows, value)
        own = (time.perf_counter() - began) / max(1, len(encodings))
        known, spec = _known(targets), Spec.of(method)
        empties = [game.memo[i].get(np.packbits(np.zeros(e.players, bool)).tobytes()) for i, e in enumerate(encodings)]
        out = []
        for i, (encoding, result, empty) in enumerate(zip(encodings, results, empties, strict=True)):
            cost = Cost(game.tallies[i].forwards - before[i][0], 0, max(own, game.tallies[i].seconds - before[i][1]))
            scores = pad_unseen(np.asarray(result.scores, np.float64), encoding)
            _check_finite(scores, method, i)
            value_empty = None if empty is None else float(value(i, empty[None])[0])
            out.append(self._attribution(spec, encoding, known[i], scores, cost, value_empty, result.extra))
        return out

    # --- white box -------------------------------------------------------------------------------------------------

    def _white_box(self, method: Any, encodings: list[Encoding], asked: list[Target], game: Game) -> list[Attribution]:
        found: dict[int, Attribution] = {}
        budget = self.budget
        # a method that runs many rows per input fills a pass with one input; more would only be padded
        todo = _by_length(encodings, max(1, budget // getattr(method, "rows", 1)))
        while todo:
            rows = todo.pop()
            try:
                part = self._batch(method, [encodings[i] for i in rows], [asked[i] for i in rows], budget)
            except NotFiniteError as error:
                raise InputError(str(error), rows[error.row % len(rows)]) from error
            except InputError as error:  # its index is the place in this batch
                raise InputError(error.message, None if error.index is None else rows[error.index]) from error
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                if budget < 2:
                    raise ModelError(
                        "out of memory on a single sequence; use a shorter text or a smaller model"
                    ) from error
                budget //= 2
                half = max(1, len(rows) // 2)
                todo += [rows[:half], rows[half:]] if len(rows) > 1 else [rows]
                continue
            found.update(zip(rows, part, strict=True))
        return [found[i] for i in range(len(encodings))]

    def _batch(self, method: Any, encodings: list[Encoding], asked: list[Target], budget: int) -> list[Attribution]:
        began, passes = time.perf_counter(), replace(self.model.passes)
        targets = self._aims(method, asked)
        batch = self.batch(encodings, tuple(seed_of(*self._seed(method, e)) for e in encodings), budget)
        result = method.attribute(self.model, batch, targets)
        result = result if isinstance(result, Scores) else Scores(result)
        self.model.full_logits(batch, targets)
        assert batch.unit_of is not None
        scores = to_units(result.scores.detach(), encodings, batch.unit_of)
        for i, row in enumerate(scores):
            _check_finite(row, method, i)
        n = len(encodings)
        cost = Cost(
            (self.model.passes.forwards - passes.forwards) / n,
            (self.model.passes.backwards - passes.backwards) / n,
            (time.perf_counter() - began) / n,
        )
        extras = [{key: values[i] for key, values in result.extra.items()} for i in range(n)]
        empties = [extra.pop("value_empty", None) for extra in extras]
        known, spec = _known(targets), Spec.of(method)
        return [
            self._attribution(spec, e, known[i], scores[i], cost, empties[i], extras[i])
            for i, e in enumerate(encodings)
        ]

    def batch(self, encodings: Sequence[Encoding], seeds: tuple[int, ...] = (), budget: int | None = None) -> Batch:
        """Tensors of whole inputs with their units, for white-box methods."""
        batch = self.model.batch(encodings)
        unit_of = torch.full_like(batch.ids, -1)
        for row, encoding in zip(unit_of, encodings, strict=True):
            row[: len(encoding)] = torch.from_numpy(encoding.unit_of)
        return replace(batch, unit_of=unit_of, seeds=seeds, budget=budget or self.budget)

    # --- composite -------------------------------------------------------------------------------------------------

    def _composite(self, method: Any, on: Round) -> list[Attribution]:
        parts = [self._one(with_baseline(METHODS.make(p), self.named), on) for p in method.parts]
        out = []
        for i, mine in enumerate(zip(*parts, strict=True)):
            result = method.combine(mine)
            result = result if isinstance(result, Scores) else Scores(result)
            scores = np.asarray(result.scores, np.float32)
            _check_finite(scores, method, i)
            total = Cost(**{f.name: sum(getattr(a.cost, f.name) for a in mine) for f in fields(Cost)})
            spec, extra = Spec.of(method), dict(result.extra)
            out.append(replace(mine[0], scores=scores, method=spec, cost=total, extra=extra))
        return out

    def _attribution(
        self,
        spec: Spec,
        encoding: Encoding,
        known: tuple[Target, float],
        scores: np.ndarray[Any, Any],
        cost: Cost,
        value_empty: float | None,
        extra: Mapping[str, Any],
    ) -> Attribution:
        target, value_full = known
        return Attribution(
            units=encoding.units,
            scores=scores.astype(np.float32),
            target=target,
            label=self.model.labels[int(target.label or 0)],
            method=spec,
            example_id=encoding.example.id,
            value_full=value_full,
            value_empty=value_empty,
            cost=cost,
            extra=dict(extra),
        )


def _known(targets: Targets) -> list[tuple[Target, float]]:
    """The resolved target of each input and its value on the whole input."""
    if targets.full is None:
        raise RuntimeError("the logits of the whole inputs are not known")
    values = targets.values(targets.full.double()).tolist()
    return list(zip(targets.resolved, values, strict=True))


def _check_finite(scores: np.ndarray[Any, Any], method: Any, i: int) -> None:
    if not np.isfinite(scores).all():
        raise InputError(f"{Spec.of(method)} gave NaN or infinite scores; try dtype='float32' or another method", i)


def with_baseline(method: Any, removal: str | None) -> Any:
    """A method whose baseline is left open follows the removal that the caller named, and its record says so."""
    if removal in (None, "delete") or getattr(method, "baseline", "") is not None:
        return method
    return replace(method, baseline=removal)


def _by_length(encodings: Sequence[Encoding], budget: int) -> list[list[int]]:
    """Indices in batches of like length that fit the budget, so cut that padding and starts together cost least."""
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i]))
    best: list[tuple[float, list[list[int]]]] = [(0.0, [])]  # of the first j inputs: positions run, batches
    for j in range(1, len(order) + 1):
        width = len(encodings[order[j - 1]])
        starts = range(max(0, j - max(1, budget // width)), j)
        first = min(starts, key=lambda i: best[i][0] + (j - i) * width)
        cost = best[first][0] + BATCH_START + (j - first) * width
        best.append((cost, [*best[first][1], order[first:j]]))
    return best[-1][1]


def _chunks(stream: Iterator[Example]) -> Iterator[list[tuple[int, Example]]]:
    numbered = enumerate(stream)
    while chunk := list(islice(numbered, CHUNK)):
        yield chunk


def _check_targets(target: Any, total: int | None) -> None:
    if isinstance(target, list) and total is not None and len(target) != total:
        raise InputError(f"{len(target)} targets were given for {total} inputs; give one for all or one per input")


def _targets(target: Any, chunk: Sequence[tuple[int, Example]]) -> list[Any]:
    if not isinstance(target, list):
        return [target] * len(chunk)
    if chunk[-1][0] >= len(target):
        raise InputError(f"{len(target)} targets were given for more inputs; give one for all or one per input")
    return [target[index] for index, _ in chunk]
