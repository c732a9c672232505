"""Runs the top-k attack: batches of inputs, the methods that measure it, and its rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from assay.core.errors import UnsupportedError
from assay.core.progress import Progress
from assay.core.rng import seed_of
from assay.core.spec import Spec
from assay.core.types import Attribution, Example, Target
from assay.evaluation.adversarial._ascent import AscentSettings, AttackProblem, AttackState, ascend
from assay.evaluation.adversarial._top import AttackObjective, top_k
from assay.evaluation.adversarial.attack_cost import AttackCost
from assay.evaluation.adversarial.probability_change import ProbabilityChange
from assay.evaluation.adversarial.rank_change import RankChange
from assay.evaluation.adversarial.top_k_sum_change import TopKSumChange
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.methods import named_methods
from assay.explainers.protocols import WhiteBox
from assay.explainers.round import Round
from assay.explainers.session import CHUNK, Session
from assay.explainers.white_box import batch_with_units
from assay.masking.units import pad_unseen
from assay.models.batches import run_in_batches
from assay.models.load import load_model

if TYPE_CHECKING:
    from assay.evaluation.adversarial.top_k_attack import Row, TopKAttack

TRIED = 2  # inputs on which the cost is measured
SECOND = 8  # times fewer positions per pass: the graph of a second derivative is larger


@dataclass(frozen=True)
class AttackRun:
    """An attack with its settings."""

    settings: TopKAttack

    def run(self, model: Any, examples: Sequence[Example], bar: Progress | None) -> list[Row]:
        """One row per method, objective and example."""
        loaded = load_model(model)
        budget = self.settings.batch_tokens or loaded.budget // SECOND
        session = Session.create(
            loaded,
            named_methods(self.settings.methods),
            self.settings.units,
            self.settings.removal,
            None,
            self.settings.seed,
            budget,
            self.settings.special_tokens,
        )
        for name, method in session.methods.items():
            if not isinstance(method, WhiteBox) or isinstance(method, LearnedMethod):
                raise UnsupportedError(
                    f"{name} cannot be attacked: it has no gradient; use gradient or integrated_gradients"
                )
        numbered, bar = list(enumerate(examples)), bar or Progress("", None, show=False)
        chunks = [numbered[i : i + CHUNK] for i in range(0, len(numbered), CHUNK)]
        return [row for chunk in chunks for row in self._chunk(session, chunk, bar)]

    def cost(self, model: Any, examples: Sequence[Example]) -> AttackCost:
        """What `run` needs at most, from two steps on the first inputs."""
        loaded, few, settings = load_model(model), list(examples[:TRIED]), self.settings
        trial = replace(settings, steps=2, objectives=settings.objectives[:1], measured=None, shown=0)
        before, start = replace(loaded.passes), time.perf_counter()
        AttackRun(trial).run(loaded, few, None)
        seconds = time.perf_counter() - start
        passes = loaded.passes.forwards - before.forwards + loaded.passes.backwards - before.backwards
        times = settings.steps / 2 * len(settings.objectives) * len(examples) / len(few)
        attacks = len(settings.methods) * len(settings.objectives)
        return AttackCost(len(examples), attacks, settings.steps, round(passes * times), seconds * times)

    def _chunk(self, session: Session, chunk: Sequence[tuple[int, Example]], bar: Progress) -> Iterator[Row]:
        scale = None if session.model.task == "regression" else self.settings.scale  # it has one scale
        on = session.open(chunk, [Target(scale=scale)] * len(chunk))
        for name, method in session.methods.items():
            for objective in self.settings.objectives:
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
        epsilon = (
            self.settings.epsilon * scale if self.settings.relative else torch.full_like(scale, self.settings.epsilon)
        )
        rule = ascent_settings(self.settings, objective)
        k = [top_k(e.players, self.settings.share) for e in encodings]
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
        if self.settings.measured is None:
            return method
        place = list(map(Spec.of, session.methods.values())).index(Spec.of(method))
        measuring = Session.create(
            session.model, named_methods([self.settings.measured[place]]), self.settings.units, self.settings.removal
        )
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
        moved = RankChange(self.settings.share).compare(*pair)
        drift = ProbabilityChange().compare(*pair)
        unchanged = objective == "prediction_kept" or abs(drift) <= self.settings.matched  # the former by construction
        within = unchanged and reach["delta"] <= reach["epsilon"]
        lost = TopKSumChange(self.settings.share).compare(*pair)
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
        if place >= self.settings.shown:
            return {}
        curve = [float(best[b]) for best in state.curve[: int(state.taken[b]) + 1]]
        return {"original": pair[0].to_dict(), "attacked": pair[1].to_dict(), "curve": curve}


def ascent_settings(settings: TopKAttack, objective: AttackObjective) -> AscentSettings:
    assert settings.rate is not None  # both are set when the settings are made
    assert settings.halve is not None
    return AscentSettings(
        objective,
        settings.alpha,
        settings.beta,
        settings.step,
        settings.steps,
        settings.rate,
        settings.halve,
        settings.tolerance,
        settings.patience,
    )


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
