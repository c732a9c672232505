"""The results page of ROAR: from an empty store, from a small one, and claims on areas made by hand."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.datasets.load import load_dataset
from assay.evaluation.roar.leak import Leak
from assay.evaluation.roar.verdict import Faithfulness
from assay.experiments.runner import run
from assay.experiments.store import Store
from assay.statistics.bootstrap import Interval
from unit.experiments.test_roar import QUICK, write

FOLDER = Path(__file__).parents[3] / "papers" / "roar"
STEPS = {"truth": [1.0, 0.5], "recursive": [1.0, 0.5], "roar": [1.0, 1.0], "worst": [1.0, 1.0]}


@pytest.fixture(scope="module")
def page():
    """papers/roar/page.py under a name of its own: another paper has a page too."""
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location("roar_page", FOLDER / "page.py")
    module = sys.modules["roar_page"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def evidence(page, curves=(), areas=()):
    made = page.Evidence(dict(curves), dict(areas))
    made.__dict__["synthetic"] = STEPS  # the real one takes half a minute
    return made


def area(value, half=0.02, verdict="faithful", leak=None, curve=(0.9, 0.5, 0.4)):
    span = Interval(value, value - half, value + half, 5)
    drawn = tuple(np.random.default_rng(abs(int(1000 * np.nan_to_num(value)))).normal(value, half / 2, 400))
    return Faithfulness(value, span, span, span, (value,) * 5, verdict, leak, curve, (), drawn)


def test_nothing_is_run_yet(page):
    text = page.page(evidence(page), {})
    assert text.count("**not run yet**") == len(page.CLAIMS) - 1
    assert "| 10 | Synthetic problem: Recursive ROAR is the truth" in text
    assert "**confirmed**" in text
    assert "Run so far: nothing." in text


def paper_sst():
    names = ("attention", "gradient", "input x gradient", "integrated gradients")
    return dict(zip(names, map(area, (0.157, 0.076, 0.28, 0.378)), strict=True))


def test_claims_wait_for_what_they_need(page):
    """With the paper's own numbers of SST alone nothing is confirmed or refuted that needs more."""
    from judged import attention_among_the_best, ig_not_generally_better, leakage, order_on_sst, who_is_best

    e = evidence(page, areas={(("SST", "LSTM"), "recursive"): paper_sst()})
    assert order_on_sst(e)[0] == "confirmed"
    for judge in (attention_among_the_best, ig_not_generally_better, leakage, who_is_best):
        assert judge(e)[0] == "not run yet"


def test_a_measure_beats_another_by_their_difference(page):
    """Draws that move together tell what intervals that meet cannot; with fewer seeds, only the intervals count."""
    from judged import above

    low, high = area(0.30, half=0.05), area(0.32, half=0.05)
    high = replace(high, drawn=tuple(x + 0.02 for x in low.drawn))
    assert above(high, low)
    assert not above(low, high)
    few = replace(low, seeds=low.seeds[:2])
    assert not above(high, few)
    assert above(area(0.5), few)


def test_claims_follow_the_areas(page):
    from judged import attention_among_the_best, ig_not_generally_better, leakage, order_on_sst

    sst = paper_sst()
    leaky = area(-0.1, leak=Leak(0.2, 0.4, 0.1, 0.001, 2, 5))
    babi = {"attention": area(0.7), "gradient": area(0.5), "integrated gradients": leaky}
    places = {(("SST", "LSTM"), "recursive"): sst, (("bAbI-1", "LSTM"), "recursive"): babi}
    e = evidence(page, areas=places)
    assert attention_among_the_best(e)[0] == "confirmed"
    assert ig_not_generally_better(e)[0] == "confirmed"
    assert leakage(e)[0] == "confirmed"
    assert "bAbI-1 LSTM recursive integrated gradients: +10.0 from 20 to 40 %" in leakage(e)[1]
    babi["gradient"], babi["attention"] = area(-0.11), area(0.7)  # attention is no gradient
    assert ig_not_generally_better(e)[0] == "not run yet"
    places[("SNLI", "LSTM"), "recursive"] = babi
    assert ig_not_generally_better(evidence(page, areas=places))[0] == "undecided"
    babi["gradient"] = area(0.9)
    assert attention_among_the_best(e)[0] == "refuted"  # beaten elsewhere
    sst["gradient"] = area(0.3)
    assert order_on_sst(e)[0] == "refuted"
    sst["gradient"], sst["input x gradient"] = area(0.076), area(0.37)
    assert order_on_sst(e)[0] == "undecided"
    babi["gradient"] = area(0.5)
    sst |= {"attention": area(0.377)}
    assert attention_among_the_best(e)[0] == "undecided"  # the paper's exception is gone, but not turned round


