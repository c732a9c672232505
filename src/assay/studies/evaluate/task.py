"""The job of an evaluation: all methods and metrics on a slice of a data set, as plain rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from assay.core.attributions import Attributions
from assay.core.errors import SpecError
from assay.core.memory import trim_heap
from assay.core.progress import Progress
from assay.core.types import Attribution, Example, Scale, Target, Unit
from assay.core.user_code import identity
from assay.evaluation.attribution_metric import descending_order, rationale_units, without_unseen
from assay.evaluation.metrics import is_faithfulness
from assay.experiments.job import JobContext, JobResult, Row
from assay.explainers.protocols import Counting
from assay.explainers.round import Round
from assay.explainers.session import Session
from assay.faithfulness.measuring import metric_removal, target_values
from assay.masking.game import Game
from assay.masking.removal import removal_for
from assay.masking.units import kind_for
from assay.models.model import Model
from assay.studies.evaluate.draws import Draws
from assay.training.gold_labels import GoldLabels, gold_labels

if TYPE_CHECKING:
    from assay.studies.evaluate.study import Evaluate

POINTS = 21  # of a curve whose number of masks depends on the length of the text


@dataclass(frozen=True)
class EvaluateTask:
    """Values of every metric for every method and example, with curves, agreement, costs and the model's outputs."""

    settings: Evaluate
    methods: Mapping[str, Any]
    metrics: Mapping[str, Any]
    agreement: Any

    revision: ClassVar[int] = 3

    def spec(self, model_identity: Mapping[str, Any], model: Model | None) -> dict[str, Any]:
        """Everything that changes a number, except the examples. A model that is yet to be trained is None."""
        s = self.settings
        return {
            "kind": "evaluate",
            "revision": self.revision,
            **model_identity,
            "methods": {name: identity(method) for name, method in self.methods.items()},
            "metrics": {name: identity(metric) for name, metric in self.metrics.items()},
            "agreement": identity(self.agreement),
            "units": s.units if model is None else kind_for(model, s.units),
            "removal": s.removal if model is None else removal_for(model, s.removal).name,
            "scope": s.scope,
            "target": self.explained_classes,
            "scale": s.scale,
            "seed": s.seed,
            **({} if s.special_tokens == "protected" else {"special_tokens": s.special_tokens}),
            **({"draws": s.draws} if s.draws > 1 and any(m.facts.chance for m in self.methods.values()) else {}),
        }

    @property
    def explained_classes(self) -> str:
        """The setting of the target; "predicted" where "auto" comes to the same."""
        auto = self.settings.target == "auto"
        same = auto and not any(metric.facts.rationales for metric in self.metrics.values())
        return "predicted" if same else self.settings.target

    def run(self, context: JobContext) -> JobResult:
        model, examples, s = context.model(), context.examples(), self.settings
        settings = (s.units, s.removal, s.scope, s.seed, s.batch_tokens, s.special_tokens)
        session = Session.create(model, self.methods, *settings)
        gold = gold_labels(context.dataset(), model)
        targets = gold_targets(gold, examples, s.scale, model.task)
        if s.target == "gold":
            _refuse_unknown(gold, targets)
        predicted = [Target(scale=s.scale)] * len(examples)
        main = targets if s.target == "gold" else predicted
        toward_gold = targets if self.explained_classes == "auto" else None
        rows = evaluate_slice(session, examples, main, self.metrics, self.agreement, context.bar, toward_gold, s.draws)
        shown = context.job.spec["shown"]
        rows["attributions"] = {method: _timeless(row[:shown]) for method, row in rows["attributions"].items()}
        return JobResult(rows, {"seconds": rows.pop("seconds")})  # seconds differ from run to run: never compared

    def tidy(self, rows: Any) -> Iterator[Row]:
        return tidy_values(rows)


def tidy_values(rows: Any) -> Iterator[Row]:
    """One row per number of a record."""
    for name, methods in rows["values"].items():
        for method, values in methods.items():
            for example, value in zip(rows["examples"], values, strict=True):
                yield {"method": method, "metric": name, "example": example, "value": value}


def explained_class(metric: Any, target: str) -> str:
    """The class that a metric explains: rationales justify the gold label, so a metric that uses them explains it.

    ERASER compares rationales with the explanation of whatever was predicted; ferret takes the rationale of the class
    that is explained. Explaining the gold class keeps every example and never blames a method for explaining another
    prediction.
    """
    return target if target != "auto" else "gold" if metric.facts.rationales else "predicted"


def gold_targets(
    gold: GoldLabels, examples: Sequence[tuple[int, Example]], scale: Scale | None, task: str
) -> list[Target | None]:
    """The gold class of each example; None where it is unknown. A regression has a single output."""
    if task == "regression":
        return [Target(scale=scale)] * len(examples)
    labels = [gold.values[i] for i, _ in examples]
    return [None if label is None else Target(int(label), scale=scale) for label in labels]


