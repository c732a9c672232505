"""What the store of the plans holds: the curves and areas of every part, as the paper calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from files import HERE, planned
from weighed import IG, LSTM, TRANSFORMER, Evidence, Place

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.verdict import Faithfulness
from assay.experiments.store import Store
from assay.studies.roar.curves import Curves, curves

NAMES = {
    "input_x_gradient": "input x gradient",
    "integrated_gradients": IG,
    "weighted_integrated_gradients": "weighted IG",
}
FIFTHS = [0, 20, 40, 60, 80, 100]


@dataclass(frozen=True)
class Task:
    """A part of a plan, as the paper calls it."""

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


def gather(store: Store, tasks: Sequence[Task] = TASKS, folder: Path = HERE) -> Evidence:
    """Curves of every study that has finished those of a measure, and their areas."""
    plans = {name: curves(planned(folder / name, store), store) for name in dict.fromkeys(t.plan for t in tasks)}
    found: dict[tuple[Place, str], Curves] = {}
    for task in tasks:
        for part in plans[task.plan]:
            if (part.grid, part.data) == (task.grid, task.data) and part.methods:
                found[task.place, part.study] = renamed(part)
    scores = {task.place: task.score for task in tasks}
    areas = {key: part.judged(scores[key[0]]) for key, part in found.items()}
    for (place, study), mine in areas.items():
        if study == "predicted":  # its first mask is that of the gold label, wherever the model is right
            gold = areas.get((place, "recursive"), {})
            areas[place, study] = {m: doubted(f, gold.get(m, f)) for m, f in mine.items()}
    recursive = {place: part for (place, study), part in found.items() if study == "recursive"}
    fifths = {
        place: {m: doubted(f, areas[place, "recursive"][m]) for m, f in at(part, FIFTHS).judged(scores[place]).items()}
        for place, part in recursive.items()
    }
    return Evidence(found, areas, fifths)


def doubted(f: Faithfulness, whole: Faithfulness) -> Faithfulness:
    """An area with the leak of another curve too, which fewer points may step over, and a first mask may hold."""
    return replace(f, leak=f.leak or whole.leak, low=f.low or whole.low)


def at(part: Curves, wanted: Sequence[float]) -> Curves:
    """The curves at some of their points, so that areas of different steps can be compared."""
    kept = [i for i, x in enumerate(part.axis) if x in wanted]
    cut = {method: answers[:, kept] for method, answers in part.predicted.items()}
    return replace(part, ratios=[part.ratios[i] for i in kept], predicted=cut)


def renamed(part: Curves) -> Curves:
    """With the paper's names of the measures."""
    names = {m: NAMES.get(bare := m.partition("(")[0], bare) for m in [*part.predicted, *part.masses, *part.seconds]}

    def by_name(values: Mapping[str, object]) -> dict[str, object]:
        return {names[m]: v for m, v in values.items() if m in names}

    fields = ("seeds", "predicted", "masses", "seconds", "outside")
    blind = frozenset(names.get(method, method) for method in part.blind)
    return replace(part, blind=blind, **{name: by_name(getattr(part, name)) for name in fields})
