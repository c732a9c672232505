"""assay.attack and what it returns: can the explanation be changed while the prediction stays?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from assay.core.types import Attribution, Example
from assay.evaluation.adversarial.top_k_attack import MEASURES, summary
from assay.reports import study_page as parts
from assay.reports.heat_maps import KEY, heat_map, pictures, shown_units
from assay.reports.method_style import MethodStyle, method_styles, short_names
from assay.reports.symbols import figures
from assay.statistics.sentences import listed
from assay.studies.attack.study import Attack

MEASURED = ("gradient", "gradient_x_input", "integrated_gradients(tolerance=0.05)")  # for the default methods
HEADS = {
    "rank_change": "rank change",
    "top_k_sum_change": "top-k sum change",
    "probability_change": "probability change",
    "absolute_probability_change": "… without sign",
    "succeeded": "succeeded",
}


@dataclass(frozen=True)
class Attacked(parts.StudyResult):
    """What an attack on explanations found."""

    study: Attack

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """Per method and objective: the mean of every measure as [value, low, high]."""
        return summary(self.rows)

    @property
    def verdict(self) -> list[str]:
        """One sentence per objective."""
        return [_sentence(o, [r for r in self.summary if r["objective"] == o]) for o in self.study.objectives]

    def html(self, command: str | None = None) -> str:
        """One self-contained page with original and attacked heat maps side by side."""
        who = method_styles(self.methods, None)
        scale = sum(row["epsilon_in_scale"] for row in self.rows) / len(self.rows)
        reach = sum(row["epsilon"] for row in self.rows) / len(self.rows)
        facts = parts.facts(
            self.model,
            self.data,
            [
                ("epsilon", f"{reach:.3g}", f"{scale:.3g} x the embeddings' root mean square"),
                ("top k", f"{self.study.share:.0%} of the units", "at least one"),
            ],
        )
        sections = {
            "What the attack changed": self._table(who),
            "Before and after": self._examples(who),
            "Reproduce": parts.reproduce(self.model, self.data, self.study, command),
        }
        title = f"Can explanations of {self.model.title} be changed while its prediction stays?"
        return parts.page(title, self.verdict, facts, sections)

    def _table(self, who: dict[str, MethodStyle]) -> str:
        head = "".join(f'<th scope="col" class="n">{HEADS[name]}</th>' for name in MEASURES)
        body = "".join(
            f'<tr><th scope="row">{who[row["method"]].html}<br><small>{row["objective"]}</small></th>'
            f"{''.join(_cell(row[name]) for name in MEASURES)}</tr>"
            for row in self.summary
        )
        note = (
            '<p class="note">Rank change: share of the top k places that another unit holds. Top-k sum change: what '
            "the original top k lost, in the units of the scores: not comparable between methods. Succeeded: share of "
            "inputs whose top k changed and lost within the constraint, which is the same class (prediction_kept) or a "
            f"probability within {self.study.matched:g} (probability_matched).{self._judges()}</p>"
        )
        columns = f'<thead><tr><th scope="col">method and objective</th>{head}</tr></thead>'
        return f'{note}<div class="scroll"><table>{columns}<tbody>{body}</tbody></table></div>'

    def _judges(self) -> str:
        """Which methods were measured by another one than the one attacked."""
        pairs = zip(self.study.methods, self.study.measured or (), strict=False)
        told = [f"{escape(str(b))} in place of {escape(str(a))}" for a, b in pairs if str(a) != str(b)]
        return f" Before and after were measured by {listed(told)}, which was attacked." if told else ""

    def _examples(self, who: dict[str, MethodStyle]) -> str:
        by_id = {example.id: example for example in self.data}
        shown = list(dict.fromkeys(row["example"] for row in self.rows if "original" in row))
        blocks = [self._example(i, by_id[name], name, who) for i, name in enumerate(shown)]
        return KEY + "".join(blocks)

    def _example(self, i: int, example: Example, name: str, who: dict[str, MethodStyle]) -> str:
        mine = [row for row in self.rows if row["example"] == name and "original" in row]
        below = pictures(self.model, example, i) if example.image is not None else ("", "")
        return before_and_after(f"{i + 1}. {name}", mine, example, who, below)


def before_and_after(
    title: str,
    rows: Sequence[dict[str, Any]],
    example: Example,
    who: dict[str, MethodStyle],
    below: tuple[str, str] = ("", ""),
) -> str:
    """One block per example: for each method the original heat map, then what each objective made of it.

    below: a picture under the first heat map and under the others.
    """
    blocks: dict[str, list[str]] = {}  # by method: one row of heat maps
    for row in rows:
        old, new = (Attribution.from_dict(row[key]) for key in ("original", "attacked"))
        window = shown_units([old, new])
        if row["method"] not in blocks:
            picture = below[1] if blocks else below[0]
            first = _figure(f"{who[row['method']].html} original", heat_map(old, example, window, picture))
            blocks[row["method"]] = [first]
        blocks[row["method"]].append(_figure(_caption(row), heat_map(new, example, window, below[1])))
    maps = "".join(f'<div class="maps">{"".join(figures)}</div>' for figures in blocks.values())
    label, p = escape(rows[0]["original"]["label"]), rows[0]["original"]["extra"]["probability"]
    head = f"<header><h3>{escape(title)}</h3><p>predicted <b>{label}</b> ({p:.0%})</p></header>"
    return f'<article class="ex">{head}{maps}</article>'


def _cell(found: Sequence[float]) -> str:
    value, interval = figures(*found)
    return f'<td class="n">{value}<small>{interval}</small></td>'


def _figure(caption: str, body: str) -> str:
    return f"<figure><figcaption>{caption}</figcaption>{body}</figure>"


def _caption(row: dict[str, Any]) -> str:
    old, new = (row[key]["extra"]["probability"] for key in ("original", "attacked"))
    sign = '<span class="bad nowrap">✗ changed</span>' if row["succeeded"] else '<span class="good nowrap">held</span>'
    if not row["within_constraint"]:
        sign = '<span class="open nowrap">outside its constraint</span>'
    return f"{row['objective']}: rank change {row['rank_change']:.0%}, p {old:.2f} → {new:.2f} {sign}"


def _sentence(objective: str, rows: Sequence[dict[str, Any]]) -> str:
    """On which share of the inputs each method's top was changed within the constraint."""
    kept = "the class kept" if objective == "prediction_kept" else "the probability matched"
    names = short_names([row["method"] for row in rows])
    shares = ", ".join(f"{names[row['method']]} {row['succeeded'][0]:.0%}" for row in rows)
    return f"With {kept}, the attack changes the top of the explanation on this share of inputs: {shares}."
