"""The top-k attack (Ghorbani et al. 2019): change the explanation, keep the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, get_args

from assay.core.errors import SpecError, nearest
from assay.core.progress import Progress
from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, check_ranges
from assay.core.spec import Spec
from assay.core.types import Example, Scale, SpecialTokens
from assay.evaluation.adversarial._top import SHARE, AttackObjective, StepRule, check_share
from assay.evaluation.adversarial.attack_cost import AttackCost
from assay.statistics.bootstrap import intervals
from assay.statistics.proportion import proportion

Row: TypeAlias = dict[str, Any]
MEASURES = (
    "succeeded",
    "rank_change",
    "top_k_sum_change",
    "probability_change",
    "absolute_probability_change",
    "moved",
)
RATE = 0.1
PUBLISHED_HALVE = 200  # of the thesis, as is the rate
RANGES = {
    **dict.fromkeys(("steps", "halve", "patience", "batch_tokens"), COUNT),
    **dict.fromkeys(("epsilon", "rate"), POSITIVE),
    **dict.fromkeys(("alpha", "beta", "tolerance", "matched", "shown"), NOT_NEGATIVE),
}


@dataclass(frozen=True)
class TopKAttack:
    """max over delta of D = - sum of the attacked scores of the original top k units, ||delta||_inf <= epsilon.

    delta is added to the word embeddings of units and follows the gradient of D, a second
    derivative of the model; k = max(1, floor(share x units)). Steps: sign (the released code of Ghorbani et al.), of
    rate x epsilon in every entry; adam; gradient (the thesis: rate 0.1, halved every 200 of 500 steps), which stands
    still where the gradient is small, as on a confident model. The best delta of all steps is kept. Objectives:
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
    step: StepRule = field(default="sign", metadata={"unsaid": "gradient"})
    """Follow the sign of the gradient (Ghorbani et al.), the gradient itself (the thesis), or Adam."""
    steps: int = 100
    """Largest number of steps."""
    rate: float | None = None
    """Step size: a share of epsilon with sign and adam, a factor of the gradient with gradient. Default: 0.1."""
    halve: int | None = None
    """Halve the step size every this many steps. Default: a fifth of the steps; with gradient 200."""
    tolerance: float = 1e-5
    """A step is small if it moves no entry by more than this; with sign and adam, no entry of the best perturbation."""
    patience: int = 20
    """Stop after this many small steps in a row."""
    matched: float = 0.05
    """Largest difference between two probabilities that count as equal."""
    scale: Scale | None = "probability"  # as in the thesis: both terms of the objective are then probabilities
    """Explain the probability, logit, ... of the class."""
    units: str = "token"
    """What is scored: token, word, sentence or patch."""
    special_tokens: SpecialTokens = field(default="protected", metadata={"unsaid": "protected"})
    """Whether [CLS], [SEP], </s>, ... are protected (never scored or removed) or ranked, as units of their own."""
    removal: str | None = None
    """How methods remove units: mask_token, delete, pad, unk, zero, random_token, mean_colour. Default: the model's."""
    shown: int = 8
    """Number of examples whose heat maps the report shows."""
    seed: int = 0
    """Seed of the sample of examples and of random methods."""
    batch_tokens: int | None = None
    """Token positions per forward pass; affects speed and memory, not results."""
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        from assay.explainers.methods import pinned  # torch: not for the options of the command

        check_share(self.share)
        for objective in self.objectives:
            if objective not in get_args(AttackObjective):
                raise SpecError(f"unknown objective {objective!r}; {nearest(objective, get_args(AttackObjective))}")
        if not self.methods or not self.objectives:
            raise SpecError("attack needs at least one method and one objective")
        if self.measured is not None and len(self.measured) != len(self.methods):
            given = f"{len(self.methods)} methods and {len(self.measured)} measured"
            raise SpecError(f"attack: {given} methods; give one measured method for each method, or none")
        if self.step not in get_args(StepRule):
            raise SpecError(f"unknown step {self.step!r}; {nearest(self.step, get_args(StepRule))}")
        check_ranges(self, **RANGES)
        object.__setattr__(self, "methods", tuple(map(pinned, self.methods)))
        if self.rate is None:
            object.__setattr__(self, "rate", RATE)
        if self.halve is None:  # relative steps are as large at the end as at the start, unless they are halved in time
            object.__setattr__(self, "halve", PUBLISHED_HALVE if self.step == "gradient" else max(1, self.steps // 5))

    def run(self, model: Any, examples: Sequence[Example], bar: Progress | None = None) -> list[Row]:
        """One row per method, objective and example."""
        from assay.evaluation.adversarial._attack_run import AttackRun  # torch: not for the options of the command

        return AttackRun(self).run(model, examples, bar)

    def cost(self, model: Any, examples: Sequence[Example]) -> AttackCost:
        """What `run` needs at most, measured on two steps."""
        from assay.evaluation.adversarial._attack_run import AttackRun

        return AttackRun(self).cost(model, examples)


def summary(rows: Sequence[Row]) -> list[Row]:
    """Per method and objective each measure as [mean, low, high]: a 95 % interval over examples.

    `succeeded` is a share of yes and no, with Wilson's interval: the others are bootstrapped.
    """
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
    measured = intervals([[_measure(row, name) for row in rows] for name in MEASURES])
    by_name = dict(zip(MEASURES, measured, strict=True))
    by_name["succeeded"] = proportion(sum(bool(row["succeeded"]) for row in rows), len(rows))
    numbers = {name: [i.value, i.low, i.high] for name, i in by_name.items()}
    return {"method": method, "objective": objective, "n": len(rows), **numbers}
