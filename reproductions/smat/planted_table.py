"""The table of planted heads, and its finding in a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_1samp

from assay.fitting.scaffold import VANISHED
from assay.statistics.bootstrap import Interval
from assay.statistics.sentences import listed

from .evidence import NONE
from .planted import BASE, CUES, EQUAL, PLANTED, SEEDS, SHUFFLED, TEST, Setting
from .published import OWN, SMAT, points
from .tables import NOT_RUN, table

Row = Mapping[str, Any]
Planted = Mapping[Setting, Sequence[Row]]  # the students of every seed, by setting
COLUMNS = (NONE, EQUAL, OWN, SMAT, SHUFFLED)
ERROR = 0.05  # chance that any of the intervals is wrong
POINT = 0.01  # a smaller gain does not matter


def read_planted(folder: Path) -> Planted:
    """The students of every setting that all seeds have."""
    path = folder / PLANTED
    out: dict[Setting, list[Row]] = {}
    for row in json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []:
        out.setdefault(Setting(**row["setting"]), []).append(row)
    return {setting: rows for setting, rows in out.items() if len(rows) == SEEDS}


def planted_table(found: Planted) -> str:
    if not found:
        return NOT_RUN
    note = (
        "SMaT itself, tested where the truth is known: of the teacher's heads, which are made up, some look at the\n"
        f"word that decides the class (one of {CUES}), the others at noise. Students are small and untrained. The\n"
        "first row is the base; every other row changes one thing. Mean agreement in percent over\n"
        f"{SEEDS} seeds, each with texts of its own, {TEST} of them for the test (8 seeds at first; the others were\n"
        f"added after these were seen). Gain of `{SMAT}`, the fresh student, with t intervals over seeds that hold\n"
        "together with 95 % confidence. A fit has *lost* the heads that know if they keep no weight: sparsemax and\n"
        "entmax give such heads no gradient.\n\n"
    )
    heads = ["heads that know", "texts", "beta", "normaliser", *COLUMNS, f"{SMAT} over {EQUAL}", "their weight", "lost"]
    order = sorted(found, key=_place)
    return note + table(heads, [_line(setting, found[setting], len(found)) for setting in order])


def planted_finding(found: Planted) -> str:
    """Where learnt heads gain over equal ones, and where not."""
    gains = {
        setting: gain(rows, len(found)) for setting, rows in sorted(found.items(), key=lambda item: _place(item[0]))
    }
    more = [f"{_name(s)} ({points(g)})" for s, g in gains.items() if g.low > 0 and g.value >= POINT]
    rest = [f"{_name(s)} ({points(g)})" for s, g in gains.items() if not (g.low > 0 and g.value >= POINT)]
    words = [f"teach a fresh student more than equal heads with {listed(more)}"] if more else []
    words += [f"no more was found with {listed(rest)}"] if rest else []
    if not words:
        return ""
    base = found.get(BASE, ())
    words += [f"with the base, {lost(base)} of {len(base)} fits lost the head that knows"] if base else []
    return f"- Planted heads, where the truth is known: heads that SMaT learnt {'; '.join(words)}.\n"


def gain(rows: Sequence[Row], settings: int = 1) -> Interval:
    """SMaT's fresh student over one that is taught by equal heads: a paired t interval over seeds (Bonferroni)."""
    differences = np.array([row[SMAT] - row[EQUAL] for row in rows])
    bounds = ttest_1samp(differences, 0.0).confidence_interval(1 - ERROR / settings)
    return Interval(float(differences.mean()), float(bounds.low), float(bounds.high), len(rows))


def lost(rows: Sequence[Row]) -> int:
    """Fits that gave the heads that know no weight."""
    return sum(row["weight"] < VANISHED for row in rows)


def _line(setting: Setting, rows: Sequence[Row], settings: int) -> list[str]:
    means = [f"{100 * np.mean([row[name] for row in rows]):.1f}" for name in COLUMNS]
    weight = f"{100 * np.mean([row['weight'] for row in rows]):.0f} %"
    return [
        f"{setting.knowing} of {setting.heads}",
        str(setting.texts),
        f"{setting.beta:g}",
        setting.normaliser,
        *means,
        points(gain(rows, settings)),
        weight,
        f"{lost(rows)} of {len(rows)}",
    ]


def _name(setting: Setting) -> str:
    """What differs from the base."""
    if (setting.knowing, setting.heads) != (BASE.knowing, BASE.heads):
        return f"{setting.knowing} of {setting.heads} heads"
    if setting.texts != BASE.texts:
        return f"{setting.texts} texts"
    if setting.beta != BASE.beta:
        return f"beta {setting.beta:g}"
    if setting.normaliser != BASE.normaliser:
        return setting.normaliser
    return f"{BASE.knowing} of {BASE.heads} heads, {BASE.texts} texts and beta {BASE.beta:g}"


def _place(setting: Setting) -> tuple[Any, ...]:
    """The base first, then what differs from it."""
    knowing = (setting.knowing, setting.heads)
    return (
        setting != BASE,
        knowing == (BASE.knowing, BASE.heads),
        knowing,
        setting.texts == BASE.texts,
        setting.texts,
        setting.beta,
        setting.normaliser,
    )
