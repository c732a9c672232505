"""Results in a notebook: short reprs, a table that draws itself, and matplotlib axes."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from markupsafe import escape

import assay
from assay import Attribution, Target, Unit
from assay.core.explanations import Explanations
from assay.core.spec import parse
from assay.studies.evaluate.result import Result
from toys import bert
from unit.reports import hostile
from unit.reports.pages import evaluated, texts

EVIL = "<script>x</script>$\\frac$"


@pytest.fixture(scope="module")
def result() -> Result:
    return evaluated(
        bert(), assay.load_dataset(texts(6)), ("occlusion", "gradient", "random"), ("sufficiency", "log_odds")
    )


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    matplotlib.use("Agg")
    yield
    plt.close("all")


def attribution(**more: Any) -> Attribution:
    words = ("good", "bad", EVIL)
    units = tuple(Unit(word, 10 * i, 10 * i + len(word)) for i, word in enumerate(words))
    base = Attribution(units, np.array([0.02, -0.01, 0], np.float32), Target(1, None, "logit"), "yes", parse("lime"))
    return replace(base, **{"in_value": True, **more})


def test_reprs_are_a_few_lines(result: Result) -> None:
    for thing in (result, result.evaluation, result.evaluation.dataset, result.evaluation.dataset[0]):
        assert len(repr(thing)) < 500
        assert len(repr(thing).splitlines()) < 5
    assert repr(result).endswith(result.overall)
    assert "6 examples, 3 methods, 2 metrics" in repr(result.evaluation)
    assert "6 examples, classification" in repr(result.evaluation.dataset)
    assert repr(assay.Example("a" * 99, label=0, id="7")) == f"Example('{'a' * 59}…', id='7', label=0)"
    assert repr(assay.Example(image=np.zeros((9, 9, 3)))) == "Example(an image)"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (hostile.attacked, ["prediction_kept", "success rate", "moving embeddings by 1.5 times their size"]),
        (hostile.randomised, ["cascading", "Spearman&#39;s correlation", "[0.70, 0.90]"]),
        (hostile.roar, ["Measurable model", "area between random and the method", "inconclusive"]),
    ],
)
def test_results_of_all_studies_draw_verdict_and_tables(made: Any, words: list[str]) -> None:
    result = made()
    html = result._repr_html_()
    assert all(word in html for word in words), html
    assert all(str(escape(sentence)) in html for sentence in result.verdict)
    assert hostile.EVIL not in html
    assert html.count("<tr>") == sum(len(block.lines) for block in result.blocks) > 0


def test_a_result_draws_its_table_with_intervals(result: Result) -> None:
    html = result._repr_html_()
    assert result.overall in html
    for row in result.table():
        assert row["method"] in html
        assert row["metric"] in html
    assert html.count("<tr>") == 6
    assert "n = 6" in html
    assert "is better" in html
    assert "class=" not in html  # a notebook has no stylesheet of ours


def test_a_result_as_axes(result: Result) -> None:
    axes = result.plot()
    assert [ax.get_title() for ax in axes] == list(result.comparisons)
    first = next(iter(result.comparisons))
    comparison = result.comparisons[first]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [s.method for s in comparison.standings]
    bars = [container.lines[2][0].get_segments()[0][:, 0] for container in axes[0].containers]
    assert np.allclose(bars, [(s.low, s.high) for s in comparison.standings])
    assert axes[0].get_xlabel() == f"mean and 95 % interval, n = 6; {comparison.better} is better"
    _, ax = plt.subplots()
    assert result.plot(first, ax) is ax
    with pytest.raises(assay.SpecError, match="name one metric to draw, not 'sufficency'; did you mean 'sufficiency'"):
        result.plot("sufficency")
    axes[0].figure.canvas.draw()


def test_an_attribution_as_axes() -> None:
    ax = attribution().plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.02, 0, -0.01])
    assert ax.get_xlabel() == "part of the logit of yes"
    assert ax.get_xlim() == pytest.approx((-0.0525, 0.0525))  # noise is not stretched over the axis
    ax.figure.canvas.draw()  # a dollar sign in a text is not a formula
    many = attribution(
        units=tuple(Unit(f"w{i}", i, i + 1) for i in range(40)), scores=np.arange(40, dtype=np.float32), in_value=False
    )
    assert many.plot(top=5).get_xlabel() == "score, without a unit\n(5 strongest of 40 units)"
    _, own = plt.subplots()
    assert many.plot(own) is own
    axes = Explanations(a=attribution(), b=many).plot()
    assert axes.shape == (1, 2)
    assert [ax.get_title() for ax in axes[0]] == ["a", "b"]


def test_an_image_as_axes() -> None:
    units = (Unit("patch 0", 0, 1, box=(0, 0, 2, 2)), Unit("patch 1", 1, 2, box=(2, 0, 4, 2)))
    rgb = np.full((2, 4, 3), (200, 0, 0), np.uint8)
    ax = attribution(units=units, scores=np.array([1, -1], np.float32), picture=rgb).plot()
    assert len(ax.images) == 1
    assert ax.images[0].get_array().shape == (2, 4)  # grey: a red wall is no support
    assert len(ax.collections[0].get_paths()) == 2
    assert ax.collections[0].norm.vmin == -1
    assert ax.figure.axes[1].get_ylabel() == "part of the logit of yes"  # the scale
    ax.figure.canvas.draw()


def test_without_matplotlib_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith(("matplotlib", "pandas")):
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(assay.AssayError, match=r"this needs matplotlib; install it with: pip install 'assay\[plots\]'"):
        attribution().plot()
    with pytest.raises(assay.AssayError, match=r"this needs pandas; install it with: pip install 'assay\[data\]'"):
        attribution().to_pandas()
