"""What figures show: means, intervals over examples and ranges over trainings, on rows made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.experiments.store import Store
from assay.experiments.study import ReportContext
from assay.reports import figures
from assay.reports.aggregate import by_example, points
from assay.reports.figures import Panel, bars, curves, lines
from assay.reports.grid_figures import draw, family_sizes
from assay.reports.method_style import method_styles
from assay.statistics.bootstrap import interval
from assay.studies.attack.figures import figures as attack_figures
from assay.studies.evaluate.figures import figures as evaluate_figures
from assay.studies.evaluate.figures import metric_panels
from assay.studies.randomise.figures import figures as randomise_figures
from assay.studies.randomise.figures import mode_panels


def row(model: str, example: str, value: float | None, **more: object) -> dict[str, object]:
    grid = model.partition(":")[0]
    about = {"model": model, "grid": grid, "seed": 0, "method": "lime(samples=9)", "metric": "sufficiency"}
    return {"study": "s", **about, "example": example, "value": value, **more}


ROWS = [row(f"a:{s}", str(i), i + 10 * s) for s in range(3) for i in range(5)]


def test_trainings_and_examples_stay_apart() -> None:
    means, runs = by_example(ROWS)  # type: ignore[arg-type]
    assert runs == (2, 12, 22)  # though all rows have seed 0: the model tells trainings apart
    assert means == {str(i): i + 10 for i in range(5)}
    point = points(ROWS)[("a", "lime(samples=9)")]  # type: ignore[arg-type]
    wanted = interval([10, 11, 12, 13, 14], kind="percentile", resamples=1000)
    assert (point.value, point.low, point.high) == (12, wanted.low, wanted.high)
    assert point.spread == (2, 22)
    assert point.n == 5


def test_empty_values_are_left_out() -> None:
    found = points([*ROWS, row("a:0", "9", None), row("b:0", "1", None)])  # type: ignore[list-item]
    assert found[("a", "lime(samples=9)")].n == 5
    assert ("b", "lime(samples=9)") not in found


def test_an_axis_of_sizes_is_what_grew_from_random_weights() -> None:
    models = [
        {"grid": g, "base": b, "parameters": p, "pretrained": q}
        for g, b, p, q in (("a", "t5(layers=1)", 10, False), ("b", "t5(layers=2)", 20, False),
                           ("c", "folder", 30, True), ("d", "bert(layers=1)", 5, False))
    ]  # fmt: skip
    assert family_sizes(models) == {"t5": {"a": 10, "b": 20}}


def report_on(rows: list[dict[str, object]], models: list[dict[str, object]], folder: Path) -> ReportContext:
    return ReportContext((), Store(folder / "store"), rows, models, ["lime"], folder, "svg")


def test_a_plan_gets_lines_bars_and_curves(tmp_path: Path) -> None:
    models = [
        {"grid": g, "base": f"t5(layers={p})", "parameters": p, "pretrained": False} for g, p in (("a", 1), ("b", 2))
    ]
    evaluated = [*ROWS, *(row(f"{g}:0", str(i), i) for i in range(5) for g in "bc")]
    randomised = [
        row(f"{g}:0", str(i), 0.0, study="r", mode="cascading", block=b, spearman=b / 2)
        for i in range(3) for b in (0, 1) for g in "bac"
    ]  # fmt: skip
    measures = dict.fromkeys(("rank_change", "top_k_sum_change", "absolute_probability_change"), 0.5)
    attacked = [
        row(f"{g}:0", str(i), None, study="x", objective=o, **measures)
        for i in range(3) for o in ("prediction_kept", "probability_matched") for g in "abc"
    ]  # fmt: skip
    paths = draw(report_on(evaluated, models, tmp_path), evaluate_figures)
    paths += draw(report_on(randomised, models, tmp_path), randomise_figures)
    paths += draw(report_on(attacked, models, tmp_path), attack_figures)
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    assert names == {
        f"{study}by {what}.svg" for study in ("s/", "r/cascading ", "x/") for what in ("size of t5", "model")
    }


def test_studies_on_several_data_sets_are_not_mixed(tmp_path: Path) -> None:
    rows = [row("a:0", str(i), 1.0 * i, data=d) for i in range(3) for d in ("new", "old")]
    paths = draw(report_on(rows, [], tmp_path), evaluate_figures)
    names = [path.relative_to(tmp_path).as_posix() for path in paths]
    assert names == [
        "s on new/by model.svg",
        "s on old/by model.svg",
    ]


def drawn_text(path: Path) -> str:
    """What a figure says: matplotlib writes each text as a comment before its outlines."""
    return " ".join(re.findall(r"<!-- (.*?) -->", path.read_text()))


def test_the_legend_says_what_the_bands_are(tmp_path: Path) -> None:
    (panel,) = metric_panels(ROWS)  # type: ignore[arg-type]
    assert panel.label == "sufficiency ↓"
    words = drawn_text(lines([panel], {"a": 5.0}, tmp_path / "l.svg"))
    assert "95 % over 5 examples" in words
    assert "range of 3 trainings" in words
    assert "each of 3 trainings" in drawn_text(bars([panel], {"a": "A"}, tmp_path / "b.svg"))
    (one,) = metric_panels([r for r in ROWS if r["model"] == "a:0"])  # type: ignore[arg-type]
    assert "training" not in drawn_text(lines([one], {"a": 5.0}, tmp_path / "o.svg"))  # one has no range


def test_ten_methods_have_ten_colours() -> None:
    looks = method_styles([str(i) for i in range(40)], None).values()
    assert len({style.colour for style in list(looks)[:10]}) == 10
    assert len({(style.colour, style.marker) for style in looks}) == 40


def test_curves_start_at_one_and_run_from_the_last_block(tmp_path: Path) -> None:
    rows = [row("a:0", str(i), 0.0, mode="cascading", block=b, spearman=0.1 * b) for i in range(3) for b in range(3)]
    (panel,) = mode_panels(rows)["cascading"].values()
    first = {key: point for key, point in panel.points.items() if key[0] == 2}  # only the last block was re-initialised
    drawn: list[tuple[list[float], list[float]]] = []
    line = figures._line
    figures._line = lambda axis, xs, at, style, **more: drawn.append((list(xs), [p.value for p in at]))  # type: ignore[assignment]
    try:
        curves([replace(panel, dotted=first)], tmp_path / "c.png")
    finally:
        figures._line = line
    (xs, values), (dotted_xs, dotted) = drawn
    assert dotted_xs == [0, 1]
    np.testing.assert_allclose(dotted, [1, 0.2])
    assert xs == [0, 1, 2, 3]
    np.testing.assert_allclose(values, [1, 0.2, 0.1, 0])


def test_figures_are_written_and_the_same_twice(tmp_path: Path) -> None:
    (panel,) = metric_panels(ROWS)  # type: ignore[arg-type]
    for write in (lambda p: lines([panel], {"a": 5.0}, p), lambda p: bars([panel], {"a": "A"}, p)):
        first, second = (write(tmp_path / name).read_bytes() for name in ("1.svg", "2.svg"))
        assert first == second
        assert "lime" in drawn_text(tmp_path / "1.svg")


def test_without_the_extra_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "seaborn", None)
    assert not figures.available()
    with pytest.raises(AssayError, match=r"pip install 'assay\[plots\]'"):
        bars([Panel("", "", {})], {}, tmp_path / "x.png")
