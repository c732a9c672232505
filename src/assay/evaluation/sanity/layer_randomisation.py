"""Layer randomisation (Adebayo et al. 2018): explanations must change when the model is re-initialised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from assay.core.errors import SpecError, nearest
from assay.core.progress import Progress
from assay.core.ranges import COUNT, check_range
from assay.core.spec import Spec
from assay.core.types import Attribution, Example, Scale, SpecialTokens
from assay.statistics.bootstrap import intervals
from assay.statistics.ranks import rank_correlation

Mode = Literal["cascading", "independent"]
Row: TypeAlias = dict[str, Any]
Steps: TypeAlias = dict[
    tuple[int, ...], list[tuple[str, int]]
]  # re-initialised blocks -> the (mode, block) they stand for


@dataclass(frozen=True)
class LayerRandomisation:
    """rho = Spearman's correlation of a method's scores before and after blocks are re-initialised, per input.

    cascading: the last transformer block, then also the one before it, ... down to the first. independent: one block at
    a time. Blocks are re-initialised as the architecture does it, by (model, block, seed); embeddings and head stay,
    and the explained class stays the one that the original model predicts. A method that depends on the model must lose
    its correlation; one that keeps it explains the input or the architecture. `shared_parameters=False` keeps
    parameters that the first block shares with all others (T5's position bias).
    Weakness: the correlation of a merely noisy method falls too, so falling is necessary, not sufficient.
    """

    methods: tuple[str | Spec, ...] = (
        "gradient",
        "gradient_x_input",
        "integrated_gradients",
        "average_attention",
        "attention_rollout(residual=False)",
    )
    """Explanation methods to check; `assay list methods` shows all."""
    modes: tuple[Mode, ...] = ("cascading", "independent")
    """cascading re-initialises from the last block down to the first, independent one block at a time."""
    seeds: tuple[int, ...] = (0,)  # of the blocks; `seed` is that of the methods
    """Number of random initialisations of each block, or a list of their seeds. Default: 1."""
    shared_parameters: bool = True
    """Also re-initialise parameters that the first block shares with all others (T5's position bias)."""
    scale: Scale | None = None
    """Explain the probability, logit, ... of the class. Default: each method's own scale."""
    units: str = "token"
    """What is scored: token, word, sentence or patch."""
    special_tokens: SpecialTokens = field(default="protected", metadata={"unsaid": "protected"})
    """Whether [CLS], [SEP], </s>, ... are protected (never scored or removed) or ranked, as units of their own."""
    removal: str | None = None
    """How methods remove units: mask_token, delete, pad, unk, zero, random_token, mean_colour. Default: the model's."""
    seed: int = 0
    """Seed of the sample of examples and of random methods."""
    batch_tokens: int | None = None
    """Token positions per forward pass; affects speed and memory, not results."""
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        from assay.explainers.methods import pinned  # torch: not for the options of the command

        check_range("batch_tokens", self.batch_tokens, COUNT)
        if not self.methods or not self.modes or not self.seeds:
            raise SpecError("randomise needs at least one method, one mode and one seed")
        for mode in self.modes:
            if mode not in get_args(Mode):
                raise SpecError(f"unknown mode {mode!r} of randomise; {nearest(mode, get_args(Mode))}")
        object.__setattr__(self, "methods", tuple(map(pinned, self.methods)))

    def run(self, model: Any, examples: Sequence[Example], bar: Progress | None = None) -> list[Row]:
        """Return one row per example, method, mode, block and seed; the model is restored bit for bit."""
        from assay.evaluation.sanity._randomisation_run import RandomisationRun  # torch: not for the command's options

        return RandomisationRun(self).run(model, examples, bar)

    def steps(self, n_blocks: int) -> Steps:
        """The blocks to re-initialise together; the first cascading step is also an independent one and runs once."""
        out: Steps = {}
        for mode in self.modes:
            for block in reversed(range(n_blocks)):
                together = tuple(range(block, n_blocks)) if mode == "cascading" else (block,)
                out.setdefault(together, []).append((mode, block))
        return out


def correlation(old: Attribution, new: Attribution) -> float | None:
    """Spearman's correlation over the seen units; None if the old scores are constant, 0 if the new ones are."""
    seen = [unit.seen for unit in old.units]
    a, b = old.scores[seen], new.scores[seen]
    if np.ptp(a) == 0:
        return None
    return 0.0 if np.ptp(b) == 0 else rank_correlation(a, b)


def summary(rows: Sequence[Row]) -> list[Row]:
    """Per method, mode and block the mean over examples (each first averaged over seeds) with its 95 % interval."""
    groups: dict[tuple[str, str, int], dict[str, list[float]]] = {}
    for row in rows:
        values = groups.setdefault((row["method"], row["mode"], row["block"]), {})
        if row["spearman"] is not None:
            values.setdefault(row["example"], []).append(row["spearman"])
    return [_summary_row(key, by_example) for key, by_example in groups.items() if by_example]


def _summary_row(key: tuple[str, str, int], by_example: Mapping[str, list[float]]) -> Row:
    interval = intervals([[float(np.mean(values)) for values in by_example.values()]])[0]
    names = dict(zip(("method", "mode", "block"), key, strict=True))
    return {**names, "spearman": interval.value, "low": interval.low, "high": interval.high, "n": interval.n}
