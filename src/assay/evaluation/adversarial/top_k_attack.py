"""The top-k attack (Ghorbani et al. 2019): change the explanation, keep the prediction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, get_args

import torch
from torch import Tensor

from assay.core.errors import SpecError, UnsupportedError, nearest
from assay.core.progress import Progress
from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, check_ranges
from assay.core.rng import seed_of
from assay.core.spec import Spec
from assay.core.types import Attribution, Example, Scale, Target
from assay.evaluation.adversarial._ascent import AscentSettings, AttackObjective, AttackProblem, AttackState, ascend
from assay.evaluation.adversarial._top import SHARE, check_share, top_k
from assay.evaluation.adversarial.attack_cost import AttackCost
from assay.evaluation.adversarial.probability_change import ProbabilityChange
from assay.evaluation.adversarial.rank_change import RankChange
from assay.evaluation.adversarial.top_k_sum_change import TopKSumChange
from assay.explainers.methods import named_methods
from assay.explainers.protocols import WhiteBox
from assay.explainers.round import Round
from assay.explainers.session import CHUNK, Session, default_budget
from assay.explainers.white_box import batch_with_units
from assay.masking.units import pad_unseen
from assay.models.batches import run_in_batches
from assay.models.load import load_model
from assay.statistics.bootstrap import intervals

Row: TypeAlias = dict[str, Any]
RANGES = {
    **dict.fromkeys(("steps", "halve", "patience", "batch_tokens"), COUNT),
    **dict.fromkeys(("epsilon", "rate"), POSITIVE),
    **dict.fromkeys(("alpha", "beta", "tolerance", "matched", "shown"), NOT_NEGATIVE),
}
TRIED = 2  # inputs on which the cost is measured
SECOND = 8  # times fewer positions per pass: the graph of a second derivative is larger
MEASURES = (
    "rank_change",
    "top_k_sum_change",
    "probability_change",
    "absolute_probability_change",
    "moved",
    "succeeded",
)


@dataclass(frozen=True)
class TopKAttack:
    """max over delta of D = - sum of the attacked scores of the original top k units, ||delta||_inf <= epsilon.

    delta is added to the word embeddings of units (never of special tokens) and follows the gradient of D, a second
    derivative of the model; k = max(1, floor(share x units)). Objectives:
    prediction_kept (Ghorbani et al.; "unconstrained" in the thesis): D, over all delta that keep the predicted class;
    probability_matched ("constrained" in the thesis): alpha D - beta (m(x) - m(x + delta))^2, m = its probability.
    With `relative`, epsilon is in units of the root mean square of the input's own embeddings, so that at 1 a word may
    move by its own size. Entries are about 0.05 in BERT and 1 to 10 in T5: an absolute epsilon means something else for
    every model.
    `measured` names, for each of `methods`, a method that explains before and after the attack in its place, e.g.
    integrated gradients with more nodes; otherwise an attack may exploit quadrature errors.
    Weakness: the attacked embeddings belong to no text; a failed attack does not show robustness.
    """

    methods: tuple[str | Spec, ...] = (
        "gradient",
        "gradient_x_input",
        "integrated_gradients(steps=8, rule=gauss_legendre)",
    )
    """Differentiable explanation methods to attack."""
    measured: tuple[str | Spec, ...] | None = None
    """Methods that explain before and after the attack, one for each attacked method. Default: the attacked method."""
    objectives: tuple[AttackObjective, ...] = ("prediction_kept", "probability_matched")
    """prediction_kept keeps the predicted class, probability_matched also its probability."""
    epsilon: float = 0.5
    """Largest change of any entry of an embedding."""
    relative: bool = True
    """Measure epsilon in root mean squares of the input's embeddings: at 1, a word may move by its own size."""
    share: float = SHARE
    """Share of the units whose scores the attack lowers (the top k)."""
    alpha: float = 1.0
    """Weight of the explanation in probability_matched."""
    beta: float = 1.0
    """Weight of the probability in probability_matched."""
    steps: int = 100
    """Largest number of steps of gradient ascent."""
    rate: float = 0.1
    """Step size of gradient ascent."""
    halve: int = 200
    """Halve the step size every this many steps."""
    tolerance: float = 1e-5
    """A step is small if no entry changes by more than this."""
    patience: int = 20
    """Stop after this many small steps in a row."""
    matched: float = 0.05
    """Largest difference between two probabilities that count as equal."""
    scale: Scale | None = "probability"  # as in the thesis: both terms of the objective are then probabilities
    """Explain the probability, logit, ... of the class."""
    units: str = "token"
    """What is scored: token, word, sentence or patch."""
    removal: str | None = None
    """How methods remove units: mask_token, delete, pad, unk, zero, mean_colour. Default: the model's own."""
    shown: int = 8
    """Number of examples whose heat maps the report shows."""
    seed: int = 0
    """Seed of the sample of examples and of random methods."""
    batch_tokens: int | None = None
    """Token positions per forward pass; affects speed and memory, not results."""
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_share(self.share)
        for objective in self.objectives:
            if objective not in get_args(AttackObjective):
                raise SpecError(f"Unknown objective {objective!r}; {nearest(objective, get_args(AttackObjective))}")
        if not self.methods or not self.objectives:
            raise SpecError("attack needs at least one method and one objective")
        if self.measured is not None and len(self.measured) != len(self.methods):
            given = f"{len(self.methods)} methods and {len(self.measured)} measured"
            raise SpecError(f"attack: {given} methods; give one measured method for each method, or none")
        check_ranges(self, **RANGES)

    def run(self, model: Any, examples: Sequence[Example], bar: Progress | None = None) -> list[Row]:
        """One row per method, objective and example."""
        loaded = load_model(model)
        budget = self.batch_tokens or default_budget(loaded.device) // SECOND
        session = Session.create(loaded, named_methods(self.methods), self.units, self.removal, None, self.seed, budget)
        for name, method in session.methods.items():
            if not isinstance(method, WhiteBox):
                raise UnsupportedError(
                    f"{name} cannot be attacked: it has no gradient; use gradient or integrated_gradients"
                )
        numbered, bar = list(enumerate(examples)), bar or Progress("", None, show=False)
        chunks = [numbered[i : i + CHUNK] for i in range(0, len(numbered), CHUNK)]
        return [row for chunk in chunks for row in self._chunk(session, chunk, bar)]

    def cost(self, model: Any, examples: Sequence[Example]) -> AttackCost:
        """What `run` needs at most, from two steps on the first inputs."""
        loaded, few = load_model(model), list(examples[:TRIED])
        trial = replace(self, steps=2, objectives=self.objectives[:1], measured=None, shown=0)
        before, start = replace(loaded.passes), time.perf_counter()
        trial.run(loaded, few)
        seconds = time.perf_counter() - start
        passes = loaded.passes.forwards - before.forwards + loaded.passes.backwards - before.backwards
        times = self.steps / 2 * len(self.objectives) * len(examples) / len(few)
        attacks = len(self.methods) * len(self.objectives)
        return AttackCost(len(examples), attacks, self.steps, round(passes * times), seconds * times)

    def _chunk(self, session: Session, chunk: Sequence[tuple[int, Example]], bar: Progress) -> Iterator[Row]:
        scale = None if session.model.task == "regression" else self.scale  # it has one scale
        on = session.open(chunk, [Target(scale=scale)] * len(chunk))
        for name, method in session.methods.items():
            for objective in self.objectives:
                rows: dict[int, Row] = {}

                def attack(
                    batch: list[int], _: int, method: Any = method, objective: AttackObjective = objective
                ) -> list[Row]:
                    return self._attack(session, method, objective, on, batch, bar)

                budget = max(1, session.budget // getattr(method, "rows", 1))
                for batch, attacked in run_in_batches([len(e) for e in on.encodings], budget, attack):
                    rows |= {i: {"method": name, **row} for i, row in zip(batch, attacked, strict=True)}
                yield from (rows[i] for i in sorted(rows))

    def _attack(
        self, session: Session, method: Any, objective: AttackObjective, on: Round, index: list[int], bar: Progress
    ) -> list[Row]:
        """All inputs of a batch at once."""
        encodings = [on.encodings[i] for i in index]
        seeds = tuple(seed_of(*on.seed_key(method, e)) for e in encodings)
        batch = batch_with_units(session.model, encodings, seeds, session.budget)
        problem = AttackProblem.of(
            session.model, method, batch, [on.requested[i] for i in index], [e.players for e in encodings]
        )
        scale = problem.scale
        epsilon = self.epsilon * scale if self.relative else torch.full_like(scale, self.epsilon)
        rule = AscentSettings(
            objective, self.alpha, self.beta, self.steps, self.rate, self.halve, self.tolerance, self.patience
        )
        k = [top_k(e.players, self.share) for e in encodings]
        state = ascend(problem, rule, epsilon, k, bar)
        if (measuring := self._measuring_method(session, method)) is not method:
            state.explain_with(replace(problem, method=measuring))
        pairs = [_pair(session, method, on, i, state, b) for b, i in enumerate(index)]
        reach = {
            "epsilon": epsilon,
            "epsilon_in_scale": epsilon / scale,
            "delta": state.best_delta.abs().amax((1, 2)),
            "moved": problem.size(state.best_delta) / scale,
        }
        return [
            self._row(state, b, pair, k[b], objective, {name: float(value[b]) for name, value in reach.items()})
            | self._shown(state, b, pair, on.indices[index[b]])
            for b, pair in enumerate(pairs)
        ]

    def _measuring_method(self, session: Session, method: Any) -> Any:
        """The method that explains before and after an attack on `method`."""
        if self.measured is None:
            return method
        place = list(map(Spec.of, session.methods.values())).index(Spec.of(method))
        measuring = Session.create(session.model, named_methods([self.measured[place]]), self.units, self.removal)
        return next(iter(measuring.methods.values()))

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


def _pair(
    session: Session, method: Any, on: Round, i: int, state: AttackState, b: int
) -> tuple[Attribution, Attribution]:
    """The explanations before and after the attack."""
    encoding, label = on.encodings[i], int(state.labels[b])
    (target,) = session.model.targets([replace(on.requested[i], label=label)], method.facts.scale).resolved

    def attribution(scores: Tensor, probability: Tensor) -> Attribution:
        return Attribution(
            units=encoding.units,
            scores=pad_unseen(scores[b, : encoding.players].numpy(force=True), encoding),
            target=target,
            label=session.model.labels[label],
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


def _measure(row: Row, name: str) -> float:
    """Rows of earlier versions have only the largest entry of the move."""
    if name == "moved" and name not in row:
        return float(row["delta"] / row["epsilon"] * row["epsilon_in_scale"])
    return float(row[name])


def _summary_row(method: str, objective: str, rows: Sequence[Row]) -> Row:
    measured = intervals([[float(_measure(row, name)) for row in rows] for name in MEASURES])
    numbers = {name: [i.value, i.low, i.high] for name, i in zip(MEASURES, measured, strict=True)}
    return {"method": method, "objective": objective, "n": len(rows), **numbers}
