"""What the records say: what every student answered, how plausible every method is, which heads were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.simulability.scores import contributions, detectable_mean, most_frequent, over_seeds_and_texts
from assay.evaluation.simulability.verdict import Judged, judge
from assay.experiments.store import Record
from assay.statistics.bootstrap import Interval
from assay.statistics.quantities import Quantity

from ..retrained import retrained
from .published import OWN, short_name

NONE = "none"
NORMALISERS = ("softmax", "entmax15", "no_normaliser")  # studies of Table 7; `students` has sparsemax
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
    part: str = ""  # the study's name in the plan, where several fill one table


@dataclass(frozen=True)
class Gain:
    """The score of one group of students minus that of another, over the same seeds and texts."""

    parts: NDArray[np.float64]  # (S,N) what each text adds to each difference
    runs: tuple[float, ...] = ()  # the interval is over seeds, too, so no single one must agree

    @property
    def students(self) -> int:
        return len(self.parts)

    def interval(self, confidence: float) -> Interval:
        return over_seeds_and_texts(self.parts, confidence)

    def detectable(self, confidence: float, power: float = 0.8) -> float:
        """The smallest difference whose interval would exclude 0 with this power; infinite for one student."""
        return detectable_mean(self.parts, confidence, power)


@dataclass(frozen=True)
class Room:
    """The students of one study with one number of texts: answers by method, (S,N) each, over the same seeds."""

    answers: NDArray[Any]
    outputs: Mapping[str, NDArray[Any]]

    def gain(self, method: str, other: str) -> Gain | None:
        """None if one of them was not run."""
        if not {method, other} <= set(self.outputs):
            return None
        return Gain(np.subtract(*(contributions(self.outputs[name], self.answers) for name in (method, other))))

    @cached_property
    def most_frequent(self) -> float | None:
        """The agreement of whoever always gives the teacher's most frequent answer; None for scores."""
        return most_frequent(self.answers) or None

    def above_most_frequent(self, method: str) -> Gain:
        """Of classes: the agreement of a method's students minus that of always giving the most frequent answer."""
        answers, counts = np.unique(self.answers, return_counts=True)
        constant = np.full_like(self.outputs[method], answers[counts.argmax()])
        return Gain(np.subtract(*(contributions(rows, self.answers) for rows in (self.outputs[method], constant))))

    @cached_property
    def judged(self) -> dict[str, Judged]:
        controls = {name: f"shuffled {name}" for name in self.outputs if f"shuffled {name}" in self.outputs}
        return judge(self.outputs, self.answers, controls, NONE)


@dataclass(frozen=True)
class Evidence:
    """Students by (data, study) and number of texts; plausibility by (data, metric) and method; heads by (data, study).

    heads: (S,L,H) weights of the heads of each fit. oracle: of `heads.json`, by (data, part): values of every head.
    done: finished jobs and all jobs by (data, part of the plan). teachers: quality of each on its validation texts.
    retrained: a sentence for each teacher that was trained more than once.
    """

    rooms: Mapping[tuple[str, str], Mapping[int, Room]] = field(default_factory=dict)
    plausible: Mapping[tuple[str, str], Mapping[str, Values]] = field(default_factory=dict)
    heads: Mapping[tuple[str, str], NDArray[np.float64]] = field(default_factory=dict)
    oracle: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    done: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    teachers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    retrained: Sequence[str] = ()

    def room(self, data: str, study: str, size: int) -> Room | None:
        return self.rooms.get((data, study), {}).get(size)

    def sizes(self, data: str, study: str = "students") -> list[int]:
        return sorted(self.rooms.get((data, study), {}))

    def gain(self, data: str, size: int, method: str, other: str, study: str = "students") -> Gain | None:
        """None if one of them was not run."""
        room = self.room(data, study, size)
        return None if room is None else room.gain(method, other)

    def between(self, data: str, size: int, method: str, study: str, other: str) -> Gain | None:
        """The same method in two studies on the same texts."""
        rooms = [self.room(data, name, size) for name in (study, other)]
        found = [contributions(room.outputs[method], room.answers) for room in rooms if room and method in room.outputs]
        if len(found) < 2:
            return None
        seeds = min(map(len, found))
        return Gain(found[0][:seeds] - found[1][:seeds])

    def agreement(self, data: str, metric: str, method: str) -> Values | None:
        return self.plausible.get((data, metric), {}).get(method)

    def more_plausible(self, data: str, metric: str, method: str, other: str) -> Quantity | None:
        """How much better a method agrees with people than another, on the same texts."""
        first, second = self.agreement(data, metric, method), self.agreement(data, metric, other)
        shared = [] if first is None or second is None else [e for e in first if e in second]
        if first is None or second is None or len(shared) < 2:
            return None
        return Quantity(np.array([first[e] - second[e] for e in shared]))


