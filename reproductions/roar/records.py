"""Read the stored records: curves and areas of every plan, named as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.verdict import Faithfulness
from assay.experiments.store import Store
from assay.studies.roar.curves import Curves, curves

from .evidence import IG, LSTM, TRANSFORMER, Evidence, Place
from .plans import HERE, load_plan

NAMES = {
    "input_x_gradient": "input x gradient",
    "integrated_gradients": IG,
    "weighted_integrated_gradients": "weighted IG",
}
FIFTHS = [0, 20, 40, 60, 80, 100]


@dataclass(frozen=True)
class Task:
    """A model and data set of a plan, with their names and score in the paper."""

    plan: str
    grid: str
    data: str  # in the plan
    place: Place
    score: Score


TASKS = (
    Task("sst.yaml", "bilstm", "sst", ("SST", LSTM), "macro_f1"),
    Task("babi.yaml", "babi1", "babi1", ("bAbI-1", LSTM), "accuracy"),
    Task("babi.yaml", "babi2", "babi2", ("bAbI-2", LSTM), "accuracy"),
    Task("snli.yaml", "bilstm", "snli", ("SNLI", LSTM), "micro_f1"),
    Task("imdb.yaml", "bilstm", "imdb", ("IMDB", LSTM), "macro_f1"),
    Task("minilm.yaml", "minilm", "sst", ("SST", TRANSFORMER), "macro_f1"),
    Task("minilm.yaml", "minilm", "snli", ("SNLI", TRANSFORMER), "micro_f1"),
    Task("minilm.yaml", "minilm_babi", "babi1", ("bAbI-1", TRANSFORMER), "accuracy"),
)
SCORES = {task.place: task.score for task in TASKS}


def read_evidence(store: Store, tasks: Sequence[Task] = TASKS, folder: Path = HERE) -> Evidence:
    """Curves and areas of every study that is complete for at least one measure."""
    plans = {
        name: curves(load_plan(folder / name, store).cells, store) for name in dict.fromkeys(t.plan for t in tasks)
    }
    by_study: dict[tuple[Place, str], Curves] = {}
    for task in tasks:
        for part in plans[task.plan]:
            if (part.grid, part.data) == (task.grid, task.data) and part.methods:
                by_study[task.place, part.study] = with_paper_names(part)
    scores = {task.place: task.score for task in tasks}
    areas = {key: part.judged(scores[key[0]]) for key, part in by_study.items()}
    for (place, study), predicted in areas.items():
        if study == "predicted":  # where the model is right, the first mask is the one of the gold label
            gold = areas.get((place, "recursive"), {})
            areas[place, study] = {m: with_leaks_of(gold.get(m, f), f) for m, f in predicted.items()}
    recursive = {place: part for (place, study), part in by_study.items() if study == "recursive"}
    fifths = {
        place: {
            m: with_leaks_of(areas[place, "recursive"][m], f)
            for m, f in at_points(part, FIFTHS).judged(scores[place]).items()
        }
        for place, part in recursive.items()
    }
    return Evidence(by_study, areas, fifths)


def with_leaks_of(other: Faithfulness, area: Faithfulness) -> Faithfulness:
    """The area, flagged also with the leak or low point of another curve.

    A curve with fewer points may step over a leak, and a first mask may share it.
    """
    return replace(area, leak=area.leak or other.leak, low=area.low or other.low)


def at_points(part: Curves, masked: Sequence[float]) -> Curves:
    """The curves at these points only, so that areas with different steps can be compared."""
    indices = [i for i, x in enumerate(part.axis) if x in masked]
    predicted = {method: answers[:, indices] for method, answers in part.predicted.items()}
    return replace(part, ratios=[part.ratios[i] for i in indices], predicted=predicted)


def with_paper_names(part: Curves) -> Curves:
    """The curves with the paper's names of the measures."""
    names = {m: NAMES.get(bare := m.partition("(")[0], bare) for m in [*part.predicted, *part.masses, *part.seconds]}

    def by_name(values: Mapping[str, object]) -> dict[str, object]:
        return {names[m]: v for m, v in values.items() if m in names}

    fields = ("seeds", "predicted", "masses", "seconds", "outside")
    blind = frozenset(names.get(method, method) for method in part.blind)
    return replace(part, blind=blind, **{name: by_name(getattr(part, name)) for name in fields})
