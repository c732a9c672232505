"""Claims and page on made-up evidence: each claim holds where the paper is right, and fails where it is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from assay.statistics.claims import Verdict
from reproductions.aml.claims import ABLATED, BOTH, CELLS, CLAIMS, FAML, NOISE, OTHERS, PAML, RUNNERS_UP
from reproductions.aml.evidence import Evidence, short_name
from reproductions.aml.page import page
from reproductions.aml.published import paper_value

# comprehensiveness; sufficiency is its negative
AS_IN_THE_PAPER = {FAML: 0.7, NOISE: 0.6, PAML: 0.5, **dict.fromkeys(RUNNERS_UP, 0.55), **dict.fromkeys(OTHERS, 0.3)}
ABLATION = {"full": 0.5, "l1": 0.5, "without_preservation": 0.45, "without_inverse": 0.4}
WORSE = dict.fromkeys(("inverse_probability", "inverse_entropy", "pad", "unk", "zero", "random_token", "omitted"), 0.3)


def made_up(comprehensiveness, ablation=None, seed=0):
    rng = np.random.default_rng(seed)
    values = {}
    for cell in CELLS:
        means = dict(comprehensiveness) | (ablation or {} if cell == ABLATED else {})
        means |= {"logistic": 0.6, "logistic_small": 0.6}
        columns = {m: mean + 0.02 * rng.standard_normal(60) for m, mean in means.items()}
        values[cell] = {
            metric: {m: {str(i): float(sign * v) for i, v in enumerate(column)} for m, column in columns.items()}
            for metric, sign in zip(BOTH, (1, -1), strict=True)
        }
    for name in ("full", "without_preservation", "without_inverse"):
        if ablation:
            worst = {"full": -0.5, "without_preservation": -0.3, "without_inverse": -0.4}[name]
            values[ABLATED]["sufficiency"][f"{name}_sufficiency"] = {
                str(i): worst + 0.01 * float(rng.standard_normal()) for i in range(60)
            }
    weights = {
        "searched": {"settings": {"preservation": 0.2, "sparsity": 0.5, "inverse": 0.9}},
        "searched_sufficiency": {"settings": {"preservation": 0.8, "sparsity": 0.5, "inverse": 0.1}},
    }
    seconds = {
        ("sst", "minilm"): {"faster(steps=10, tune=all)": 1.5},
        ("imdb", "minilm"): {"faster(steps=10, tune=all)": 1.6},
    }
    asked = {
        "self_ranking": 0.1,
        "self_ranking(mode=free)": 0.05,
        "occlusion": 0.4,
        "faster_mean": comprehensiveness[PAML],
    }
    means = dict(comprehensiveness) | asked
    columns = {m: mean + 0.02 * rng.standard_normal(60) for m, mean in means.items()}
    values["language", "smollm"] = {
        metric: {m: {str(i): float(sign * v) for i, v in enumerate(column)} for m, column in columns.items()}
        for metric, sign in zip(BOTH, (1, -1), strict=True)
    }
    return Evidence(values, {}, seconds, {("sst", "minilm"): weights})


def test_claims_are_reproduced_where_the_numbers_are_the_papers():
    e = made_up(AS_IN_THE_PAPER, ABLATION | WORSE)
    assert {c.number: c.judge(e).verdict for c in CLAIMS} == dict.fromkeys(range(1, 13), Verdict.REPRODUCED)


def test_claims_are_contradicted_where_the_numbers_are_the_opposite():
    turned = {method: 0.9 - value for method, value in AS_IN_THE_PAPER.items()}
    e = made_up(turned, {name: 0.9 - value for name, value in (ABLATION | WORSE).items()})
    verdicts = {c.number: c.judge(e).verdict for c in CLAIMS}
    assert [verdicts[n] for n in (1, 2, 3, 7)] == [Verdict.CONTRADICTED] * 4


def test_what_was_not_run_is_incomplete_and_the_page_is_written():
    assert {c.judge(Evidence()).verdict for c in CLAIMS} == {Verdict.INCOMPLETE}
    assert "Not run yet." in page(Evidence())
    text = page(made_up(AS_IN_THE_PAPER, ABLATION | WORSE))
    assert "| 1 | fAML is the best method | Table 1 | reproduced" in text


def test_names_and_published_numbers():
    assert short_name("aml(explainer=faster, job=abc, steps=10, tune=all)") == "faster(steps=10, tune=all)"
    assert short_name("aml(explainer=logistic, job=abc)") == "logistic"
    assert short_name("lime(samples=128)") == "lime(samples=128)"
    assert paper_value("minilm", "sst", "decompx", "comprehensiveness") == pytest.approx(0.467)
    assert paper_value("minilm", "sst", "lime(samples=128)", "log_odds") == pytest.approx(-0.713)
    assert paper_value("roberta", "emotion", FAML, "sufficiency") == pytest.approx(0.111)
    assert paper_value("minilm", "sst", "logistic", "comprehensiveness") is None
