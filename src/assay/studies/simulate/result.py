"""The result of simulability: what every student said, verdicts on the methods, and sentences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.printable import printable
from assay.core.render import write_page
from assay.datasets.text_notes import REPEATED
from assay.evaluation.simulability.scores import learnt, most_frequent, silent
from assay.evaluation.simulability.verdict import (
    HURTS,
    MARGIN,
    NO_EFFECT,
    REGULARISES,
    TEACHES,
    UNDECIDED,
    Gain,
    Judged,
    fewest,
    judge,
)
from assay.experiments.status import Status
from assay.experiments.store import Store
from assay.experiments.study import StudyCell
from assay.reports.method_style import MethodStyle, method_styles, short_names
from assay.statistics.sentences import listed
from assay.studies.simulate.remarks import remarks, remarks_on_answers, remarks_on_shares
from assay.studies.simulate.scaffold import ScaffoldTask
from assay.studies.simulate.study import NONE, SHUFFLED, UNIFORM, Simulate
from assay.studies.simulate.tasks import StudentTask, outputs_of


@dataclass(frozen=True)
class Students:
    """All students of one teacher on one data set, as far as they are finished."""

    title: str
    teacher: str
    data: str
    task: str
    answers: NDArray[Any]  # (N,) of the teacher on the test texts
    controls: Mapping[str, str]
    outputs: Mapping[int, Mapping[str, NDArray[Any]]]  # by size and method: (S,N)
    seeds: Mapping[int, Sequence[int]]  # by size: those that all methods have
    betas: Mapping[str, float]  # the weight of each method's explanations
    entropies: Mapping[str, float]
    study: Simulate
    inputs: str = "texts"  # or images
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()  # reasons to read the verdicts with care

    @cached_property
    def judged(self) -> dict[int, dict[str, Judged]]:
        """By size and method."""
        return {
            size: judge(outputs, self.answers, self.controls, NONE)
            for size, outputs in self.outputs.items()
            if NONE in outputs
        }

    @property
    def score(self) -> str:
        return "Pearson's r" if self.task == "regression" else "agreement"

    @property
    def methods(self) -> list[str]:
        """All that students were taught by, controls last."""
        found = list(dict.fromkeys(m for outputs in self.outputs.values() for m in outputs))
        return sorted(found, key=lambda m: (m == NONE, m == UNIFORM, m.startswith(SHUFFLED)))

    def sentences(self) -> list[str]:
        """One per number of texts."""
        return [_sentence(self, size, judged) for size, judged in self.judged.items()]


@dataclass(frozen=True, repr=False)
class Simulated:
    """The students of a run, with verdicts."""

    students: Sequence[Students]
    status: Status | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return printable("\n".join(["<Simulated>", *self.verdict]))

    @property
    def verdict(self) -> list[str]:
        """Sentences on every teacher and number of texts."""
        return [sentence for group in self.students for sentence in group.sentences()]

    @property
    def styles(self) -> dict[str, MethodStyle]:
        return method_styles(list(dict.fromkeys(m for group in self.students for m in group.methods)), NONE)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write a self-contained page."""
        from assay.studies.simulate.page import page

        write_page(page(self, command), path)

    def to_dict(self) -> list[dict[str, Any]]:
        """Scores of all students, intervals, tests and verdicts as plain JSON."""
        return [
            {
                "teacher": group.teacher,
                "data": group.data,
                "score": group.score,
                "test_texts": len(group.answers),
                "betas": dict(group.betas),
                "entropies": dict(group.entropies),
                "sizes": {str(s): {m: j.to_dict() for m, j in by.items()} for s, by in group.judged.items()},
                "seeds": {str(s): list(seeds) for s, seeds in group.seeds.items()},
                "verdict": group.sentences(),
                "remarks": list(group.remarks),
            }
            for group in self.students
        ]


def simulated(cells: Sequence[StudyCell], store: Store, status: Status | None = None) -> Simulated:
    """Join the records of all finished students."""
    groups = [found for cell in cells if (found := _group(cell, store)) is not None]
    return Simulated(groups, status)


