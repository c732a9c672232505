"""One slice of an evaluation: all methods and metrics on a few examples of one model, as plain rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch

from assay.core.attributions import Attributions
from assay.core.memory import trim_heap
from assay.core.progress import Progress
from assay.core.types import Attribution, Example, Scale, Target
from assay.evaluation.agreement.spearman import Spearman
from assay.evaluation.gold import order, seen
from assay.evaluation.metrics import is_faithfulness
from assay.explainers.round import Round
from assay.explainers.session import Session
from assay.faithfulness.protocol import rules
from assay.masking.game import Game
from assay.masking.removal import REMOVALS, removal_for
from assay.models.model import Model
from assay.models.target import Targets

POINTS = 21  # of a curve whose number of masks depends on the length of the text


def evaluate_slice(
    session: Session,
    chunk: Sequence[tuple[int, Example]],
    targets: Sequence[Any],
    metrics: Mapping[str, Any],
    bar: Progress,
) -> dict[str, Any]:
    """Values per metric, method and example, curves, agreement of methods, costs and the model's own outputs."""
    on = session.open(chunk, targets)
    found = session.explain(on, bar)
    trim_heap()
    asked = {name: made for name, made in metrics.items() if is_faithfulness(made)}
    values, curves = faithfulness(session, on, found, asked)
    for name, made in metrics.items():
        if name not in asked:
            values[name] = {
                method: [made.measure(a, example) for a, (_, example) in zip(part, chunk, strict=True)]
                for method, part in found.items()
            }
    return {
        "examples": [example.id for _, example in chunk],
        "values": values,
        "weights": weights(metrics, found, chunk),
        "curves": curves,
        "agreement": agreement(found),
        "passes": {m: [[a.cost.forwards, a.cost.backwards] for a in part] for m, part in found.items()},
        "seconds": {m: [a.cost.seconds for a in part] for m, part in found.items()},
        "outputs": on.game.full().tolist(),
        "attributions": {m: [a.to_dict() for a in part] for m, part in found.items()},
        "unseen": [sum(not u.seen for u in e.units) for e in on.encodings],
    }


def faithfulness(
    session: Session, on: Round, found: Mapping[str, Attributions], metrics: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """All masks of all metrics and methods in one stream per removal; equal masks run once."""
    games = {on.game.removal: on.game}
    asked: dict[Any, list[tuple[str, str, int, Any]]] = defaultdict(list)
    for name, made in metrics.items():
        removal = metric_removal(session.model, made)
        games.setdefault(removal, Game(session.model, on.encodings, removal, session.budget))
        for method, part in found.items():
            for i, attribution in enumerate(part):
                asked[removal].append((name, method, i, made.keeps(order(seen(attribution).scores))))
    values: dict[str, Any] = {name: {m: [None] * len(on.indices) for m in found} for name in metrics}
    curves: dict[str, Any] = {name: {m: [None] * len(on.indices) for m in found} for name in metrics}
    fixed = {name: len(made.keeps(np.arange(2))) == len(made.keeps(np.arange(3))) for name, made in metrics.items()}
    full = on.game.full()
    for removal, wanted in asked.items():
        outputs = games[removal].outputs([(i, keep) for _, _, i, keep in wanted])
        for (name, method, i, _), out in zip(wanted, outputs, strict=True):
            made, target = metrics[name], found[method][i].target
            whole, *masked = valued(session.model, np.vstack([full[i], out]), target, made)
            values[name][method][i] = made.measure(np.array(masked), whole)
            curves[name][method][i] = _even(made.curve(np.array(masked), whole), fixed[name])
    return values, curves


def weights(
    metrics: Mapping[str, Any], found: Mapping[str, Attributions], chunk: Sequence[tuple[int, Example]]
) -> dict[str, list[float | None]]:
    """What each example counts in the mean of a metric that pools; the same for all methods."""
    part = next(iter(found.values()))
    return {
        name: [made.weight(a, example) for a, (_, example) in zip(part, chunk, strict=True)]
        for name, made in metrics.items()
        if hasattr(made, "weight")
    }


def metric_removal(model: Model, metric: Any) -> Any:
    """What the metric or its protocol says, or the model's own where the model cannot have that."""
    name = metric.removal or rules(metric.protocol).removal
    removal = REMOVALS.make(name)
    return removal if removal.available(model) is None else removal_for(model, None)


def valued(model: Model, outputs: Any, target: Target, metric: Any) -> list[float]:
    """Class outputs (M,C) as values of the explained class on the metric's scale; regression is always raw."""
    scale: Scale = "raw" if model.task == "regression" else metric.scale or rules(metric.protocol).scale
    aim = Targets((Target(target.label, target.against, scale),), scale, model.task == "multi_label")
    return [float(v) for v in aim.values(torch.from_numpy(outputs).double())]


def agreement(found: Mapping[str, Attributions]) -> dict[str, list[float]]:
    """Spearman's correlation of every two methods, per example."""
    compare = Spearman().compare
    return {f"{a} ~ {b}": [compare(*pair) for pair in _pairs(found[a], found[b])] for a, b in combinations(found, 2)}


def _pairs(first: Attributions, second: Attributions) -> list[tuple[Attribution, Attribution]]:
    return [(seen(a), seen(b)) for a, b in zip(first, second, strict=True)]


def _even(curve: Any, fixed: bool) -> list[float]:
    """A curve as it is if every text has as many points, else at POINTS even places."""
    if fixed:
        return [float(v) for v in curve]
    return [float(v) for v in np.interp(np.linspace(0, 1, POINTS), np.linspace(0, 1, len(curve)), curve)]
