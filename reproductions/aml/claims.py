"""The claims of the paper, each as statements about differences between methods on the same texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assay.statistics.claims import Criterion, Judgement, Statement, judge
from assay.statistics.quantities import Exact

from .evidence import Cell, Evidence

CELLS: tuple[Cell, ...] = (("sst", "minilm"), ("rotten", "minilm"), ("emotion", "minilm"))
ABLATED: Cell = ("emotion", "minilm")
BOTH = ("comprehensiveness", "sufficiency")
RUNNERS_UP = ("decompx", "sequential_integrated_gradients")
OTHERS = (
    "alti",
    "globenc",
    "deep_lift",
    "gradient_shap",
    "gradient_x_input",
    "integrated_gradients",
    "lime(samples=128)",
)
PAML, FAML, NOISE = (
    "faster",
    "faster(steps=10, tune=all, selection=oracle)",
    "faster(steps=10, tune=noise, selection=oracle)",
)
MARGIN = 0.02  # of a probability: a smaller difference does not matter


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, where it is made, and what it says about the evidence."""

    number: int
    title: str
    source: str
    statements: Callable[[Evidence], Iterator[Statement]]

    def judge(self, e: Evidence) -> Judgement:
        return judge(list(self.statements(e)))


def _better(
    e: Evidence, cells: Sequence[Cell], metrics: Sequence[str], method: str, others: Sequence[str]
) -> Iterator[Statement]:
    for cell in cells:
        for metric in metrics:
            for other in others:
                text = f"{cell[0]}, {metric}: {method} is better than {other}"
                yield Statement(text, Criterion.above(0.0), e.gain(cell, metric, method, other))


def refined_first(e: Evidence) -> Iterator[Statement]:
    yield from _better(e, CELLS, BOTH, FAML, (*RUNNERS_UP, *OTHERS))


def refined_over_noise(e: Evidence) -> Iterator[Statement]:
    yield from _better(e, CELLS, ("comprehensiveness",), FAML, (NOISE,))


def fitted_third(e: Evidence) -> Iterator[Statement]:
    yield from _better(e, CELLS, BOTH, PAML, OTHERS)


def crossing(e: Evidence) -> Iterator[Statement]:
    cell = ("sst", "minilm")
    first, second = e.weights(cell, "searched"), e.weights(cell, "searched_sufficiency")
    for weight, sign, words in (
        ("inverse", 1, "larger for comprehensiveness"),
        ("preservation", -1, "larger for sufficiency"),
    ):
        known = first is not None and second is not None
        gap = Exact(sign * (first[weight] - second[weight])) if known and first and second else None
        yield Statement(f"the weight {weight} found by the search is {words}", Criterion.above(0.0), gap)


def every_loss(e: Evidence) -> Iterator[Statement]:
    for name in ("without_preservation", "without_inverse"):
        yield Statement(
            f"comprehensiveness: all losses are better than {name}",
            Criterion.above(0.0),
            e.gain(ABLATED, "comprehensiveness", "full", name),
        )
        gain = e.gain(ABLATED, "sufficiency", "full_sufficiency", f"{name}_sufficiency")
        yield Statement(f"sufficiency: all losses are better than {name}", Criterion.above(0.0), gain)
    gain = e.gain(ABLATED, "comprehensiveness", "without_preservation", "without_inverse")
    yield Statement(
        "comprehensiveness: without preservation is better than without inverse", Criterion.above(0.0), gain
    )
    gain = e.gain(ABLATED, "sufficiency", "without_inverse_sufficiency", "without_preservation_sufficiency")
    yield Statement("sufficiency: without inverse is better than without preservation", Criterion.above(0.0), gain)


def forms(e: Evidence) -> Iterator[Statement]:
    gain = e.gain(ABLATED, "comprehensiveness", "l1", "full")
    yield Statement("L1 is as good as the cross-entropy for sparsity", Criterion.alike(MARGIN), gain)
    for name in ("inverse_probability", "inverse_entropy"):
        gain = e.gain(ABLATED, "comprehensiveness", "full", name)
        yield Statement(f"-log(1 - p) is no worse than {name}", Criterion(low=-MARGIN), gain)


def references(e: Evidence) -> Iterator[Statement]:
    for name in ("pad", "unk", "zero", "random_token", "omitted"):
        gain = e.gain(ABLATED, "comprehensiveness", "full", name)
        yield Statement(f"blending with the mask token is better than {name}", Criterion.above(0.0), gain)


def few_texts(e: Evidence) -> Iterator[Statement]:
    gain = e.gain(("sst", "minilm"), "comprehensiveness", "logistic_small", "logistic")
    yield Statement("1,000 texts are as good as 2,000 (default fit)", Criterion.alike(MARGIN), gain)


def language_models(e: Evidence) -> Iterator[Statement]:
    cell = ("language", "smollm")
    others = ("sequential_integrated_gradients", "deep_lift", "gradient_shap", "gradient_x_input")
    yield from _better(e, (cell,), BOTH, PAML, (*others[1:], "self_ranking"))


def weak_ranking(e: Evidence) -> Iterator[Statement]:
    cell = ("language", "smollm")
    yield from _better(e, (cell,), BOTH, "occlusion", ("self_ranking", "self_ranking(mode=free)"))


def alignment(e: Evidence) -> Iterator[Statement]:
    gain = e.gain(("language", "smollm"), "comprehensiveness", "faster_mean", PAML)
    yield Statement("mean is as good as max in the alignment of tokens", Criterion.alike(MARGIN), gain)


def constant_time(e: Evidence) -> Iterator[Statement]:
    short, long = (e.seconds.get((data, "minilm"), {}).get("faster(steps=10, tune=all)") for data in ("sst", "imdb"))
    ratio = None if short is None or long is None else Exact(long / short)
    yield Statement("fAML takes less than 1.5 times as long on IMDB as on SST", Criterion(high=1.5), ratio)


CLAIMS = (
    Claim(1, "fAML is the best method", "Table 1", refined_first),
    Claim(
        2,
        "what fAML gains comes from its steps and not from choosing the best by the reported metric",
        "ours",
        refined_over_noise,
    ),
    Claim(3, "pAML comes third, after DecompX or SIG", "Table 1", fitted_third),
    Claim(4, "the search prefers L_inv for comprehensiveness and L_p for sufficiency", "section 3.3", crossing),
    Claim(5, "every loss is needed", "Table 4", every_loss),
    Claim(6, "other forms of the losses do not help", "section 3.1", forms),
    Claim(7, "the mask token is the best reference", "footnote 5", references),
    Claim(8, "about 1,000 texts suffice", "section 3.2", few_texts),
    Claim(9, "fAML's time does not depend on the length of the text", "Table 5", constant_time),
    Claim(10, "pAML comes second on language models", "Table 2", language_models),
    Claim(11, "a language model ranks its own words badly", "Table 2", weak_ranking),
    Claim(12, "joining scores of tokens by mean is as good as by max", "footnote 6", alignment),
)
