"""assay.randomise and what it returns: does an explanation notice that the model is broken?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.sanity.layer_randomisation import summary
from assay.reports import study_page as parts
from assay.reports.method_style import MethodStyle, method_styles, short_names
from assay.reports.plots import along
from assay.reports.symbols import figures
from assay.statistics.sentences import listed
from assay.studies.randomise.study import Randomise

HALF = 0.5  # a mean correlation surely above it is kept, surely below it is lost
ABOUT = {
    "cascading": "From the last block down to the one named, all are drawn anew.",
    "independent": "Only the block named is drawn anew; all others keep what they learnt.",
}


@dataclass(frozen=True)
class Randomised(parts.StudyResult):
    """What a layer randomisation found."""

    study: Randomise

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """Per method, mode and block: mean Spearman correlation with its interval."""
        return summary(self.rows)

    def deepest(self, mode: str) -> dict[str, dict[str, Any]]:
        """Per method the summary where most of the model is gone (cascading) or at its lowest (independent)."""
        mine = [row for row in self.summary if row["mode"] == mode]
        if mode == "cascading":
            return {row["method"]: row for row in mine if row["block"] == 0}
        return {m: min((r for r in mine if r["method"] == m), key=lambda r: r["spearman"]) for m in self.methods}

    @property
    def verdict(self) -> list[str]:
        """One sentence per mode."""
        return [_sentence(mode, self.deepest(mode)) for mode in self.study.modes]

    def html(self, command: str | None = None) -> str:
        """One self-contained page with a curve over the blocks per method."""
        who = method_styles(self.methods, None)
        seeds = len(self.study.seeds)
        facts = parts.facts(
            self.model,
            self.data,
            [("methods", str(len(who)), ""), ("seeds", str(seeds), "draws of every block")],
        )
        sections = {mode.capitalize(): self._mode(mode, who) for mode in self.study.modes}
        sections["Reproduce"] = parts.reproduce(self.model, self.data, self.study, command)
        title = f"Do explanations of {self.model.title} depend on what it learnt?"
        return parts.page(title, self.verdict, facts, sections)

    def _mode(self, mode: str, who: dict[str, MethodStyle]) -> str:
        blocks = list(reversed(range(self.model.n_blocks)))
        curves = {m: _curve(self.rows, m, mode, blocks) for m in who}
        plot = along(curves, ["full", *(str(b + 1) for b in blocks)], who, mode, "block, last to first")
        note = (
            f'<p class="note">{ABOUT[mode]} Spearman\'s correlation of the scores with those of the whole model, mean '
            "over examples; bands are 95 % intervals. Blocks are counted from 1, the first after the embeddings. Where "
            "the model's output for the class explained stays, the blocks were not needed, and scores may stay too.</p>"
        )
        return f'{note}<div class="grid half"><figure>{plot}</figure>{self._table(mode, blocks, who)}</div>'

    def _table(self, mode: str, blocks: Sequence[int], who: dict[str, MethodStyle]) -> str:
        found = {(r["method"], r["block"]): r for r in self.summary if r["mode"] == mode}
        shown = list(dict.fromkeys([blocks[0], blocks[len(blocks) // 2], blocks[-1]]))
        head = "".join(f'<th scope="col" class="n">block {b + 1}</th>' for b in shown)
        body = "".join(
            f'<tr><th scope="row">{face.html}</th>{"".join(_cell(found.get((m, b))) for b in shown)}</tr>'
            for m, face in who.items()
        )
        output = "".join(f'<td class="n">{self._output(mode, b):.3g}</td>' for b in shown)
        scale = self.study.scale or f"as {short_names(self.methods)[self.methods[0]]} explains it"
        last = f'<tr><th scope="row">the model\'s output<br><small>{escape(scale)}</small></th>{output}</tr>'
        return f'<table><thead><tr><th scope="col">method</th>{head}</tr></thead><tbody>{body}{last}</tbody></table>'

    def _output(self, mode: str, block: int) -> float:
        """Mean output for the class explained; blocks that leave it alone were not needed, scores may stay as well."""
        where = (self.methods[0], mode, block)
        return float(np.mean([r["value"] for r in self.rows if (r["method"], r["mode"], r["block"]) == where]))


def _curve(rows: Sequence[dict[str, Any]], method: str, mode: str, blocks: Sequence[int]) -> NDArray[np.float64]:
    """(N,1+L): per example the mean over seeds, beginning with 1 for the whole model."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        if row["method"] == method and row["mode"] == mode and row["spearman"] is not None:
            found.setdefault(row["example"], {}).setdefault(row["block"], []).append(row["spearman"])
    return np.array([[1.0, *(float(np.mean(mine[b])) for b in blocks)] for mine in found.values()])


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return '<td class="n">–</td>'
    value, interval = figures(row["spearman"], row["low"], row["high"])
    return f'<td class="n"><b>{value}</b><small>{interval}</small></td>'


def _sentence(mode: str, deepest: dict[str, dict[str, Any]]) -> str:
    """Who loses its correlation, who keeps it, and who can be told neither."""
    names = short_names(list(deepest))
    deepest = {names[m]: row for m, row in deepest.items()}
    lost = [m for m, r in deepest.items() if r["high"] < HALF]
    kept = [m for m, r in deepest.items() if r["low"] > HALF]
    open_ = [m for m in deepest if m not in lost + kept]
    when = "With every block drawn anew" if mode == "cascading" else "With only the block that moves it most drawn anew"
    said = [f"{listed(lost)} {_verb(lost, 'falls', 'fall')} below a correlation of {HALF} with before"] if lost else []
    said += [f"{listed(kept)} {_verb(kept, 'stays', 'stay')} above {HALF}"] if kept else []
    said += [f"{listed(open_)} cannot be called either"] if open_ else []
    blame = " What needs nothing that the model has learnt does not explain it." if kept and mode == "cascading" else ""
    return f"{when}, {'; '.join(said)}.{blame}"


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many
