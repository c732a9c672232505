"""The figures of the results page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gathered import SCORES
from weighed import IG, LSTM, TRANSFORMER, Evidence

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.curves import curves as scores_of
from assay.reports.aggregate import Point
from assay.reports.figures import Panel, over
from assay.studies.roar.curves import Curves

ORDER = ("attention", "gradient", "input x gradient", IG, "weighted IG", "occlusion", "random")


def points(part: Curves, score: Score) -> dict[tuple[float, str], Point]:
    """(what is masked, measure): mean with its band, and every seed."""
    out = {}
    for method, band in part.bands(score).items():
        seeds = scores_of(part.predicted[method], part.gold, score)[0]  # (S,I)
        for i, masked in enumerate(part.axis):
            where = float(band.mean[i]), float(band.low[i]), float(band.high[i])
            out[masked, method] = Point(*where, tuple(seeds[:, i].tolist()), len(part.gold))
    return out


def panels(e: Evidence, study: str, model: str, dotted: str | None = None) -> list[Panel]:
    made = []
    for (place, name), part in e.curves.items():
        if name == study and place[1] == model:
            other = e.curves.get((place, dotted)) if dotted else None
            drawn = {} if other is None else points(other, SCORES[place])
            drawn = {key: point for key, point in drawn.items() if key[1] != "random"}  # it is the same
            if dotted is None or drawn:
                made.append(Panel(place[0], SCORES[place], points(part, SCORES[place]), drawn))
    return made


def sparsity_panels(e: Evidence, model: str, kind: str) -> list[Panel]:
    made = []
    for (place, study), part in e.curves.items():
        if study == "recursive" and place[1] == model and part.masses:
            at = {
                (int(name.removeprefix(kind)), m): _over_seeds(seeds)
                for m, values in part.masses.items()
                for name, seeds in values.items()
                if name.startswith(kind)
            }
            made.append(Panel(place[0], "share of the mass", at))
    return made


def _over_seeds(values: Sequence[float]) -> Point:
    """Their mean and range; what one seed says stands without a band."""
    mean = float(np.mean(values))
    return Point(mean, mean, mean, tuple(values), 0)


def synthetic_panel(e: Evidence) -> Panel:
    at = {(k, name): Point(v, v, v, (v,), 0) for name, row in e.synthetic.items() for k, v in enumerate(row)}
    return Panel("", "test accuracy", at)


def draw(e: Evidence, folder: Path) -> dict[str, str]:
    """Every figure that the evidence allows: file name -> what the paper calls it."""
    masked, words = "% of words masked", "words masked"
    wanted = {
        "synthetic": ("3: the synthetic problem", [synthetic_panel(e)], "features removed", ""),
        "recursive_lstm": ("4: Recursive ROAR, LSTM", panels(e, "recursive", LSTM), masked, ""),
        "recursive_transformer": ("4: Recursive ROAR, MiniLM", panels(e, "recursive", TRANSFORMER), masked, ""),
        "sparsity_top": ("5: mass of the top words, LSTM", sparsity_panels(e, LSTM, "top_"), "top words", ""),
        "sparsity_share": ("6: mass of the top share, LSTM", sparsity_panels(e, LSTM, "share_"), "% of words", ""),
        "words": ("7: words instead of shares, LSTM", panels(e, "words", LSTM), words, ""),
        "roar_lstm": ("8: ROAR against Recursive ROAR, LSTM", panels(e, "recursive", LSTM, "roar"), masked, "ROAR"),
        "roar_transformer": ("9: the same with MiniLM", panels(e, "recursive", TRANSFORMER, "roar"), masked, "ROAR"),
        "measurable": ("Beyond the paper: a measurable model", panels(e, "measurable", LSTM), masked, ""),
    }
    made = {}
    for name, (title, found, axis, note) in wanted.items():
        if found:
            over(found, folder / f"{name}.png", axis, note=note, order=ORDER)
            made[name] = title
    return made