def _group(cell: StudyCell, store: Store) -> Students | None:
    asked = store.get(cell.jobs[0].key)
    if asked is None or not isinstance(cell.study, Simulate):
        return None
    task = asked.rows["task"]
    rows: dict[int, dict[str, dict[int, NDArray[Any]]]] = defaultdict(lambda: defaultdict(dict))
    betas, entropies = {}, defaultdict(list)
    for job in cell.jobs:
        record = store.get(job.key)
        if not isinstance(job.task, StudentTask | ScaffoldTask) or job.tags["step"] != "student" or record is None:
            continue
        name = str(job.tags["method"])
        rows[job.task.size][name][job.task.seed] = outputs_of(record.rows, task)
        betas[name] = record.rows["beta"]
        if record.rows["entropy"] is not None:
            entropies[name].append(record.rows["entropy"])
    rows = dict(sorted(rows.items()))  # by size, however the sizes were given
    seeds = {size: sorted(set.intersection(*(set(by) for by in methods.values()))) for size, methods in rows.items()}
    outputs = {
        size: {name: np.stack([by[seed] for seed in seeds[size]]) for name, by in methods.items()}
        for size, methods in rows.items()
        if seeds[size]
    }
    data = cell.data.load()
    told = {name: float(np.mean(values)) for name, values in entropies.items()}
    return Students(
        cell.title,
        str(cell.tags["model"]),
        str(cell.tags["data"]),
        task,
        np.asarray(asked.rows["answers"]["test"]),
        cell.study.controls,
        outputs,
        seeds,
        betas,
        told,
        cell.study,
        data.inputs,
        tuple(note for note in data.notes if not note.endswith(REPEATED)),  # they are kept once
        (
            *remarks(cell, cell.study, list(outputs)),
            *(remarks_on_answers(asked.rows["answers"]["students"]) if task == "regression" else ()),
            *remarks_on_shares(told),
        ),
    )


# --- sentences -----------------------------------------------------------------------------------------------------


def points(value: float) -> str:
    return f"{100 * value:+.1f}"


def gain_words(gain: Gain) -> str:
    return f"{points(gain.interval.value)} [{points(gain.interval.low)}, {points(gain.interval.high)}]"


def _sentence(group: Students, size: int, judged: Mapping[str, Judged]) -> str:
    """What was found with one number of texts; intervals are in the tables."""
    names = short_names(list(judged))
    students = len(judged[NONE].students)
    head = f"With {size:,} {group.inputs} ({students} student{'s' * (students != 1)} per method)"
    clauses = [
        _clause(verdict, found, judged, names)
        for verdict in (TEACHES, REGULARISES, HURTS, NO_EFFECT, UNDECIDED)
        if (found := [m for m, j in judged.items() if j.verdict == verdict])
    ]
    methods = sum(j.verdict is not None for j in judged.values())
    about = f" on {methods} methods" if methods > 1 else ""
    if methods and students < (needed := fewest(methods)):
        clauses.append(f"fewer than {needed} students can give no verdict{about}")
    if nothing := _nothing_learnt(group, size, enough=students >= fewest(methods)):
        clauses.append(f"{nothing}: give more {group.inputs} (sizes) or train longer (recipe)")
    return f"{head}, {'; '.join(clauses) or 'there is no method to judge'} ({_reference(judged[NONE], group)})."


def _nothing_learnt(group: Students, size: int, *, enough: bool) -> str:
    """Why the scores of students say nothing about what they were taught; empty if they may. Few can only be silent."""
    outputs = group.outputs[size].values()
    if silent(outputs):
        one = f"each student gives the same answer to all test {group.inputs}, so nothing was learnt and"
    elif not enough or learnt(outputs, group.answers):
        return ""
    elif group.task == "regression":
        one = "no students clearly follow the teacher's scores, so"
    else:
        one = "no students are clearly better than always giving the most frequent answer, so"
    return f"{one} explanations cannot be judged"


def _reference(none: Judged, group: Students) -> str:
    """What the score is without explanations, and without learning anything."""
    found = f"without explanations: {group.score} {_shown(none.mean.value, group)}"
    if group.task == "regression":
        return found
    return f"{found}; always the most frequent answer: {_shown(most_frequent(group.answers), group)}"


def _clause(verdict: str, found: Sequence[str], judged: Mapping[str, Judged], names: Mapping[str, str]) -> str:
    """The methods of one verdict, the largest gain over none first."""
    none = {m: gain for m in found if (gain := judged[m].gains.get(NONE)) is not None}
    order = sorted(found, key=lambda m: -none[m].interval.value if m in none else 0.0)
    one, own = ("s", "its own") if len(found) == 1 else ("", "their own")
    shown = listed([f"{names[m]} ({points(none[m].interval.value)})" if m in none else names[m] for m in order])
    if verdict == TEACHES:
        return f"{shown} teach{'es' * (len(found) == 1)} more than {own} scores shuffled over the tokens"
    if verdict == REGULARISES:
        return f"{shown} help{one}, but not clearly more than {own} scores shuffled over the tokens"
    if verdict == HURTS:
        return f"{shown} hurt{one}"
    if verdict == UNDECIDED:
        return f"undecided: {shown}"
    power = [gain.power for gain in none.values() if math.isfinite(gain.power)]
    found_often = f"; a gain of {100 * max(*power, MARGIN):.1f} points would have been found four times in five"
    return f"no effect found: {shown}{found_often if power else ''}"


def _shown(value: float, group: Students) -> str:
    return f"{value:.3f}" if group.task == "regression" else f"{100 * value:.1f} %"
