"""The top-k attack (Ghorbani et al. 2019): change the explanation, keep the prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias, get_args

import torch
from torch import Tensor

from assay.core.errors import SpecError, UnsupportedError, nearest
from assay.core.progress import Progress
from assay.core.rng import seed_of
from assay.core.spec import LATER, Spec
from assay.core.types import Attribution, Example, Scale, Target
from assay.evaluation.adversarial._ascent import AscentSettings, AttackObjective, AttackProblem, AttackState, ascend
from assay.evaluation.adversarial._top import SHARE, check_share, top_k
from assay.evaluation.adversarial.probability_change import ProbabilityChange
from assay.evaluation.adversarial.rank_change import RankChange
from assay.evaluation.adversarial.top_k_sum_change import TopKSumChange
from assay.explainers.explain import CHUNK, Job, Round, default_budget, named_methods
from assay.explainers.protocols import WhiteBox
from assay.masking.game import out_of_memory
from assay.masking.units import pad_unseen
from assay.models.load import load_model
from assay.statistics.bootstrap import intervals

Row: TypeAlias = dict[str, Any]
SECOND = 8  # times fewer positions per pass: the graph of a second derivative is larger
MEASURES = ("rank_change", "top_k_sum_change", "probability_change", "absolute_probability_change", "succeeded")


@dataclass(frozen=True)
class TopKAttack:
    """max over delta of D = - sum of the attacked scores of the original top k units, ||delta||_inf <= epsilon.

    delta is added to the word embeddings of units (never of special tokens) and follows the gradient of D, a second
    derivative of the model; k = max(1, floor(share x units)). Objectives:
    prediction_kept (Ghorbani et al.; "unconstrained" in the thesis): D, over all delta that keep the predicted class;
    probability_matched ("constrained" in the thesis): alpha D - beta (m(x) - m(x + delta))^2, m = its probability.
    With `relative`, epsilon is in units of the root mean square of the input's own embeddings: entries are about 0.05
    in BERT and 1 to 10 in T5, so an absolute epsilon is not comparable across models.
    `measured` names, for each of `methods`, a method that explains before and after the attack in its place, e.g.
    integrated gradients with more nodes; otherwise an attack may exploit quadrature errors.
    Weakness: the attacked embeddings belong to no text; a failed attack does not show robustness.
    """

    methods: tuple[str | Spec, ...] = (
        "gradient",
        "gradient_x_input",
        "integrated_gradients(steps=8, rule=gauss_legendre)",
    )
    measured: tuple[str | Spec, ...] | None = field(default=None, metadata={LATER: True})
    objectives: tuple[AttackObjective, ...] = ("prediction_kept", "probability_matched")
    epsilon: float = 2.0
    relative: bool = False
    share: float = SHARE
    alpha: float = 1.0
    beta: float = 1.0
    steps: int = 500
    rate: float = 0.1
    halve: int = 200  # number of steps after which the rate is halved
    tolerance: float = 1e-5  # moves below this (largest entry) are small
    patience: int = 20  # number of consecutive small moves that end an attack
    matched: float = 0.05  # largest difference of matched probabilities
    scale: Scale | None = "probability"  # as in the thesis: both terms of the objective are then probabilities
    units: str = "token"
    removal: str | None = None
    shown: int = 8  # number of examples with heat maps and curves
    seed: int = 0
    batch_tokens: int | None = None
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_share(self.share)
        for objective in self.objectives:
            if objective not in get_args(AttackObjective):
                raise SpecError(f"Unknown objective {objective!r}; {nearest(objective, get_args(AttackObjective))}")
        if not self.methods or not self.objectives:
            raise SpecError("top_k_attack needs at least one method and one objective")
        if self.measured is not None and len(self.measured) != len(self.methods):
            given = f"{len(self.methods)} methods and {len(self.measured)} measured"
            raise SpecError(f"top_k_attack: {given} methods; give one measured method for each method, or none")
        positive = {name: getattr(self, name) for name in ("epsilon", "rate", "steps", "halve", "patience")}
        for name, value in positive.items():
            if not value > 0:
                raise SpecError(f"top_k_attack: {name}={value} is not allowed; give a number above 0")

    def run(self, model: Any, examples: Sequence[Example], *, progress: bool | None = None) -> list[Row]:
        """One row per method, objective and example."""
        loaded = load_model(model)
        budget = self.batch_tokens or default_budget(loaded.device) // SECOND
        job = Job.make(loaded, named_methods(self.methods), self.units, self.removal, None, self.seed, budget)
        for name, method in job.methods.items():
            if not isinstance(method, WhiteBox):
                raise UnsupportedError(
                    f"{name} cannot be attacked: it has no gradient; use gradient or integrated_gradients"
                )
        numbered = list(enumerate(examples))
        with Progress("attacking", len(numbered) * len(job.methods) * len(self.objectives), progress) as bar:
            return [
                row for i in range(0, len(numbered), CHUNK) for row in self._chunk(job, numbered[i : i + CHUNK], bar)
            ]

    def _chunk(self, job: Job, chunk: Sequence[tuple[int, Example]], bar: Progress) -> Iterator[Row]:
        scale = None if job.model.task == "regression" else self.scale  # it has one scale
        on = job.open(chunk, [Target(scale=scale)] * len(chunk))
        for name, method in job.methods.items():
            for objective in self.objectives:
                rows: dict[int, Row] = {}
                todo = _batches(on, max(1, job.budget // getattr(method, "rows", 1)))
                while todo:
                    index = todo.pop()
                    try:
                        attacked = self._attack(job, method, objective, on, index)
                    except (RuntimeError, MemoryError) as error:
                        if not out_of_memory(error) or len(index) == 1:
                            raise
                        todo += [index[: len(index) // 2], index[len(index) // 2 :]]
                        continue
                    rows |= {i: {"method": name, **row} for i, row in zip(index, attacked, strict=True)}
                    bar.advance(len(index))
                yield from (rows[i] for i in sorted(rows))

    def _attack(self, job: Job, method: Any, objective: AttackObjective, on: Round, index: list[int]) -> list[Row]:
        """All inputs of a batch at once."""
        encodings = [on.encodings[i] for i in index]
        seeds = tuple(seed_of(job.seed, Spec.of(method), e.example.content) for e in encodings)  # as explain draws
        batch = job.batch(encodings, seeds)
        problem = AttackProblem.of(
            job.model, method, batch, [on.asked[i] for i in index], [e.players for e in encodings]
        )
        scale = problem.scale
        epsilon = self.epsilon * scale if self.relative else torch.full_like(scale, self.epsilon)
        rule = AscentSettings(
            objective, self.alpha, self.beta, self.steps, self.rate, self.halve, self.tolerance, self.patience
        )
        k = [top_k(e.players, self.share) for e in encodings]
        state = ascend(problem, rule, epsilon, k)
        if (measuring := self._measuring_method(job, method)) is not method:
            state.explain_with(replace(problem, method=measuring))
        pairs = [_pair(job, method, on, i, state, b) for b, i in enumerate(index)]
        reach = {"epsilon": epsilon, "epsilon_in_scale": epsilon / scale, "delta": state.best_delta.abs().amax((1, 2))}
        return [
            self._row(state, b, pair, k[b], objective, {name: float(value[b]) for name, value in reach.items()})
            | self._shown(state, b, pair, on.indices[index[b]])
            for b, pair in enumerate(pairs)
        ]

    def _measuring_method(self, job: Job, method: Any) -> Any:
        """The method that explains before and after an attack on `method`."""
        if self.measured is None:
            return method
        place = list(map(Spec.of, job.methods.values())).index(Spec.of(method))
        session = Job.make(job.model, named_methods([self.measured[place]]), self.units, self.removal)
        return next(iter(session.methods.values()))

    def _row(
        self,
        state: AttackState,
        b: int,
        pair: tuple[Attribution, Attribution],
        k: int,
        objective: str,
        reach: dict[str, float],
    ) -> Row:
        moved = RankChange(self.share).compare(*pair)
        drift = ProbabilityChange().compare(*pair)
        unchanged = objective == "prediction_kept" or abs(drift) <= self.matched  # the former by construction
        within = unchanged and reach["delta"] <= reach["epsilon"]
        lost = TopKSumChange(self.share).compare(*pair)
        return {
            "example": pair[0].example_id,
            "objective": objective,
            "k": k,
            "units": sum(unit.seen for unit in pair[0].units),
            "steps": int(state.taken[b]),
            **reach,
            "D_original": float(state.distance[b]),
            "D_attacked": float(state.best_distance[b]),
            "rank_change": moved,
            "top_k_sum_change": lost,
            "probability_change": drift,
            "absolute_probability_change": abs(drift),
            "within_constraint": within,
            "succeeded": within and lost > 0 and moved > 0,
        }

    def _shown(self, state: AttackState, b: int, pair: tuple[Attribution, Attribution], place: int) -> Row:
        if place >= self.shown:
            return {}
        curve = [float(best[b]) for best in state.curve[: int(state.taken[b]) + 1]]
        return {"original": pair[0].to_dict(), "attacked": pair[1].to_dict(), "curve": curve}


def _batches(on: Round, budget: int) -> list[list[int]]:
    """Batches of inputs of similar length within the budget of positions."""
    out: list[list[int]] = []
    for i in sorted(range(len(on.encodings)), key=lambda i: -len(on.encodings[i])):
        if out and (len(out[-1]) + 1) * len(on.encodings[out[-1][0]]) <= budget:
            out[-1].append(i)
        else:
            out.append([i])
    return out


def _pair(job: Job, method: Any, on: Round, i: int, state: AttackState, b: int) -> tuple[Attribution, Attribution]:
    """The explanations before and after the attack."""
    encoding, label = on.encodings[i], int(state.labels[b])
    target = replace(on.asked[i], label=label, scale=on.asked[i].scale or method.facts.scale)

    def attribution(scores: Tensor, probability: Tensor) -> Attribution:
        return Attribution(
            units=encoding.units,
            scores=pad_unseen(scores[b, : encoding.players].numpy(force=True), encoding),
            target=target,
            label=job.model.labels[label],
            method=Spec.of(method),
            example_id=encoding.example.id,
            extra={"probability": float(probability[b])},
        )

    before = attribution(state.original, state.probability)
    return before, attribution(state.best_scores, state.best_probability)


def summary(rows: Sequence[Row]) -> list[Row]:
    """Per method and objective each measure as [mean, low, high]: a 95 % interval over examples."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["objective"]), []).append(row)
    return [_summary_row(*key, group) for key, group in groups.items()]


def _summary_row(method: str, objective: str, rows: Sequence[Row]) -> Row:
    measured = intervals([[float(row[name]) for row in rows] for name in MEASURES])
    numbers = {name: [i.value, i.low, i.high] for name, i in zip(MEASURES, measured, strict=True)}
    return {"method": method, "objective": objective, "n": len(rows), **numbers}
