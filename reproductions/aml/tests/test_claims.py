"""Claims and page on made-up evidence: each claim holds where the paper is right, and fails where it is wrong."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from assay.statistics.claims import Verdict
from reproductions.aml import claims
from reproductions.aml.aim import aim, aims
from reproductions.aml.claims import ABLATED, BOTH, CELLS, CLAIMS, IMDB, LANGUAGE, MOVIES, SST
from reproductions.aml.evidence import Evidence, short_metric, short_name
from reproductions.aml.findings import findings
from reproductions.aml.page import TABLE_1, page
from reproductions.aml.published import ENCODERS, LANGUAGE_MODELS, paper_value, places
from reproductions.aml.tables import ABLATIONS

# How good each method is: comprehensiveness, and the negative of sufficiency.
BASELINES = {**dict.fromkeys(claims.RUNNERS_UP, 0.45), **dict.fromkeys(claims.OTHERS, 0.3), "mask_optimisation": 0.5}
PAML = {"paml": 0.5, "paml(steps=10, tune=all)": 0.6, "logistic": 0.6, "random": 0.0, "occlusion": 0.35}
HINDSIGHT = {
    "paml(steps=10, tune=all, selection=oracle)": 0.75,
    "paml(steps=3, tune=all, selection=oracle)": 0.75,
    "paml(steps=10, tune=noise, selection=oracle)": 0.6,
    **{claims.greedy(metric): 0.7 for metric in BOTH},
    **{claims.mask_oracle(metric): 0.55 for metric in BOTH},
}
ABLATION = dict.fromkeys(ABLATIONS, 0.3) | {
    "full": 0.5, "hard": 0.5, "l1": 0.5, "texts_1000": 0.5, "texts_2000": 0.5,
    "without_preservation": 0.45, "without_inverse": 0.4,
    "full_sufficiency": 0.5, "without_preservation_sufficiency": 0.4, "without_inverse_sufficiency": 0.45,
}  # fmt: skip
ASKED = {
    claims.FULL: 0.6,
    "self_ranking": 0.1,
    "self_ranking(mode=free)": 0.05,
    "gradient_shap(samples=8)": 0.2,
    "paml_mean": 0.5,
}


def good_as_in_the_paper(cell):
    found = BASELINES | PAML | (HINDSIGHT if cell in CELLS else {})
    found |= {name.replace("paml", "paml_sufficiency", 1): v for name, v in found.items() if name.startswith("paml(")}
    found |= {"paml_sufficiency": found["paml"]} | (ABLATION if cell == ABLATED else {})
    return found | (ASKED if cell == LANGUAGE else {})


def card(**settings):
    weights = {"preservation": 0.5, "sparsity": 0.5, "inverse": 0.5, "objective": "masking"} | settings
    return {
        "settings": weights,
        "metric": "comprehensiveness(protocol=aml)",
        "better": "higher",
        "validation": {"best": 0.5, "random": 0.1, "error": 0.05},
        "curve": [{"step": 8, "value": 0.5}, {"step": 16, "value": 0.4}],
        "data": {"train": {"examples": 1000}},
    }


def made_up(turn=lambda value: value):
    """Evidence in which every method is as good as `turn` of what the paper says."""
    rng = np.random.default_rng(0)
    values = {}
    for cell in (*TABLE_1, LANGUAGE, IMDB):
        good = {method: turn(v) for method, v in good_as_in_the_paper(cell).items()}
        columns = {m: mean + 0.005 * rng.standard_normal(60) for m, mean in good.items()}
        values[cell] = {
            metric: {m: {str(i): float(sign * v) for i, v in enumerate(column)} for m, column in columns.items()}
            for metric, sign in zip(BOTH, (1, -1), strict=True)
        }
    agreement = {"paml": 0.3, "paml(steps=10, tune=all)": 0.3, **dict.fromkeys(claims.RUNNERS_UP, 0.2)}
    f1 = {m: {str(i): turn(v) + 0.01 * float(rng.standard_normal()) for i in range(60)} for m, v in agreement.items()}
    values[MOVIES] = {"top_k_f1": f1, "top_k_f1(average=micro)": f1}
    sizes = {MOVIES: {"top_k_f1(average=micro)": {str(i): 1.0 + i for i in range(60)}}}
    high, low = turn(0.9), turn(0.1)
    fits = {
        "searched": card(preservation=low, inverse=high, search=30),
        "searched_sufficiency": card(preservation=high, inverse=low, search=30),
        "paml": card(weights_of="searched"),
        "warm": card() | {"start": {"value": 0.4}},
        **dict.fromkeys(("logistic", claims.FULL), card(objective="logistic")),
        "paml_sufficiency": card(weights_of="searched_sufficiency"),
        "paml_mean": card(),
    }
    seconds = {SST: {"paml": 0.1, "paml(steps=10, tune=all)": 1.0}, IMDB: {"paml(steps=10, tune=all)": 1.2}}
    passes = {
        cell: {"logistic": 1.0, claims.FULL: 1.0, "paml": 1.0, "decompx": 1.0, "lime(samples=128)": 128.0}
        for cell in values
    }
    counts = {LANGUAGE: {"self_ranking(mode=free)": {"dropped": [4] * 20, "named": [8] * 20}}}
    trained = {SST: {"examples": {"train": 4000}, "validation": {"accuracy": 0.85}, "majority": 0.5}}
    units, records = {SST: 20.0, IMDB: 200.0}, {(SST, "learned_sst"): (1, 1), (LANGUAGE, "ranking"): (0, 1)}
    return Evidence(values, sizes, passes, seconds, counts, {SST: fits}, {}, trained, units, records)


def test_claims_are_reproduced_where_the_numbers_are_the_papers():
    e = made_up()
    assert {c.number: c.judge(e).verdict for c in CLAIMS} == dict.fromkeys(range(1, 17), Verdict.REPRODUCED)


def test_claims_are_contradicted_where_the_numbers_are_the_opposite():
    e = made_up(lambda value: 1 - value)
    e = replace(
        e,
        seconds={SST: {"paml(steps=10, tune=all)": 1.0}, IMDB: {"paml(steps=10, tune=all)": 9.0}},
        counts={LANGUAGE: {"self_ranking(mode=free)": {"dropped": [0] * 20, "named": [8] * 20}}},
    )
    verdicts = {c.number: c.judge(e).verdict for c in CLAIMS}
    alike = (7, 9, 14)  # equal methods stay equal when turned
    assert {n for n, v in verdicts.items() if v is Verdict.CONTRADICTED} == set(range(1, 17)) - set(alike)
    e.values[ABLATED]["comprehensiveness"].update(
        random={str(i): 0.0 for i in range(60)},
        l1={str(i): 0.1 * (i % 2) for i in range(60)},
        texts_2000={str(i): 0.9 for i in range(60)},
    )
    assert [c.judge(e).verdict for c in CLAIMS if c.number in (7, 9)] == [Verdict.CONTRADICTED] * 2


def test_hindsight_is_judged_only_against_searches_and_noise():
    """Methods that choose by the reported metric are compared with nothing that does not."""
    fair = {1, 2, 11, 12, 16}
    for claim in CLAIMS:
        texts = [finding.statement.text for finding in claim.judge(made_up()).findings]
        assert not (claim.number in fair and any("oracle" in text for text in texts))
        for text in texts:
            if "oracle" in text:
                assert "oracle" in text.partition("better than")[2] or "greedy(objective" in text
    tables = page(made_up()).split("## ")
    table_1 = [part for part in tables if part.startswith("# ") is False and part.startswith("Table 1")]
    assert table_1
    assert all("oracle" not in part for part in table_1)


def test_what_was_not_run_is_incomplete_and_said():
    assert {c.judge(Evidence()).verdict for c in CLAIMS} == {Verdict.INCOMPLETE}
    empty = page(Evidence())
    whole = ("Findings", "Claims", "Statements", "Table 1", "Choices")
    sections = [part for part in empty.split("\n## ")[1:] if not part.startswith(whole)]
    assert len(sections) == 11
    assert all("Not run yet." in part for part in sections)
    assert "Nothing has been run yet." in empty
    assert "`ranking` (language, smollm): not run." in page(made_up())
    assert "`learned_sst`" not in page(made_up()), "all of its jobs have records"


def test_an_explainer_without_its_rivals_has_not_been_compared():
    e = made_up()
    emotion = CELLS[2]
    alone = replace(e, passes={**e.passes, emotion: {"logistic": 1.0}})
    assert aim(alone, emotion, "logistic", "comprehensiveness") is None
    assert CLAIMS[15].judge(alone).verdict is Verdict.INCOMPLETE


def test_the_page_of_evidence_like_the_papers():
    text = page(made_up())
    row = next(line for line in text.splitlines() if line.startswith("| 1 |"))
    assert re.search(r"SST2: fAML \.467.* SST: fAML by its last step \.(599|60\d).* reproduced", row)
    assert "0.50, 0.50, 0.50 (reused from searched)" in text
    assert "(search of 30 trials)" in text
    assert "| 8 of 16 |" in text, "the best check of each fit"
    assert "50% are not in the text" in text
    assert "IMDB, 200 units" in text
    assert "Fits in doubt" not in text
    e = made_up()
    e.fits[SST]["paml"]["validation"]["best"] = 0.15  # less than two standard errors above random
    assert "**Fits in doubt**, not clearly better than a random order on their own dev texts: `paml` on SST" in page(e)


def test_the_aim_is_judged_on_the_same_texts_and_in_the_direction_of_the_metric():
    e = made_up()
    found = {(a.cell, a.explainer, a.metric): a for a in aims(e)}
    good = found[SST, "logistic", "sufficiency"]  # lower is better: -0.6 against -0.45
    assert good.reached == "met"
    assert good.rival == "decompx", "lime costs too much, and the control is no rival"
    assert good.gain.value == pytest.approx(0.15, abs=0.01)
    assert good.gain.low > 0.1
    e.values[SST]["comprehensiveness"]["decompx"] = {str(i): 0.8 for i in range(30, 90)}
    missed = aim(e, SST, "logistic", "comprehensiveness")
    assert missed is not None
    assert missed.reached == "missed"
    assert missed.own.n == 30, "the texts that all have"
    assert missed.gain.value == pytest.approx(-0.2, abs=0.01)
    assert "**missed** on SST, " in findings(e)
    assert "**Cost**: the jobs took 2.0 hours" in findings(replace(e, took=7200.0))


def test_the_aim_is_not_met_because_few_texts_show_little():
    """A random order is in the best group of three texts, and so is a method that loses on each of them."""
    e = made_up()
    columns = e.values[SST]["comprehensiveness"]
    texts = sorted(columns["logistic"])[:3]
    for method, value in (("decompx", 0.5), ("logistic", 0.4), ("random", 0.1)):
        columns[method] = {x: value + 0.001 * i for i, x in enumerate(texts)}
    found = aim(e, SST, "logistic", "comprehensiveness")
    assert found is not None
    assert found.reached == "missed", "three texts cannot show that it beats a random order"
    many = {str(i): i for i in range(8)}
    columns["random"] = {x: 0.1 + 0.001 * i for x, i in many.items()}
    columns["logistic"] = {x: 0.4 + 0.001 * i for x, i in many.items()}
    columns["decompx"] = {x: 0.41 + (0.1 if i < 7 else -0.05) + 0.001 * i for x, i in many.items()}
    for i in range(4):  # more rivals: the correction for their number leaves it in the best group
        columns[f"rival{i}"] = {x: 0.3 + 0.01 * i + 0.02 * (n % 2) for x, n in many.items()}
        e.passes[SST][f"rival{i}"] = 1.0
    few = aim(e, SST, "logistic", "comprehensiveness")
    assert few is not None
    assert few.gain.high < 0
    assert few.reached == "open"


def test_the_place_of_a_method_in_the_papers_tables():
    """By hand: of the 60 columns of Table 1, pAML is second in one and third in twelve; fAML leads 56."""
    encoders = places("pAML", ENCODERS)
    assert (encoders[1], encoders[2], encoders[3], encoders.total()) == (0, 1, 12, 60)
    assert places("fAML", ENCODERS)[1] == 56
    assert places("pAML", LANGUAGE_MODELS)[2] == 23


def test_names_and_published_numbers():
    assert short_name("aml(paml_sst, steps=10, tune=all)") == "paml(steps=10, tune=all)"
    assert short_name("aml(logistic_distilbert)") == "logistic"
    assert short_name("lime(samples=128)") == "lime(samples=128)"
    assert short_metric("comprehensiveness(protocol=aml, aopc=True)") == "comprehensiveness(aopc=True)"
    assert short_metric("sufficiency(protocol=aml)") == "sufficiency"
    assert paper_value("minilm", "sst", "decompx", "comprehensiveness") == pytest.approx(0.467)
    assert paper_value("minilm", "sst", "lime(samples=128)", "log_odds") == pytest.approx(-0.713)
    assert paper_value("roberta", "emotion", claims.oracle("sufficiency"), "sufficiency") == pytest.approx(0.111)
    assert paper_value("minilm", "sst", claims.refined(""), "comprehensiveness") is None, (
        "its step was chosen otherwise"
    )
    assert paper_value("minilm", "sst", "paml", "comprehensiveness") == pytest.approx(0.24)
    assert paper_value("minilm", "sst", "paml", "sufficiency") is None, "it was fitted for another metric"
    assert paper_value("minilm", "sst", "paml_sufficiency", "sufficiency") == pytest.approx(0.131)
    assert paper_value("smollm", "language", "paml", "comprehensiveness") == pytest.approx(0.091)
    assert paper_value("minilm", "sst", "logistic", "comprehensiveness") is None