def _refuse_unknown(gold: GoldLabels, targets: Sequence[Target | None]) -> None:
    if None in targets:
        reason = gold.warning or "Some examples have no label; leave them out, or explain the predicted class."
        raise SpecError(f"The gold class of {targets.count(None)} examples is unknown. {reason}")


def evaluate_slice(
    session: Session,
    examples: Sequence[tuple[int, Example]],
    targets: Sequence[Any],
    metrics: Mapping[str, Any],
    agreement_measure: Any,
    bar: Progress,
    gold: Sequence[Target | None] | None = None,
    draws: int = 1,
) -> dict[str, Any]:
    """Values per metric, method and example, curves, agreement of methods, costs and the model's own outputs.

    gold: what metrics that use rationales explain; None: the targets of all other metrics. draws: of methods of pure
    chance; values and curves are means over them, and all else is of the first.
    """
    inputs = session.open(examples, targets)
    examples = [(i, encoding.example) for (i, _), encoding in zip(examples, inputs.encodings, strict=True)]
    attributions = session.explain(inputs, bar)
    trim_heap()
    drawn = Draws.of(session.methods, draws)
    everything = {**attributions, **drawn.explain(session, inputs)}
    masking_metrics = {name: metric for name, metric in metrics.items() if is_faithfulness(metric)}
    values, curves = faithfulness(session, inputs, everything, masking_metrics)
    justified = _justified(session, inputs, everything, metrics, gold)
    by_size: dict[str, Any] = {}
    for name, metric in metrics.items():
        if metric.facts.rationales:
            values[name] = measured(metric, justified, examples)
            by_size[name] = measured(metric, _sizes(session, justified), examples)
        elif name not in masking_metrics:
            values[name] = measured(metric, everything, examples)
    return {
        "examples": [example.id for _, example in examples],
        "values": {name: drawn.mean(by_method) for name, by_method in values.items()},
        **({"by_size": by_size} if by_size else {}),
        **({"counts": counts} if (counts := counted(session.methods, attributions)) else {}),
        "weights": weights(metrics, attributions, examples),
        "curves": {name: drawn.mean(by_method) for name, by_method in curves.items()},
        "agreement": agreement(attributions, agreement_measure),
        "passes": {m: [[a.cost.forwards, a.cost.backwards] for a in row] for m, row in attributions.items()},
        "seconds": {m: [a.cost.seconds for a in row] for m, row in attributions.items()},
        "outputs": inputs.game.full().tolist(),
        "attributions": {m: [a.to_dict() for a in row] for m, row in attributions.items()},
        "unit_counts": [
            unit_counts(encoding.units, example)
            for encoding, (_, example) in zip(inputs.encodings, examples, strict=True)
        ],
    }


def measured(
    metric: Any, attributions: Mapping[str, Sequence[Attribution | None]], examples: Sequence[tuple[int, Example]]
) -> dict[str, list[float | None]]:
    """The values of a metric that reads attributions, by method; None where there is no attribution."""
    return {
        method: [None if a is None else metric.measure(a, e) for a, (_, e) in zip(row, examples, strict=True)]
        for method, row in attributions.items()
    }


def counted(methods: Mapping[str, Any], attributions: Mapping[str, Attributions]) -> dict[str, dict[str, list[Any]]]:
    """What methods counted in each example, by method and name."""
    return {
        name: {count: [a.extra[count] for a in attributions[name]] for count in method.counts}
        for name, method in methods.items()
        if isinstance(method, Counting)
    }


def _justified(
    session: Session,
    inputs: Round,
    attributions: Mapping[str, Sequence[Attribution]],
    metrics: Mapping[str, Any],
    gold: Sequence[Target | None] | None,
) -> dict[str, list[Attribution | None]]:
    """Attributions of the class that a rationale justifies; computed again only where another class was explained."""
    out: dict[str, list[Attribution | None]] = {method: list(row) for method, row in attributions.items()}
    if gold is None or not any(metric.facts.rationales for metric in metrics.values()):
        return out
    explained = next(iter(attributions.values()))
    other = [i for i, t in enumerate(gold) if t and t.label is not None and t.label != explained[i].target.label]
    again: dict[str, dict[int, Attribution]] = {}
    for able, methods in _able(session, inputs, gold, other).items():
        part = inputs.take(able, [target for i in able if (target := gold[i])])
        anew = replace(session, methods=methods).explain(part, Progress("", None, show=False)) if able else {}
        again |= {name: dict(zip(able, anew.get(name, ()), strict=True)) for name in methods}
    for method, row in out.items():
        for i in other if method in again else ():
            row[i] = again[method].get(i)
        row[:] = [None if target is None else a for a, target in zip(row, gold, strict=True)]
    return out


