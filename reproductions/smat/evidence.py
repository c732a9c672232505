"""What the records say: what every student answered, how plausible every method is, which heads were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.simulability.scores import drawn_weights, over_seeds_and_texts, simulability
from assay.evaluation.simulability.verdict import Judged, judge
from assay.experiments.store import Record
from assay.statistics.bootstrap import Interval
from assay.statistics.quantities import Quantity

from .published import short_name

NONE = "none"
Values = Mapping[str, float]  # by example


@dataclass(frozen=True)
class Place:
    """Where a record belongs: data, study, and for a student its method, number of texts and seed."""

    key: str
    data: str
    study: str
    step: str
    method: str = ""
    size: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Gain:
    """The score of one group of students minus that of another, over the same seeds and texts."""

    first: NDArray[Any]  # (S,N)
    second: NDArray[Any]
    answers: NDArray[Any]  # (N,)
    runs: tuple[float, ...] = ()  # seeds are resampled, so no single one must agree

    def interval(self, confidence: float) -> Interval:
        weights = drawn_weights(len(self.answers))
        scores, drawn = (
            np.subtract(*(simulability(rows, self.answers, w) for rows in (self.first, self.second)))
            for w in (None, weights)
        )
        return over_seeds_and_texts(scores[0], drawn, confidence=confidence)


@dataclass(frozen=True)
class Room:
    """The students of one study with one number of texts: answers by method, (S,N) each over the seeds of all."""

    answers: NDArray[Any]
    outputs: Mapping[str, NDArray[Any]]

    @cached_property
    def judged(self) -> dict[str, Judged]:
        controls = {name: f"shuffled {name}" for name in self.outputs if f"shuffled {name}" in self.outputs}
        return judge(self.outputs, self.answers, controls, NONE)


@dataclass(frozen=True)
class Evidence:
    """Students by (data, study) and number of texts; plausibility by (data, metric) and method; heads by (data, study).

    heads: (S,L,H) weights of the heads of each fit. oracle: of `heads.json`, by (data, part): values of every head.
    """

    rooms: Mapping[tuple[str, str], Mapping[int, Room]] = field(default_factory=dict)
    plausible: Mapping[tuple[str, str], Mapping[str, Values]] = field(default_factory=dict)
    heads: Mapping[tuple[str, str], NDArray[np.float64]] = field(default_factory=dict)
    oracle: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def room(self, data: str, study: str, size: int) -> Room | None:
        return self.rooms.get((data, study), {}).get(size)

    def sizes(self, data: str, study: str = "students") -> list[int]:
        return sorted(self.rooms.get((data, study), {}))

    def gain(self, data: str, size: int, method: str, other: str, study: str = "students") -> Gain | None:
        """None if one of them was not run."""
        room = self.room(data, study, size)
        if room is None or not {method, other} <= set(room.outputs):
            return None
        return Gain(room.outputs[method], room.outputs[other], room.answers)

    def between(self, data: str, size: int, method: str, study: str, other: str) -> Gain | None:
        """The same method in two studies on the same texts."""
        rooms = [self.room(data, name, size) for name in (study, other)]
        if any(room is None or method not in room.outputs for room in rooms):
            return None
        first, second = (room.outputs[method] for room in rooms if room is not None)
        seeds = min(len(first), len(second))
        return Gain(first[:seeds], second[:seeds], rooms[0].answers) if rooms[0] is not None else None

    def agreement(self, data: str, metric: str, method: str) -> Values | None:
        return self.plausible.get((data, metric), {}).get(method)

    def more_plausible(self, data: str, metric: str, method: str, other: str) -> Quantity | None:
        """How much better a method agrees with people than another, on the same texts."""
        first, second = self.agreement(data, metric, method), self.agreement(data, metric, other)
        shared = [] if first is None or second is None else [e for e in first if e in second]
        if first is None or second is None or len(shared) < 2:
            return None
        return Quantity(np.array([first[e] - second[e] for e in shared]))


def evidence(placed: Iterable[tuple[Place, Record]], oracle: Mapping[str, Any] | None = None) -> Evidence:
    """Join the records."""
    asked: dict[tuple[str, str], Any] = {}
    said: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    heads: dict[tuple[str, str], Any] = defaultdict(dict)
    plausible: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(dict))
    seconds: dict[str, float] = defaultdict(float)
    for place, record in placed:
        seconds[place.data] += _seconds(record)
        cell = (place.data, place.study)
        if place.step == "ask":
            asked[cell] = np.asarray(record.rows["answers"]["test"])
        elif place.step == "student":
            said[cell][place.size][short_name(place.method)][place.seed] = record.rows["outputs"]
            if "heads" in record.rows:
                heads[cell][place.size, place.seed] = record.rows["heads"]
        elif place.step == "evaluate":
            _plausible(plausible, place.data, record.rows)
    known = _oracle(plausible, oracle or {})
    rooms = {cell: _rooms(by_size, asked[cell]) for cell, by_size in said.items() if cell in asked}
    grids = {cell: np.array([grid for _, grid in sorted(by.items())]) for cell, by in heads.items()}
    return Evidence(rooms, known, grids, oracle or {}, seconds)


def _rooms(by_size: Mapping[int, Any], answers: NDArray[Any]) -> dict[int, Room]:
    """Students of the seeds that all methods of one number of texts have."""
    rooms = {}
    for size, methods in by_size.items():
        seeds = sorted(set.intersection(*(set(by) for by in methods.values())))
        kind = answers.dtype
        if seeds and NONE in methods:
            rooms[size] = Room(answers, {m: np.array([by[s] for s in seeds], kind) for m, by in methods.items()})
    return rooms


def _plausible(plausible: Any, data: str, rows: Any) -> None:
    for metric, methods in rows["values"].items():
        for method, column in methods.items():
            found = {e: v for e, v in zip(rows["examples"], column, strict=True) if v is not None}
            plausible[data, metric][plan_name(method)] |= found


def _oracle(plausible: Any, oracle: Mapping[str, Any]) -> Any:
    """Add the best layer and the best head, chosen with the rationales, as rows of their own."""
    for row in oracle.get("agreement", ()):
        for name in ("best layer", "best head"):
            plausible[row["data"], row["metric"]][f"{name} (oracle)"] = dict(
                zip(row["examples"], row[name]["values"], strict=True)
            )
    return plausible


def plan_name(method: str) -> str:
    """A fitted explainer has the name it has in the plan: smat."""
    return "smat" if method.startswith("scaffold(") else short_name(method)


def _seconds(record: Record) -> float:
    spent = record.provenance.get("seconds", 0.0)
    return float(spent) if isinstance(spent, int | float) else 0.0
