"""Draw the figures of the results page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.curves import curves as scores_of
from assay.reports.aggregate import Point
from assay.reports.figures import Panel, over
from assay.studies.roar.curves import Curves

from .evidence import IG, LSTM, TRANSFORMER, Evidence
from .records import SCORES

ORDER = ("attention", "gradient", "input x gradient", IG, "weighted IG", "occlusion", "random")


def points(part: Curves, score: Score) -> dict[tuple[float, str], Point]:
    """(masked, measure): the mean with its band, and every seed."""
    out = {}
    for method, band in part.bands(score).items():
        seeds = scores_of(part.predicted[method], part.gold, score)[0]  # (S,I)
        for i, masked in enumerate(part.axis):
            mean, low, high = float(band.mean[i]), float(band.low[i]), float(band.high[i])
            out[masked, method] = Point(mean, low, high, tuple(seeds[:, i].tolist()), len(part.gold))
    return out


def curve_panels(e: Evidence, study: str, model: str, dotted_study: str | None = None) -> list[Panel]:
    """A panel per data set; with `dotted_study` only data sets that have both, its curves dotted."""
    panels = []
    for (place, name), part in e.curves.items():
        if name == study and place[1] == model:
            other = e.curves.get((place, dotted_study)) if dotted_study else None
            dotted = {} if other is None else points(other, SCORES[place])
            dotted = {key: point for key, point in dotted.items() if key[1] != "random"}  # the same in both studies
            if dotted_study is None or dotted:
                panels.append(Panel(place[0], SCORES[place], points(part, SCORES[place]), dotted))
    return panels


def sparsity_panels(e: Evidence, model: str, prefix: str) -> list[Panel]:
    """A panel per data set of the masses whose name starts with `prefix`: "top_" or "share_"."""
    panels = []
    for (place, study), part in e.curves.items():
        if study == "recursive" and place[1] == model and part.masses:
            masses = {
                (int(name.removeprefix(prefix)), m): _over_seeds(seeds)
                for m, values in part.masses.items()
                for name, seeds in values.items()
                if name.startswith(prefix)
            }
            panels.append(Panel(place[0], "share of the mass", masses))
    return panels


def _over_seeds(values: Sequence[float]) -> Point:
    """The mean without a band, and every seed."""
    mean = float(np.mean(values))
    return Point(mean, mean, mean, tuple(values), 0)


def synthetic_panel(e: Evidence) -> Panel:
    curve = {(k, name): Point(v, v, v, (v,), 0) for name, row in e.synthetic.items() for k, v in enumerate(row)}
    return Panel("", "test accuracy", curve)


def draw(e: Evidence, folder: Path) -> dict[str, str]:
    """Draw every figure that has results. Returns file name -> title."""
    masked, words = "% of words masked", "words masked"
    figures = {
        "synthetic": ("3: the synthetic problem", [synthetic_panel(e)], "features removed", ""),
        "recursive_lstm": ("4: Recursive ROAR, LSTM", curve_panels(e, "recursive", LSTM), masked, ""),
        "recursive_transformer": ("4: Recursive ROAR, MiniLM", curve_panels(e, "recursive", TRANSFORMER), masked, ""),
        "sparsity_top": ("5: mass of the top words, LSTM", sparsity_panels(e, LSTM, "top_"), "top words", ""),
        "sparsity_share": ("6: mass of the top share, LSTM", sparsity_panels(e, LSTM, "share_"), "% of words", ""),
        "words": ("7: number of words instead of shares, LSTM", curve_panels(e, "words", LSTM), words, ""),
        "roar_lstm": (
            "8: ROAR and Recursive ROAR, LSTM",
            curve_panels(e, "recursive", LSTM, "roar"),
            masked,
            "ROAR",
        ),
        "roar_transformer": (
            "9: ROAR and Recursive ROAR, MiniLM",
            curve_panels(e, "recursive", TRANSFORMER, "roar"),
            masked,
            "ROAR",
        ),
        "measurable": ("Beyond the paper: a measurable model", curve_panels(e, "measurable", LSTM), masked, ""),
    }
    titles = {}
    for name, (title, panels, axis, note) in figures.items():
        if panels:
            over(panels, folder / f"{name}.png", axis, note=note, order=ORDER)
            titles[name] = title
    return titles