def _able(
    session: Session, inputs: Round, gold: Sequence[Target | None], other: Sequence[int]
) -> dict[tuple[int, ...], dict[str, Any]]:
    """Methods by the inputs whose gold class they can explain: scores made elsewhere may lack it."""
    labels, able = session.model.labels, defaultdict[tuple[int, ...], dict[str, Any]](dict)
    for name, method in session.methods.items():
        if other and method.facts.class_dependent:
            has = getattr(method, "has", lambda *_: True)
            names = {i: labels[int(target.label or 0)] for i in other if (target := gold[i])}
            able[tuple(i for i in other if has(inputs.encodings[i].example, names[i], labels))][name] = method
    return able


def _sizes(
    session: Session, attributions: Mapping[str, Sequence[Attribution | None]]
) -> dict[str, list[Attribution | None]]:
    """The attributions of signed methods without their signs: how they compare with methods that have none."""
    return {
        name: [None if a is None else replace(a, scores=np.abs(a.scores)) for a in row]
        for name, row in attributions.items()
        if name in session.methods and session.methods[name].facts.signed
    }


def unit_counts(units: Sequence[Unit], example: Example) -> list[int]:
    """Units, units past the length limit, and the same two of the units that a rationale marks."""
    hidden, marked = (
        np.array([not unit.seen for unit in units], bool),
        np.asarray(rationale_units(units, example), bool),
    )
    return [len(units), int(hidden.sum()), int(marked.sum()), int((marked & hidden).sum())]


def faithfulness(
    session: Session, inputs: Round, attributions: Mapping[str, Attributions], metrics: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and curves of masking metrics. All masks run in one stream per removal; equal masks run once."""
    games = {inputs.game.removal: inputs.game}
    masks: dict[Any, list[tuple[str, str, int, Any]]] = defaultdict(list)
    for name, metric in metrics.items():
        removal = metric_removal(session.model, metric)
        games.setdefault(removal, Game(session.model, inputs.encodings, removal, session.budget))
        for method, row in attributions.items():
            for i, attribution in enumerate(row):
                masks[removal].append(
                    (name, method, i, metric.keeps(descending_order(without_unseen(attribution).scores)))
                )
    values: dict[str, Any] = {name: {m: [None] * len(inputs.indices) for m in attributions} for name in metrics}
    curves: dict[str, Any] = {name: {m: [None] * len(inputs.indices) for m in attributions} for name in metrics}
    fixed = {
        name: len(metric.keeps(np.arange(2))) == len(metric.keeps(np.arange(3))) for name, metric in metrics.items()
    }
    full = inputs.game.full()
    for removal, requests in masks.items():
        outputs = games[removal].outputs([(i, keep) for _, _, i, keep in requests])
        for (name, method, i, _), output in zip(requests, outputs, strict=True):
            metric, target = metrics[name], attributions[method][i].target
            whole, *masked = target_values(session.model, np.vstack([full[i], output]), target, metric)
            values[name][method][i] = metric.measure(np.array(masked), whole)
            curves[name][method][i] = _resampled(metric.curve(np.array(masked), whole), fixed[name])
    return values, curves


def weights(
    metrics: Mapping[str, Any], attributions: Mapping[str, Attributions], examples: Sequence[tuple[int, Example]]
) -> dict[str, list[float | None]]:
    """The weight of each example in the mean of a pooled metric; the same for all methods."""
    first = next(iter(attributions.values()))
    return {
        name: [metric.weight(a, example) for a, (_, example) in zip(first, examples, strict=True)]
        for name, metric in metrics.items()
        if hasattr(metric, "weight")
    }


def agreement(attributions: Mapping[str, Attributions], measure: Any) -> dict[str, list[float]]:
    """Agreement of every two methods, per example."""
    pairs = {(a, b): _pairs(attributions[a], attributions[b]) for a, b in combinations(attributions, 2)}
    return {f"{a} ~ {b}": [measure.compare(*pair) for pair in scores] for (a, b), scores in pairs.items()}


def _pairs(first: Attributions, second: Attributions) -> list[tuple[Attribution, Attribution]]:
    return [(without_unseen(a), without_unseen(b)) for a, b in zip(first, second, strict=True)]


def _resampled(curve: Any, fixed: bool) -> list[float]:
    """A curve as it is if every text has the same number of points, else at POINTS even places."""
    if fixed:
        return [float(v) for v in curve]
    return [float(v) for v in np.interp(np.linspace(0, 1, POINTS), np.linspace(0, 1, len(curve)), curve)]


def _timeless(attributions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the seconds, which are provenance."""
    return [{**a, "cost": {**a["cost"], "seconds": 0.0}} for a in attributions]
