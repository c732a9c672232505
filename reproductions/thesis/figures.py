"""The figures of the thesis, with their numbers there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.errors import InputError
from assay.reports.aggregate import points
from assay.reports.figures import Panel, bars, curves, lines

from .claims import COMP, GTO, KEPT, MATCHED, RANK, SUFF
from .evidence import ARCHITECTURES, CONTROLS, NAMES, SHORT, SINGLE, SIZES, TOP, Evidence, Row, bare

LABELS = {GTO: "Ground Truth Overlap", RANK: "Mean Rank %", COMP: "Comprehensiveness", SUFF: "Sufficiency",
          "rank_change": "Rank Change", "top_k_sum_change": "Top-k Sum Change",
          "absolute_probability_change": "|Probability Change|"}  # fmt: skip
MEASURES = ("rank_change", "top_k_sum_change", "absolute_probability_change")
ORDER = tuple(SHORT)  # one colour per method in all figures
PLAIN = (*SINGLE, "random")
ENSEMBLE = ("thesis_top3", "thesis_all", *TOP)


@dataclass(frozen=True)
class Figure:
    """A figure: file name, title in the thesis, and a function that draws it (False if its rows are missing)."""

    name: str
    title: str
    draw: Callable[[Evidence, Path], bool]


def _select(e: Evidence, data: str, study: str, grids: Sequence[str], methods: Sequence[str]) -> list[Row]:
    """The rows of a study; an evaluation is shown with the random rankings, which have a study of their own."""
    studies = (study, CONTROLS) if study in ("probability", "logit") else (study,)
    return [
        {**row, "method": bare(row["method"])}
        for row in e.rows.get(data, ())
        if row["study"] in studies and row["grid"] in grids and bare(row.get("method", "")) in methods
    ]


def _panel(rows: Sequence[Row], metric: str, title: str = "", dotted: Sequence[Row] = ()) -> Panel:
    def of(part: Sequence[Row]) -> dict[Any, Any]:
        chosen = [row for row in part if "metric" not in row or bare(row["metric"]) == metric]
        by_key = points(chosen, value="value" if chosen and "metric" in chosen[0] else metric)
        return {key: by_key[key] for key in sorted(by_key, key=lambda key: ORDER.index(key[1]))}

    return Panel(title, LABELS[metric], of(rows), of(dotted))


def _by_size(metrics: Sequence[str], methods: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows, logit = (_select(e, "sst", study, SIZES, methods) for study in ("probability", "logit"))
        logit = [row for row in logit if row["method"] != "random"]
        panels = [_panel(rows, metric, dotted=logit if methods == PLAIN else ()) for metric in metrics]
        panels = [panel for panel in panels if panel.points]
        if panels:
            lines(panels, _parameters(e), path, order=ORDER, note="gradients of the logit")
        return bool(panels)

    return draw


def _by_architecture(data: str, metrics: Sequence[str], methods: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        panels = []
        for study in ("probability", "logit"):
            rows = _select(e, data, study, _explained(e, data, study), methods)
            if rows and (study == "probability" or methods == PLAIN):
                panels += [_panel(rows, metric, f"explaining the {study}") for metric in metrics]
        if panels:
            bars(panels, NAMES, path, order=ORDER)
        return bool(panels)

    return draw


def _explained(e: Evidence, data: str, study: str) -> list[str]:
    """The architectures that a study explained: random rankings alone are no figure."""
    grids = {row["grid"] for row in e.rows.get(data, ()) if row["study"] == study}
    return [grid for grid in ARCHITECTURES if grid in grids]


def _randomised(data: str, mode: str, grids: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        probability, logit = ({grid: _by_block(e, data, study, mode, grid) for grid in grids}
                        for study in ("randomisation", "randomisation_logit"))  # fmt: skip
        panels = [
            Panel(NAMES.get(grid, grid), "Spearman ρ", probability[grid], logit[grid], limits=(-0.6, 1.05))
            for grid in grids
            if probability[grid]
        ]
        if panels:
            curves(panels, path, order=ORDER, note="gradients of the logit")
        return bool(panels)

    return draw


def _by_block(e: Evidence, data: str, study: str, mode: str, grid: str) -> dict[tuple[Any, str], Any]:
    rows = [row for row in _select(e, data, study, [grid], SINGLE) if row["mode"] == mode]
    return {(block, method): p for (block, method), p in points(rows, ("block", "method"), "spearman").items()}


def _attacked_sizes(study: str) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows = _select(e, "sst", study, SIZES, SINGLE)
        unconstrained, constrained = ([row for row in rows if row["objective"] == o] for o in (KEPT, MATCHED))
        if rows:
            panels = [_panel(unconstrained, measure, dotted=constrained) for measure in MEASURES]
            lines(panels, _parameters(e), path, order=ORDER, note="constrained (probability matched)")
        return bool(rows)

    return draw


def _attacked(data: str, study: str = "attack") -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows = _select(e, data, study, ARCHITECTURES, SINGLE)
        both = {o: [row for row in rows if row["objective"] == o] for o in (MATCHED, KEPT)}
        words = {MATCHED: "constrained", KEPT: "unconstrained"}
        if rows:
            pairs = [_same_axis([_panel(both[o], m, words[o]) for o in both]) for m in MEASURES]
            bars([panel for pair in pairs for panel in pair], NAMES, path, order=ORDER)
        return bool(rows)

    return draw


def _same_axis(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with a common y axis."""
    values = [p for panel in panels for p in panel.points.values()]
    low, high = min(0.0, *(min(p.low, *p.runs) for p in values)), max(1e-3, *(max(p.high, *p.runs) for p in values))
    room = 0.05 * (high - low)
    return [replace(panel, limits=(low - room * (low < 0), high + room)) for panel in panels]


