"""What a report says: metric docs from docstrings, the call that makes it again, the record, the terminal's table."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import assay
from assay.evaluation import METRICS
from assay.faithfulness import FAITHFULNESS
from assay.reports.metric_docs import metric_doc
from assay.reports.symbols import format_interval
from assay.studies.evaluate.length_limit import past_limit
from assay.studies.evaluate.performance import performance
from assay.studies.evaluate.record import record
from assay.studies.evaluate.reproduce import python_call
from assay.studies.evaluate.terminal import ranking_table
from toys import bert
from unit.reports.pages import METHODS, evaluated, texts, usual


@pytest.mark.parametrize("name", METRICS.names)
def test_every_metric_is_documented(name: str) -> None:
    about = metric_doc(METRICS.get(name))
    assert about.formula
    assert about.range
    assert about.weakness
    assert "Weakness" not in about.formula + about.note
    assert about.direction in ("higher is better", "lower is better")


def test_metric_docs_read_paper_formula_note_and_parameters() -> None:
    about = metric_doc(FAITHFULNESS.make("log_odds(protocol=thesis)"))
    assert about.title == "Log odds"
    assert about.paper is not None
    assert about.paper.startswith("Shrikumar et al. 2017")
    assert about.formula.startswith("mean over fractions")
    assert about.note.startswith("Tokens are always replaced")
    assert about.parameters == "protocol=thesis"


@pytest.mark.parametrize("options", [{}, {"removal": "unk"}, {"units": "word", "target": "gold", "seed": 3}])
def test_the_call_makes_the_same_numbers_again(options: dict[str, object]) -> None:
    model, data = bert(), texts(4)
    result = evaluated(model, data, METHODS, ("sufficiency(protocol=thesis)", "auprc"), **options)
    scope = {"model": model, "dataset": data}
    exec(python_call(result.evaluation), scope)
    again: Any = scope["result"]
    assert again.table() == result.table()
    assert dict(again.evaluation.settings) == dict(result.evaluation.settings)


def test_the_record_is_json_and_keeps_what_differs_apart() -> None:
    one = record(evaluated(bert(), texts(1)))
    text = json.dumps(one, allow_nan=False)
    assert json.loads(text)["table"][0]["low"] is None
    a, b = (record(evaluated(bert(), texts(3))) for _ in range(2))
    assert a.pop("provenance").keys() == b.pop("provenance").keys()
    assert a == b
    assert len(a["table"]) == 4 * 5


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_every_method_within_its_width(width: int) -> None:
    out = io.StringIO()
    Console(file=out, width=width).print(ranking_table(usual(), width))
    text = out.getvalue()
    assert "…" not in text, "nothing is cut"
    assert all(len(line) <= width for line in text.splitlines())
    for standing in (s for c in usual().comparisons.values() for s in c.standings):
        assert all(part in text for part in format_interval(standing.value, standing.low, standing.high, 0.01))
    assert text.count("not clearly different from the best or from random") == 1, "said once, below the table"
    first = [line.split("  ")[1] for line in text.splitlines() if line.startswith("  ") and line.strip()]
    assert all(first.count(method) == 5 for method in METHODS)  # five metrics
    assert ("●" in text) == (width >= 100)


def test_a_long_method_name_is_folded_not_cut() -> None:
    long = "integrated_gradients(steps=20, baseline=mask_token, rule=gauss_legendre, tolerance=0.001)"
    result = evaluated(bert(), texts(3), (long, "occlusion", "random"), ("sufficiency",))
    out = io.StringIO()
    Console(file=out, width=80).print(ranking_table(result, 80))
    assert "…" not in out.getvalue()
    assert all(part in out.getvalue() for part in long.split())


def test_performance_has_intervals_that_hold_the_value() -> None:
    found = performance(usual().evaluation)
    assert set(found) == {"accuracy", "auroc", "macro_f1", "micro_f1"}
    assert all(i.low <= i.value <= i.high for i in found.values())
    assert found["accuracy"].value == usual().performance["accuracy"].value
    assert np.isnan(performance(evaluated(bert(), texts(1)).evaluation)["macro_f1"].low)


def test_what_was_not_read_is_counted_with_the_rationales_in_it() -> None:
    text = "the film is bad " * 20
    spans = (assay.core.types.Span(0, 4, 8), assay.core.types.Span(0, len(text) - 4, len(text) - 1))
    data = [assay.Example(text, id="long", label=0, rationales=(spans,)), *texts(1)]
    found = past_limit(evaluated(bert(positions=42), data, ("random",), ("auprc",)).evaluation)
    assert found is not None
    assert (found.examples, found.total_examples, found.units) == (1, 2, 40)
    assert (found.rationale_units, found.total_rationale_units) == (1, 3)
    assert past_limit(usual().evaluation) is None