def test_ig_by_words(page):
    from judged import ig_by_words

    low, high = area(0.1), area(0.5)
    imdb = {"attention": high, "gradient": high, "integrated gradients": low}
    babi = {"attention": high, "gradient": low, "integrated gradients": high}
    places = {(("IMDB", "LSTM"), "words"): imdb}
    assert ig_by_words(evidence(page, areas=places))[0] == "not run yet"  # bAbI is still to come
    places[("bAbI-1", "LSTM"), "words"] = babi
    assert ig_by_words(evidence(page, areas=places))[0] == "confirmed"
    babi["integrated gradients"] = low
    assert ig_by_words(evidence(page, areas=places))[0] == "refuted"
    babi["integrated gradients"] = high
    imdb["attention"] = low
    assert ig_by_words(evidence(page, areas=places))[0] == "undecided"
    imdb["integrated gradients"] = area(float("nan"))
    assert ig_by_words(evidence(page, areas=places))[0] == "not run yet"  # no area, nothing to say


def test_models_are_compared_on_one_grid(page):
    """The steps of 10 % are left out where another model has steps of 20 %."""
    fine = page.Curves("s", "g", "d", "b", "Recursive ROAR", True, [i / 10 for i in range(11)], np.zeros(3, int), {}, {
        "random": np.arange(11)[None, :, None].repeat(3, 2)})  # fmt: skip
    cut = page.at(fine, page.FIFTHS)
    assert cut.axis == page.FIFTHS
    assert cut.predicted["random"][0, :, 0].tolist() == [0, 2, 4, 6, 8, 10]


def test_published_numbers(page):
    """Some of the fact sheet's section 8, and the form in which they are printed."""
    assert page.AREAS["SST", "LSTM"]["integrated gradients"] == (37.8, 4.6, 5.3)
    assert page.AREAS["SNLI", "transformer"]["gradient"] == (50.7, 1.1, 0.8)
    assert page.published((28.0, 5.6, 4.4)) == "28 [23.6, 33.6]"
    assert page._within(area(0.34, 0.02), (28.0, 5.6, 4.4)) == "yes"
    assert page._within(area(0.37, 0.02), (28.0, 5.6, 4.4)) == "no"


PLAN = """
name: tiny
data: {{sst: {data}}}
models:
  bilstm: {{train: "bilstm_attention(hidden=4, width=4)", on: sst, seeds: [0], recipe: "{recipe}"}}
studies:
  recursive:
    {{kind: roar, data: trained_on, step: 50, methods: [attention, "integrated_gradients(steps=2, baseline=zero)"]}}
  measurable: {{kind: measurable, data: trained_on, step: 50, methods: [attention]}}
"""


def test_a_small_store_becomes_a_page(page, tmp_path):
    pytest.importorskip("seaborn", reason="needs the extra: pip install 'assay[plots]'")
    data = write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    (tmp_path / "sst.yaml").write_text(PLAN.format(data=data, recipe=QUICK))
    store = Store(tmp_path / "s")
    assert run(tmp_path / "sst.yaml", store=store.folder, progress=False).ok
    found = page.gather(store, page.TASKS[:1], tmp_path)
    assert set(found.curves) == {(("SST", "LSTM"), "recursive"), (("SST", "LSTM"), "measurable")}
    assert set(found.of("SST", "LSTM")) == {"attention", "integrated gradients"}
    made = evidence(page, found.curves, found.areas)
    figures = page.draw(made, tmp_path / "roar")
    assert {"synthetic", "recursive_lstm", "sparsity_top", "measurable"} <= set(figures)
    assert all((tmp_path / "roar" / f"{name}.png").stat().st_size > 5000 for name in figures)
    sizes = page.described(store, {("SST", "LSTM"): ("sst.yaml", "bilstm", "sst")}, tmp_path)
    text = page.page(made, figures, page.vector_lines(store, tmp_path / "sst.yaml"), sizes)
    words = [len(example.text.split()) for example in load_dataset(data, split="test")]
    assert f"| SST | LSTM | 12 / 6 / 6 | 6,579 / 848 / 1,776 | {np.mean(words) + 2:.1f} | 20 |" in text
    assert "| bilstm | " in text.partition("word vectors of")[2]
    assert "| SST | LSTM | integrated gradients |" in text
    assert "37.8 [32.5, 42.4]" in text
    assert "Cost of one seed" in text