def _parameters(e: Evidence) -> dict[str, float]:
    """The sizes on the x axis; without one its points would be left out in silence."""
    sizes = {row["grid"]: row["parameters"] for row in e.models if row["grid"] in SIZES}
    unknown = [grid for grid, size in sizes.items() if not size]
    if unknown:
        raise InputError(f"the index has no size of {', '.join(unknown)}; run --update where the trained models are")
    return {grid: float(size) for grid, size in sizes.items()}


FIGURES = (
    Figure("sizes_ground_truth", "4.1: ground truth over size, augmented SST", _by_size((GTO, RANK), PLAIN)),
    Figure("sizes_faithfulness", "4.2: faithfulness over size, augmented SST", _by_size((COMP, SUFF), PLAIN)),
    Figure("sizes_cascading", "4.6: cascading randomisation, sizes", _randomised("sst", "cascading", SIZES)),
    Figure("sizes_independent", "4.7: independent randomisation, sizes", _randomised("sst", "independent", SIZES)),
    Figure("sizes_ensembles", "4.8, 4.9: ensembles over size", _by_size((GTO, RANK, COMP, SUFF), ENSEMBLE)),
    Figure("sizes_attack", "4.10, 4.11: attacks over size", _attacked_sizes("attack")),
    Figure("sizes_attack_logit", "4.10, 4.11 with gradients of the logit", _attacked_sizes("attack_logit")),
    Figure("architectures_ground_truth", "4.12: ground truth, architectures",
           _by_architecture("sst", (GTO, RANK), PLAIN)),
    Figure("architectures_faithfulness", "4.13: faithfulness, architectures",
           _by_architecture("sst", (COMP, SUFF), PLAIN)),
    Figure("mnli_faithfulness", "4.14: faithfulness on MultiNLI", _by_architecture("mnli", (COMP, SUFF), PLAIN)),
    Figure("esnli_faithfulness", "4.15: faithfulness on e-SNLI", _by_architecture("esnli", (COMP, SUFF), PLAIN)),
    Figure("esnli_plausibility", "4.16: plausibility on e-SNLI", _by_architecture("esnli", (GTO, RANK), PLAIN)),
    Figure("architectures_cascading", "4.17: cascading randomisation, architectures",
           _randomised("sst", "cascading", ARCHITECTURES)),
    Figure("architectures_independent", "4.18: independent randomisation, architectures",
           _randomised("sst", "independent", ARCHITECTURES)),
    Figure("architectures_ensembles", "4.19, 4.20: ensembles, architectures",
           _by_architecture("sst", (GTO, RANK, COMP, SUFF), ENSEMBLE)),
    Figure("architectures_attack", "4.21 to 4.23: attacks, architectures", _attacked("sst")),
    Figure("architectures_attack_logit", "4.21 to 4.23 with gradients of the logit", _attacked("sst", "attack_logit")),
    Figure("mnli_attack", "4.24 to 4.26: attacks on MultiNLI", _attacked("mnli")),
    Figure("mnli_cascading", "A.5: cascading randomisation, MultiNLI", _randomised("mnli", "cascading", ARCHITECTURES)),
    Figure("mnli_independent", "A.6: independent randomisation, MultiNLI",
           _randomised("mnli", "independent", ARCHITECTURES)),
    Figure("esnli_cascading", "A.7: cascading randomisation, e-SNLI",
           _randomised("esnli", "cascading", ARCHITECTURES)),
    Figure("esnli_independent", "A.8: independent randomisation, e-SNLI",
           _randomised("esnli", "independent", ARCHITECTURES)),
    Figure("mnli_ensembles", "B.3: ensembles on MultiNLI", _by_architecture("mnli", (COMP, SUFF), ENSEMBLE)),
    Figure("esnli_ensembles", "B.4: ensembles on e-SNLI", _by_architecture("esnli", (COMP, SUFF), ENSEMBLE)),
    Figure("esnli_attack", "C.5, C.6: attacks on e-SNLI", _attacked("esnli")),
)  # fmt: skip
