"""Values per example of every model, method and metric, in the reading that is asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.statistics.quantities import Quantity

Values = NDArray[np.float64]
Row = Mapping[str, Any]
Scale = Literal["probability", "logit"]
Special = Literal["protected", "ranked"]
Step = Literal["sign", "gradient"]

SIZES = ("t5_1", "t5_2", "t5_3", "t5_4")  # smallest first
ARCHITECTURES = ("t5", "roberta", "llama", "bert")
CAUSAL = "llama"  # stands for GPT-2
NAMES = {"t5": "T5", "roberta": "RoBERTa", "llama": "Llama (for GPT-2)", "bert": "BERT"}
TOP = ("integrated_gradients", "lime", "kernel_shap")
GRADIENTS = ("gradient", "gradient_x_input")
ATTENTION = ("average_attention", "attention_rollout")
SINGLE = (*TOP, *GRADIENTS, *ATTENTION)
ATTACKED = (*GRADIENTS, "integrated_gradients")  # also the methods that depend on the scale
SHORT = {  # the order of the colours
    "gradient": "Grad",
    "integrated_gradients": "IG",
    "lime": "LIME",
    "kernel_shap": "SHAP",
    "gradient_x_input": "GxI",
    "average_attention": "AvgAtt",
    "thesis_top3": "Ens3",
    "attention_rollout": "Rollout",
    "thesis_all": "Ens7",
    "random": "random",
}
CLASSES = {"sst": 2, "mnli": 3, "esnli": 3}
LOGIT = {"probability": "logit", "randomisation": "randomisation_logit"}
ATTACKS = {  # our names of the studies of attacks, whatever a plan calls them
    ("probability", "sign"): "attack",
    ("logit", "sign"): "attack_logit",
    ("probability", "gradient"): "attack_gradient",
    ("logit", "gradient"): "attack_gradient_logit",
}
CONTROLS, RANKED = "controls", "ranked"  # studies: the mean of many random rankings; attention with special tokens
ROUNDING = ("bert", "roberta")  # their embeddings go into a LayerNorm first
NOISE = "the signed sum of this gradient is rounding noise: a LayerNorm reads the embeddings"
SUCCESS = 1 / 3  # share of inputs whose top words an attack must change, for its effects to be judged
DESTROYED = 0.1  # the output counts as destroyed if its mean probability is at most this far above chance


@dataclass(frozen=True)
class Cell:
    """Values of the same examples, one row per training: (R,n); or why there are none ("" means not run)."""

    examples: tuple[str, ...] = ()
    values: Values = field(default_factory=lambda: np.empty((0, 0)))
    gap: str | None = None

    @property
    def mean(self) -> float:
        return float(self.values.mean()) if self.gap is None else float("nan")

    @property
    def quantity(self) -> Quantity:
        runs = tuple(float(run) for run in self.values.mean(1)) if len(self.values) > 1 else ()
        return Quantity(self.values.mean(0), runs)

    def minus(self, other: Cell) -> Cell:
        """The difference, paired by example, and by training if both have the same number."""
        if (gap := first_gap([self, other])) is not None:
            return Cell(gap=gap)
        first, second = aligned([self, other])
        if len(first) != len(second):
            first, second = first.mean(0, keepdims=True), second.mean(0, keepdims=True)
        return Cell(shared_examples([self, other]), first - second)

    def times(self, factor: float) -> Cell:
        return replace(self, values=factor * self.values)


def first_gap(cells: Iterable[Cell]) -> str | None:
    """Why some of the cells have no values; what cannot be tested need not be run."""
    gaps = [cell.gap for cell in cells if cell.gap is not None]
    return next((gap for gap in gaps if gap), gaps[0] if gaps else None)


def shared_examples(cells: Sequence[Cell]) -> tuple[str, ...]:
    others = [set(cell.examples) for cell in cells[1:]]
    return tuple(e for e in cells[0].examples if all(e in names for names in others))


def aligned(cells: Sequence[Cell]) -> list[Values]:
    """The values of the examples that all cells share, (R,n) each."""
    common, out = shared_examples(cells), []
    for cell in cells:
        place = {example: i for i, example in enumerate(cell.examples)}
        out.append(cell.values[:, [place[example] for example in common]])
    return out


def mean_cell(cells: Sequence[Cell]) -> Cell:
    """The mean of several cells, example by example."""
    if not cells or (gap := first_gap(cells)) is not None:
        return Cell(gap=gap if cells else "")
    return Cell(shared_examples(cells), np.mean(aligned(cells), 0))


@dataclass(frozen=True)
class Evidence:
    """Tidy rows of each data set ("sst", "mnli", "esnli"), the models, the best ranks and the passes of each method.

    The reading: gradients of which scale, special tokens protected or ranked, and the step of the attacks.
    """

    rows: Mapping[str, Sequence[Row]]
    models: Sequence[Row] = ()
    floors: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)  # (data, grid): by example
    passes: Mapping[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)  # data, grid, method
    planned: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # (data, study, grid): trainings
    scale: Scale = "probability"  # of gradients
    special: Special = "protected"
    step: Step = "sign"
    missing: dict[tuple[str, str, str], int] = field(default_factory=dict)  # trainings read, where fewer than planned

    def reading(self, **changes: Any) -> Evidence:
        """The same evidence in another reading, with an empty `missing`; shares the table."""
        other = replace(self, missing={}, **changes)
        other.__dict__["_table"] = self._table
        return other

    @cached_property
    def _table(self) -> tuple[dict[tuple[Any, ...], dict[str, dict[str, list[float]]]], set[tuple[Any, ...]]]:
        """(data, study, grid, method, measure...) -> training -> example -> values; and the keys that are noise."""
        out: dict[tuple[Any, ...], dict[str, dict[str, list[float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        noise = set[tuple[Any, ...]]()
        for data, rows in self.rows.items():
            for row in rows:
                if "method" not in row or "example" not in row:
                    continue
                place = (data, row["study"], row["grid"], bare(row["method"]))
                if is_noise(row["method"], row["grid"]):
                    noise.add(place)
                for measure, value in _measures(row):
                    if value is not None:
                        out[(*place, *measure)][row["model"]][row["example"]].append(float(value))
        return out, noise

    def cell(self, data: str, study: str, grid: str, method: str, *measure: Any) -> Cell:
        table, noise = self._table
        if (data, study, grid, method) in noise:
            return Cell(gap=NOISE)
        trainings = table.get((data, study, grid, method, *measure))
        if not trainings:
            return Cell(gap=self._not_learnt(data, grid))
        if len(trainings) < self.planned.get((data, study, grid), 0):
            self.missing[data, study, grid] = len(trainings)
        runs = list(trainings.values())
        common = [e for e in runs[0] if all(e in run for run in runs)]
        return Cell(tuple(common), np.array([[np.mean(run[e]) for e in common] for run in runs]))

    def _not_learnt(self, data: str, grid: str) -> str:
        """Models that did not learn their task are not explained."""
        models = [r for r in self.models if r["data"] == data and r["grid"] == grid]
        return f"{grid} did not learn {data}" if models and all(r["skipped"] for r in models) else ""

    def score(self, grid: str, method: str, metric: str, data: str = "sst") -> Cell:
        return self.cell(data, self._evaluation(method), grid, method, metric)

    def _evaluation(self, method: str) -> str:
        """The study with the scores of a method in this reading."""
        if self.special == "ranked" and method in (*ATTENTION, "random"):
            return RANKED
        if method == "random":
            return CONTROLS
        return LOGIT["probability"] if self.scale == "logit" and method in ATTACKED else "probability"

    def floor(self, grid: str, data: str = "sst") -> Cell:
        """The mean rank % of a method that ranks the cue first, 1 / n."""
        shares = self.floors.get((data, grid))
        return Cell(tuple(shares), np.array([list(shares.values())])) if shares else Cell(gap="")

    # --- randomisation -----------------------------------------------------------------------------------------------

    def rho(self, grid: str, method: str, mode: str, data: str = "sst") -> dict[int, Cell]:
        """Spearman correlations by block, from the last to the first; empty if not run."""
        study = LOGIT["randomisation"] if self.scale == "logit" and method in ATTACKED else "randomisation"
        return {block: self.cell(data, study, grid, method, mode, block) for block in self._blocks(data, study, grid)}

    def _blocks(self, data: str, study: str, grid: str) -> list[int]:
        return sorted({k[5] for k in self._table[0] if k[:3] == (data, study, grid) and len(k) == 6}, reverse=True)

    def output(self, grid: str, mode: str, data: str = "sst") -> dict[int, float]:
        """The mean probability of the intact model's class, by re-initialised block."""
        place = (data, "randomisation", grid, "integrated_gradients", mode)
        return {b: self.cell(*place, b, "output").mean for b in self._blocks(data, "randomisation", grid)}

    def destroyed(self, grid: str, mode: str, data: str = "sst") -> list[int]:
        """The blocks whose re-initialisation leaves an output near chance."""
        limit = 1 / CLASSES[data] + DESTROYED
        return [block for block, output in self.output(grid, mode, data).items() if output <= limit]

    # --- attacks -----------------------------------------------------------------------------------------------------

    def attack(self, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Cell:
        """A measure of the attacks on a method, if these changed enough explanations."""
        effect = self.effect(grid, method, objective, data)
        if effect.gap is None and effect.mean < SUCCESS:
            changed, n = int(effect.values.sum()), effect.values.size
            return Cell(gap=f"the attack changed the top words of only {changed} of {n} inputs")
        return self.raw_attack(grid, method, objective, measure, data)

    def effect(self, grid: str, method: str, objective: str, data: str = "sst") -> Cell:
        """1 where an attack changed the order of the top words and lowered their sum, whatever its constraint."""
        return self.raw_attack(grid, method, objective, "effect", data)

    def raw_attack(self, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Cell:
        return self.cell(data, ATTACKS[self.scale, self.step], grid, method, objective, measure)


def bare(spec: str) -> str:
    """The name of a method without parameters; of an ensemble, that of its preset."""
    name, _, parameters = spec.partition("(")
    return parameters.partition(",")[0].rstrip(")") if name == "ensemble" else name


def is_noise(spec: str, grid: str) -> bool:
    """Whether a method sums a gradient that has no component along the sum."""
    return grid in ROUNDING and "reduction=sum" in spec and bare(spec) in ("gradient", "thesis_all")


def _measures(row: Row) -> Iterable[tuple[tuple[Any, ...], float | None]]:
    """The measures of a row with their values."""
    if "mode" in row:
        yield (row["mode"], row["block"]), row["spearman"]
        yield (row["mode"], row["block"], "output"), row["value"]
    elif "objective" in row:
        effect = row["rank_change"] > 0 and row["top_k_sum_change"] > 0
        for measure in ("rank_change", "top_k_sum_change", "absolute_probability_change", "succeeded"):
            yield (row["objective"], measure), row[measure]
        yield (row["objective"], "effect"), float(effect)
    else:
        yield (bare(row["metric"]),), row["value"]
