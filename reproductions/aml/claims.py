"""The claims of the paper, each as statements about differences between methods on the same texts.

fAML is judged twice: by its last step against all methods, and by the paper's choice in hindsight only against searches
and the best of as many noisy maps. Where an explainer was adapted to a metric, that metric judges it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assay.statistics.claims import Criterion, Judgement, Statement, judge

from .evidence import CONTROL, Cell, Evidence

CELLS: tuple[Cell, ...] = (("sst", "minilm"), ("rotten", "minilm"), ("emotion", "minilm"))
SST, ABLATED, LANGUAGE, IMDB, MOVIES = (
    CELLS[0],
    CELLS[2],
    ("language", "smollm"),
    ("imdb", "minilm"),
    ("movies", "minilm"),
)
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
LANGUAGE_RUNNER_UP = "sequential_integrated_gradients"
LANGUAGE_OTHERS = ("deep_lift", "gradient_shap(samples=8)", "gradient_x_input", "self_ranking")
FULL = "logistic_2000"  # the default with its default number of texts, of the language model
CHEAP = 10  # the default explainer is compared with methods that cost at most this many times its passes
MARGIN = 0.02  # of a probability: a smaller difference does not matter
F1_MARGIN = 0.005  # the paper's own gain of pAML over DecompX is .008
WEIGHT_MARGIN = 0.1  # of a weight between 0 and 1
ONE_SEARCH = (
    "one search for each metric, both beginning with the same trials; the order of batches changes a trial as much as "
    "its weights do"
)
UNLEARNT = "neither fit is better than a random order, so that they are alike shows nothing"
Methods = Callable[[str], str]  # the method that stands for a metric


def paml(metric: str) -> str:
    """pAML that was adapted to a metric."""
    return "paml_sufficiency" if metric == "sufficiency" else "paml"


def refined(metric: str) -> str:
    return f"{paml(metric)}(steps=10, tune=all)"


def oracle(metric: str) -> str:
    return f"{paml(metric)}(steps=10, tune=all, selection=oracle)"


def noise(metric: str) -> str:
    return f"{paml(metric)}(steps=10, tune=noise, selection=oracle)"


def mask_oracle(metric: str) -> str:
    return f"mask_optimisation(selection=oracle, metric='{metric}(protocol=aml)')"


def greedy(metric: str) -> str:
    return f"greedy(objective='{metric}(protocol=aml)')"


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
    e: Evidence, cells: Sequence[Cell], method: Methods, others: Sequence[str | Methods], metrics: Sequence[str] = BOTH
) -> Iterator[Statement]:
    for cell in cells:
        for metric in metrics:
            for other in others:
                first, second = method(metric), other if isinstance(other, str) else other(metric)
                text = f"{cell[0]}, {metric}: {first} is better than {second}"
                yield Statement(text, Criterion.above(MARGIN), e.gain(cell, metric, first, second))


def _best(
    e: Evidence, cells: Sequence[Cell], method: Methods, others: Sequence[str], metrics: Sequence[str] = BOTH
) -> Iterator[Statement]:
    """A method is better than the best of the others; that one is chosen with the same texts."""
    for cell in cells:
        for metric in metrics:
            run = all(e.of(cell, metric, m) is not None for m in others)
            rival = e.best(cell, metric, others) if run else None
            text = f"{cell[0]}, {metric}: {method(metric)} is better than the best of the others"
            gain = None if rival is None else e.gain(cell, metric, method(metric), rival)
            yield Statement(text if rival is None else f"{text}, {rival}", Criterion.above(MARGIN), gain)


def refined_first(e: Evidence) -> Iterator[Statement]:
    yield from _best(e, CELLS, refined, (*RUNNERS_UP, *OTHERS))


def fitted_third(e: Evidence) -> Iterator[Statement]:
    yield from _best(e, CELLS, paml, OTHERS)


def refined_over_controls(e: Evidence) -> Iterator[Statement]:
    yield from _better(e, CELLS, oracle, (noise,))
    yield from _better(e, CELLS, refined, ("mask_optimisation",))
    yield from _better(e, CELLS, oracle, (mask_oracle,))


def refined_over_searches(e: Evidence) -> Iterator[Statement]:
    yield from _better(e, (SST,), oracle, (greedy,))


def crossing(e: Evidence) -> Iterator[Statement]:
    for weight, words in (("inverse", "comprehensiveness"), ("preservation", "sufficiency")):
        text = f"the search gives the weight {weight} a larger value for {words} than for the other metric"
        yield Statement(text, Criterion.above(WEIGHT_MARGIN), reason=ONE_SEARCH)
    yield _gain(e, "comprehensiveness", "without_preservation", "without_inverse")
    yield _gain(e, "sufficiency", "without_inverse_sufficiency", "without_preservation_sufficiency")


def _gain(e: Evidence, metric: str, first: str, second: str) -> Statement:
    """One explainer of the ablation is better than another."""
    text = f"{metric}: {first} is better than {second}"
    return Statement(text, Criterion.above(MARGIN), e.gain(ABLATED, metric, first, second))


def every_loss(e: Evidence) -> Iterator[Statement]:
    for name in ("without_preservation", "without_inverse"):
        yield _gain(e, "comprehensiveness", "full", name)
        yield _gain(e, "sufficiency", "full_sufficiency", f"{name}_sufficiency")


def forms(e: Evidence) -> Iterator[Statement]:
    yield _same(
        e, ABLATED, "L1 is as good as the cross-entropy for sparse masks", Criterion.alike(MARGIN), "l1", "full"
    )


def _same(e: Evidence, cell: Cell, text: str, criterion: Criterion, first: str, second: str) -> Statement:
    """Two fits are alike, which says something only if one of them has learnt."""
    gain = e.gain(cell, "comprehensiveness", first, second)
    over = [e.gain(cell, "comprehensiveness", method, CONTROL) for method in (first, second)]
    learnt = any(found is not None and found.interval(0.95).low > 0 for found in over)
    return Statement(text, criterion, gain) if gain is None or learnt else Statement(text, criterion, reason=UNLEARNT)


def references(e: Evidence) -> Iterator[Statement]:
    for name in ("pad", "omitted", "random_token"):
        yield _gain(e, "comprehensiveness", "hard" if name == "omitted" else "full", name)


def little_is_enough(e: Evidence) -> Iterator[Statement]:
    text = "2,000 texts are no better than 1,000"
    yield _same(e, ABLATED, text, Criterion.not_above(MARGIN), "texts_2000", "texts_1000")
    gain = e.gain(SST, "comprehensiveness", oracle(""), "paml(steps=3, tune=all, selection=oracle)")
    yield Statement("the best of ten steps is no better than the best of three", Criterion.not_above(MARGIN), gain)


def constant_time(e: Evidence) -> Iterator[Statement]:
    ratio = e.slowdown(IMDB, SST, "paml(steps=10, tune=all)")
    yield Statement("fAML takes at most 1.5 times as long on IMDB as on SST", Criterion(high=1.5), ratio)


def language_first(e: Evidence) -> Iterator[Statement]:
    others = (LANGUAGE_RUNNER_UP, *LANGUAGE_OTHERS)
    yield from _best(e, (LANGUAGE,), lambda _: "paml(steps=10, tune=all)", ("paml", *others), BOTH[:1])


def language_second(e: Evidence) -> Iterator[Statement]:
    yield from _best(e, (LANGUAGE,), lambda _: "paml", (LANGUAGE_RUNNER_UP, *LANGUAGE_OTHERS), BOTH[:1])


def weak_ranking(e: Evidence) -> Iterator[Statement]:
    free = "self_ranking(mode=free)"
    yield from _better(e, (LANGUAGE,), lambda _: "occlusion", ("self_ranking", free))
    text = "of the words that the model names freely, more than a tenth are not in the text"
    yield Statement(text, Criterion.above(0.1), e.share(LANGUAGE, free, "dropped", "named"))


def alignment(e: Evidence) -> Iterator[Statement]:
    text = "mean is as good as max in the alignment of tokens"
    yield _same(e, LANGUAGE, text, Criterion.alike(MARGIN), "paml_mean", "paml")


def rationales(e: Evidence) -> Iterator[Statement]:
    for method in ("paml", "paml(steps=10, tune=all)"):
        text = f"macro F1: {method} agrees better with people than decompx"
        yield Statement(text, Criterion.above(F1_MARGIN), e.gain(MOVIES, "top_k_f1", method, "decompx"))


def default_in_best_group(e: Evidence) -> Iterator[Statement]:
    cells = (*CELLS, ("sst", "roberta"), ("sst", "distilbert"), LANGUAGE)
    for cell, fit in (*((cell, "logistic") for cell in cells), (LANGUAGE, FULL)):
        rivals = e.within(cell, CHEAP, fit) or ()
        if not rivals:
            text = f"{cell[0]}, {cell[1]}: {fit} is no worse than methods of up to {CHEAP} times its passes"
            yield Statement(text, Criterion(low=-MARGIN))
        for other in rivals:
            text = f"{cell[0]}, {cell[1]}: {fit} is no worse than {other}"
            gain = e.gain(cell, "comprehensiveness", fit, other)
            yield Statement(text, Criterion(low=-MARGIN), gain)


CLAIMS = (
    Claim(1, "fAML, by its last step, is the best method on encoders", "Table 1, there in hindsight", refined_first),
    Claim(2, "pAML is better than all methods but fAML, DecompX and SIG", "Table 1", fitted_third),
    Claim(3, "fAML is better than its controls: ten noisy maps, and masks without G", "ours", refined_over_controls),
    Claim(4, "chosen in hindsight, fAML is better than a search", "Table 1", refined_over_searches),
    Claim(5, "L_inv serves comprehensiveness, and L_p sufficiency", "A.2, Table 4", crossing),
    Claim(6, "both L_p and L_inv are needed", "Table 4", every_loss),
    Claim(7, "L1 is as good as the cross-entropy for sparse masks", "section 3.1", forms),
    Claim(8, "the mask token is the best reference", "footnote 5", references),
    Claim(9, "about 1,000 texts and few steps suffice", "section 3.2", little_is_enough),
    Claim(10, "fAML's time hardly depends on the length of the text", "Table 5", constant_time),
    Claim(
        11,
        "fAML, by its last step, is the best method on a language model",
        "Table 2, there in hindsight",
        language_first,
    ),
    Claim(12, "pAML comes second on a language model", "Table 2", language_second),
    Claim(
        13,
        "a language model's own ranking of words is worse than occlusion (ours), and invents words",
        "Table 2, section 4",
        weak_ranking,
    ),
    Claim(14, "joining scores of tokens by mean is as good as by max", "footnote 6", alignment),
    Claim(15, "AML agrees better with human rationales than DecompX", "Table 3", rationales),
    Claim(
        16,
        f"the default explainer is no worse than methods of up to {CHEAP} times its passes",
        "our aim",
        default_in_best_group,
    ),
)
