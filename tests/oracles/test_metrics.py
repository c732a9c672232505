"""Metrics against hand-worked examples, closed forms, scikit-learn and literal versions of each protocol."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from assay.core.metric_facts import MetricFacts
from assay.core.spec import Spec
from assay.core.types import Attribution, Example, Span, Target, Unit
from assay.evaluation import AGREEMENT, ATTACK_MEASURES, METRICS, PERFORMANCE
from assay.evaluation.metrics import make_metric
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import PROTOCOLS

Game = Callable[[frozenset[int]], float]


def attribution(scores: list[float] | np.ndarray, words: list[str] | None = None) -> tuple[Attribution, str]:
    """Scores on the words of a made text."""
    words = words or [f"w{i}" for i in range(len(scores))]
    starts = np.cumsum([0, *[len(w) + 1 for w in words]])
    units = tuple(Unit(w, int(s), int(s) + len(w)) for w, s in zip(words, starts, strict=False))
    made = Attribution(units, np.asarray(scores, np.float32), Target(0, None, "logit"), "yes", Spec("made"))
    return made, " ".join(words)


def judged(name: str, scores: list[float] | np.ndarray, gold: list[int]) -> float | None:
    """A metric of one attribution on scores whose true units are `gold`."""
    made, text = attribution(scores)
    spans = tuple(Span(0, made.units[i].start, made.units[i].end) for i in gold)
    return METRICS.make(name).measure(made, Example(text, rationales=(spans,)))


def random_game(n: int, rng: np.random.Generator) -> Game:
    table: dict[frozenset[int], float] = {}

    def value(kept: frozenset[int]) -> float:
        return table.setdefault(kept, float(rng.random()))

    return value


def measured(spec: str, protocol: str, order: list[int], value: Game) -> float:
    """A faithfulness metric driven by a plain function of the kept units."""
    made = make_metric(spec, protocol)
    keeps = made.keeps(np.array(order))
    values = np.array([value(frozenset(np.flatnonzero(keep).tolist())) for keep in keeps])
    return made.measure(values, value(frozenset(range(len(order)))))


# --- faithfulness ------------------------------------------------------------------------------------------------


def test_eraser_worked_example() -> None:
    assert FAITHFULNESS.make("comprehensiveness").measure(np.array([0.6, 0.2]), 0.9) == pytest.approx(0.5)
    assert FAITHFULNESS.make("sufficiency").measure(np.array([0.7, 0.88]), 0.9) == pytest.approx(0.11)


@pytest.mark.parametrize(
    ("protocol", "n", "counts"),
    [
        ("eraser", 25, [1, 2, 3, 5, 13]),
        ("eraser", 30, [1, 2, 3, 6, 15]),  # 0.1 * 30 is 3.0000000000000004 in floating point
        ("eraser", 1, [1, 1, 1, 1, 1]),
        ("thesis", 25, [2, 3, 5, 13]),
        ("aml", 4, [1]),
        ("aml_code", 4, [0]),
        ("aml_code", 25, [5]),
    ],
)
def test_how_many_tokens_a_fraction_is(protocol: str, n: int, counts: list[int]) -> None:
    rules = PROTOCOLS[protocol]
    assert rules.counts(n, rules.fractions) == counts


def literal(name: str, protocol: str, order: list[int], value: Game) -> float:
    """Each protocol written out from the papers, fraction by fraction."""
    n = len(order)
    full = value(frozenset(order))
    five = [0.01, 0.05, 0.1, 0.2, 0.5]
    single = {"eraser": five, "thesis": [0.05, 0.1, 0.2, 0.5], "aml": [0.2], "aml_code": [0.2]}[protocol]
    fractions = five if "aopc" in name else single
    total = 0.0
    for k in fractions:
        if protocol in ("eraser", "thesis"):
            count = max(1, math.ceil(round(k * n, 9)))
        elif protocol == "aml":
            count = max(1, int(k * 100 * n / 100 + 1e-9))
        else:
            count = int(n * round(k * 100) / 100)
            if count == 0:
                continue  # AML's code: no token, no contribution
        top, rest = frozenset(order[:count]), frozenset(order[count:])
        if name == "log_odds":
            total += value(rest) - full
        else:
            total += full - value(top if "sufficiency" in name else rest)
    divisor = len(fractions) + (1 if protocol == "aml_code" and "aopc" in name else 0)
    return total / divisor


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "name", ["sufficiency", "comprehensiveness", "sufficiency(aopc=True)", "comprehensiveness(aopc=True)", "log_odds"]
)
@pytest.mark.parametrize("n", [1, 3, 7, 20, 41])
def test_every_protocol_equals_its_literal_version(name: str, protocol: str, n: int) -> None:
    rng = np.random.default_rng(n)
    order = rng.permutation(n).tolist()
    value = random_game(n, rng)
    assert measured(name, protocol, order, value) == pytest.approx(literal(name, protocol, order, value), abs=1e-12)


def test_a_model_that_reads_one_cue_has_the_closed_forms_of_the_thesis() -> None:
    def value(kept: frozenset[int]) -> float:
        return 1.0 if 5 in kept else 0.5

    order = [5, 0, 1, 2, 3, 4, 6, 7]
    assert measured("comprehensiveness", "thesis", order, value) == pytest.approx(0.5)
    assert measured("sufficiency", "thesis", order, value) == pytest.approx(0.0)
    assert judged("ground_truth_overlap", [1.0 if i == 5 else 0.0 for i in range(8)], [5]) == 1.0


def test_deletion_and_insertion_areas_by_hand() -> None:
    def additive(kept: frozenset[int]) -> float:
        return {0: 0.5, 1: 0.3, 2: 0.2}[0] * (0 in kept) + 0.3 * (1 in kept) + 0.2 * (2 in kept)

    # removing 0, 1, 2 in turn: 1, .5, .2, 0 -> trapezoids (.75 + .35 + .1) / 3; inserting: 0, .5, .8, 1
    assert measured("deletion", "eraser", [0, 1, 2], additive) == pytest.approx((0.75 + 0.35 + 0.1) / 3)
    assert measured("insertion", "eraser", [0, 1, 2], additive) == pytest.approx((0.25 + 0.65 + 0.9) / 3)


@pytest.mark.parametrize("name", [*FAITHFULNESS.names, "sufficiency(aopc=True)", "comprehensiveness(aopc=True)"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_true_order_beats_random_beats_reversed(name: str, protocol: str) -> None:
    rng = np.random.default_rng(0)
    weights = np.sort(rng.random(20))[::-1] / 20

    def additive(kept: frozenset[int]) -> float:
        return float(sum(weights[i] for i in kept))

    def result(order: list[int]) -> float:
        sign = 1 if FAITHFULNESS.make(name).facts.better == "higher" else -1
        return sign * measured(name, protocol, order, additive)

    best, worst = list(range(20)), list(range(20))[::-1]
    random = np.mean([result(rng.permutation(20).tolist()) for _ in range(200)])
    assert result(best) > random > result(worst)


# --- ground truth and plausibility -------------------------------------------------------------------------------


def test_ground_truth_by_hand() -> None:
    scores = [0.1, 0.9, 0.5, 0.3]  # order 1, 2, 3, 0
    assert judged("ground_truth_overlap", scores, [1]) == 1.0
    assert judged("ground_truth_overlap", scores, [2]) == 0.0
    assert judged("ground_truth_overlap", scores, [1, 0]) == 0.5
    assert judged("mean_rank", scores, [1, 3]) == 3.0
    assert judged("mean_rank_percentage", scores, [1, 3]) == 0.75


@pytest.mark.simulation
def test_random_scores_have_their_closed_forms() -> None:
    rng = np.random.default_rng(1)
    sizes = [4, 9, 15]
    draws = [(n, rng.permutation(n).astype(float)) for n in sizes for _ in range(4000)]
    overlap = np.mean([judged("ground_truth_overlap", s, [0]) for _, s in draws])
    rank = np.mean([judged("mean_rank_percentage", s, [0]) for _, s in draws])
    assert overlap == pytest.approx(np.mean([1 / n for n in sizes]), abs=0.01)
    assert rank == pytest.approx(np.mean([(n + 1) / (2 * n) for n in sizes]), abs=0.01)


@pytest.mark.parametrize("ties", [False, True])
def test_areas_equal_scikit_learn(ties: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        n = int(rng.integers(2, 30))
        scores = rng.integers(0, 4, n).astype(float) if ties else rng.random(n)
        gold = np.flatnonzero(rng.random(n) < 0.4).tolist() or [0]
        truth = np.isin(np.arange(n), gold)
        assert judged("auprc", scores, gold) == pytest.approx(average_precision_score(truth, scores))
        if not truth.all():
            assert judged("auc", scores, gold) == pytest.approx(roc_auc_score(truth, scores))


def test_f1_by_hand_and_scikit_learn() -> None:
    scores = [9.0, 8.0, 1.0, 7.0, 0.0, 0.5]
    truth = np.array([1, 0, 1, 1, 0, 0])
    chosen = np.array([1, 1, 0, 1, 0, 0])
    assert judged("token_f1", scores, [0, 2, 3]) == pytest.approx(f1_score(truth, chosen))
    assert judged("top_k_f1(k=2)", scores, [0, 2, 3]) == pytest.approx(2 * 1 / (2 + 3))
    # chosen spans {0,1} and {3}; gold spans {0} and {2,3}: overlaps 1/2 and 1/2, neither over one half
    assert judged("iou_f1", scores, [0, 2, 3]) == 0.0
    # with the threshold below one half both hit: precision 1, recall 1
    assert judged("iou_f1(overlap=0.4)", scores, [0, 2, 3]) == 1.0


def test_parts_of_an_image_are_patches_that_touch_at_a_side() -> None:
    units = tuple(Unit(f"patch {i}", i, i + 1, box=(i % 3, i // 3, i % 3 + 1, i // 3 + 1)) for i in range(9))
    example = Example(image=np.zeros((3, 3, 1), np.uint8), rationales=((Span(0, 0, 1), Span(0, 3, 4)),))
    column = np.array([2, 0, 0, 1, 0, 0, 0, 0, 0], np.float32)  # the rationale itself, two patches below each other
    row = np.array([2, 1, 0, 0, 0, 0, 0, 0, 0], np.float32)  # shares one of three patches with it
    for scores, expected in ((column, 1.0), (row, 0.0)):
        made = Attribution(units, scores, Target(0), "a", Spec("random"))
        assert METRICS.make("iou_f1(overlap=0.4)").measure(made, example) == expected


def test_sparsity_by_hand() -> None:
    scores = [4.0, -3.0, 2.0, 1.0, 0.0]
    made, text = attribution(scores)
    assert METRICS.make("top_k_mass(k=2)").measure(made, Example(text)) == pytest.approx(0.7)
    assert METRICS.make("top_k_mass(share=0.3)").measure(made, Example(text)) == pytest.approx(0.7)


def test_majority_of_annotators_or_the_first() -> None:
    made, text = attribution([3.0, 2.0, 1.0])
    one, two, three = ((Span(0, u.start, u.end),) for u in made.units)
    overlap = METRICS.make("ground_truth_overlap")
    assert overlap.measure(made, Example(text, rationales=(two, two, three))) == 0.0
    assert overlap.measure(made, Example(text, rationales=(one, two, three))) == 1.0, "no majority: the first one"


def test_words_from_subwords_by_sum_or_max() -> None:
    text = "unhappy end"
    units = (Unit("un", 0, 2), Unit("happy", 2, 7), Unit("end", 8, 11))
    made = Attribution(units, np.array([2, 2, 3], np.float32), Target(0, None, "logit"), "y", Spec("made"))
    example = Example(text, rationales=((Span(0, 0, 7),),))
    assert METRICS.make("auc").measure(made, example) == 0.0
    assert METRICS.make("auc(words=max)").measure(made, example) == 0.0
    assert METRICS.make("auc(words=sum)").measure(made, example) == 1.0


def test_unseen_units_are_left_out() -> None:
    units = (Unit("a", 0, 1), Unit("b", 2, 3), Unit("c", 4, 5, seen=False))
    made = Attribution(units, np.array([1, 2, 0], np.float32), Target(0, None, "logit"), "y", Spec("made"))
    only_unseen = Example("a b c", rationales=((Span(0, 4, 5),),))
    assert METRICS.make("auprc").measure(made, only_unseen) is None
    assert METRICS.make("mean_rank_percentage").measure(made, Example("a b c", rationales=((Span(0, 0, 1),),))) == 1.0


JUDGES = [n for n in METRICS.names if METRICS.group(n) in ("ground_truth", "plausibility")]


@pytest.mark.parametrize("name", JUDGES)
def test_truth_beats_random_beats_reversed(name: str) -> None:
    rng = np.random.default_rng(3)
    spec = f"{name}(k=4)" if name == "top_k_f1" else name
    gold, n = [3, 4, 9, 10], 24
    sign = 1 if METRICS.make(name).facts.better == "higher" else -1
    truth = np.isin(np.arange(n), gold) + rng.random(n) * 0.1
    random = np.mean([sign * (judged(spec, rng.random(n), gold) or 0.0) for _ in range(300)])
    assert sign * (judged(spec, truth, gold) or 0.0) > random >= sign * (judged(spec, -truth, gold) or 0.0)


@pytest.mark.parametrize("name", JUDGES)
def test_only_ranks_count(name: str) -> None:
    scores = np.random.default_rng(4).normal(size=12)
    for change in (lambda s: 3 * s + 1, np.exp, np.cbrt):
        assert judged(name, change(scores), [1, 5]) == judged(name, scores, [1, 5])


@pytest.mark.parametrize("name", [n for n in METRICS.names if METRICS.group(n) != "faithfulness"])
def test_one_unit_and_all_equal_inputs(name: str) -> None:
    for scores in ([1.0], [1.0] * 6, [0.0] * 6):
        value = judged(name, scores, [0])
        assert value is None or math.isfinite(value)


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "micro_f1", "auroc"])
def test_performance_equals_scikit_learn(name: str) -> None:
    rng = np.random.default_rng(5)
    outputs, gold = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    probabilities = np.exp(outputs) / np.exp(outputs).sum(1, keepdims=True)
    expected = {
        "accuracy": (outputs.argmax(1) == gold).mean(),
        "macro_f1": f1_score(gold, outputs.argmax(1), average="macro"),
        "micro_f1": f1_score(gold, outputs.argmax(1), average="micro"),
        "auroc": roc_auc_score(gold, probabilities, multi_class="ovr"),
    }[name]
    assert PERFORMANCE.make(name).score(outputs, gold) == pytest.approx(expected)


def test_regression_performance() -> None:
    rng = np.random.default_rng(6)
    outputs, gold = rng.normal(size=(50, 1)), rng.normal(size=50)
    assert PERFORMANCE.make("pearson").score(outputs, gold) == pytest.approx(np.corrcoef(outputs[:, 0], gold)[0, 1])
    assert PERFORMANCE.make("mse").score(outputs, gold) == pytest.approx(((outputs[:, 0] - gold) ** 2).mean())


def test_agreement() -> None:
    first, second = attribution([4.0, 3.0, 2.0, 1.0])[0], attribution([4.0, 3.0, 1.0, 2.0])[0]
    flat = attribution([1.0] * 4)[0]
    for name, value in (("spearman", 0.8), ("kendall", 2 / 3), ("top_k_overlap(k=3)", 2 / 3)):
        assert AGREEMENT.make(name).compare(first, second) == pytest.approx(value)
        assert AGREEMENT.make(name).compare(first, first) == pytest.approx(1.0)
    assert AGREEMENT.make("spearman").compare(first, flat) == 0.0


def test_metrics_declare_themselves() -> None:
    for catalog in (METRICS, AGREEMENT, PERFORMANCE, ATTACK_MEASURES):
        for name in catalog.names:
            metric = catalog.make(name)
            assert isinstance(metric.facts, MetricFacts)
            assert metric.facts.better in ("higher", "lower")
            assert metric.facts.range
            assert type(metric).__doc__
            assert isinstance(metric.facts.revision, int)
    assert set(FAITHFULNESS.names) < set(METRICS.names)
    assert all(a < b for a, b in pairwise(FAITHFULNESS.names))