def evidence(placed: Iterable[tuple[Place, Record | None]], oracle: Mapping[str, Any] | None = None) -> Evidence:
    """Join the records; None: a job that is not finished."""
    everything = list(placed)
    asked: dict[tuple[str, str], Any] = {}
    said: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    heads: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(dict))
    plausible: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(dict))
    teachers: dict[str, Mapping[str, float]] = {}
    for place, record in everything:
        cell = (place.data, place.study)
        if place.step == "student":
            method = short_name(place.method)
            said[cell][place.size][method][place.seed] = record and record.rows["outputs"]
            if method == OWN:
                heads[cell][place.size][place.seed] = record and record.rows["heads"]
        if record is None:
            continue
        if place.step == "ask":
            asked[cell] = np.asarray(record.rows["answers"]["test"])
        elif place.step == "evaluate":
            _plausible(plausible, place.data, record.rows)
        elif place.step == "teacher":
            teachers[place.data] = record.rows["validation"]
    _share_none(said)
    rooms = {cell: _rooms(by_size, asked[cell]) for cell, by_size in said.items() if cell in asked}
    fits = {cell: [by for by in sizes.values() if None not in by.values()] for cell, sizes in heads.items()}
    grids = {cell: np.array([by[seed] for by in whole for seed in sorted(by)]) for cell, whole in fits.items() if whole}
    known = _oracle(plausible, oracle or {})
    again = retrained(_of_teachers(everything))
    return Evidence(rooms, known, grids, oracle or {}, _seconds(everything), _done(everything), teachers, again)


def _of_teachers(placed: Sequence[tuple[Place, Record | None]]) -> Iterator[tuple[str, str, Record]]:
    """Every record that a trained teacher took part in, with the names of the teacher and of its first part."""
    done = {place.key: (place, record) for place, record in reversed(placed) if record is not None}  # the first place
    names = {key: f"The teacher of {place.data}" for key, (place, _) in done.items() if place.step == "teacher"}
    for place, record in reversed(done.values()):
        if name := names.get(record.spec.get("model", "")):
            yield name, f"{place.data} {place.part or place.step}", record


def _share_none(said: Mapping[tuple[str, str], Any]) -> None:
    """Students without explanations have nothing to normalise: those of `students` serve every normaliser."""
    for (data, study), sizes in said.items():
        for size, methods in sizes.items() if study in NORMALISERS else ():
            if known := said.get((data, "students"), {}).get(size, {}).get(NONE):
                methods[NONE] = known


def _rooms(by_size: Mapping[int, Any], answers: NDArray[Any]) -> dict[int, Room]:
    """The students of each number of texts; a method appears when all its students are finished."""
    rooms = {}
    for size, methods in by_size.items():
        whole = {m: by for m, by in methods.items() if None not in by.values()}
        if NONE in whole:
            seeds = sorted(whole[NONE])
            outputs = {
                m: np.array([by[s] for s in seeds], answers.dtype) for m, by in whole.items() if set(seeds) <= set(by)
            }
            rooms[size] = Room(answers, outputs)
    return rooms


def _done(placed: Iterable[tuple[Place, Record | None]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Finished jobs, and all jobs, by (data, part of the plan); a job of several parts counts for the first."""
    jobs: dict[tuple[str, str], list[bool]] = defaultdict(list)
    seen = set()
    for place, record in placed:
        if place.key not in seen:
            seen.add(place.key)
            jobs[place.data, place.part or place.study].append(record is not None)
    return {part: (sum(done), len(done)) for part, done in jobs.items()}


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


def _seconds(placed: Iterable[tuple[Place, Record | None]]) -> dict[str, float]:
    """By data; a job that serves several parts counts once, for the first."""
    spent: dict[str, float] = defaultdict(float)
    seen = set()
    for place, record in placed:
        if record is not None and place.key not in seen:
            seen.add(place.key)
            spent[place.data] += float(record.provenance.get("took") or 0.0)
    return dict(spent)
