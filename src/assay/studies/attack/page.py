"""The page of an attack: what it changed, with heat maps before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.explanation_page import Picture
from assay.core.render import render
from assay.core.types import Attribution, Example
from assay.evaluation.adversarial.top_k_attack import MEASURES
from assay.reports.heat_maps import HeatMap, heat_map, picture, shown_units
from assay.reports.method_style import MethodStyle
from assay.reports.study_page import Fact, study_facts, study_warnings
from assay.reports.symbols import format_interval
from assay.statistics.sentences import listed
from assay.studies.attack.result import MEASURE_NAMES, Attacked

STEPS = {
    "sign": "along the sign of the gradient",
    "gradient": "along the gradient, which is tiny where the model is confident",
    "adam": "of Adam",
}


@dataclass(frozen=True)
class AttackedMap:
    """A heat map after an attack with one objective."""

    objective: str
    rank_change: str
    probability_before: str
    probability_after: str
    outcome: str  # changed, held or outside
    heat_map: HeatMap


@dataclass(frozen=True)
class MethodMaps:
    """The heat maps of one method: before, and after the attack with each objective."""

    style: MethodStyle
    original: HeatMap
    attacked: Sequence[AttackedMap]


@dataclass(frozen=True)
class AttackedExample:
    title: str
    label: str
    probability: str
    methods: Sequence[MethodMaps]


def page(result: Attacked, command: str | None = None) -> str:
    """The page; `command` is the command line that created it, if there was one."""
    styles = result.method_styles
    return render(
        "studies/attack/page.html.jinja",
        title=f"Can explanations of {result.model.title} be changed while its prediction stays the same?",
        verdict=result.verdict,
        warnings=study_warnings(result.data, result.preset),
        preset=result.preset,
        facts=study_facts(result.model, result.data, _facts(result), result.preset),
        measures=[MEASURE_NAMES[name] for name in MEASURES],
        rows=[
            (styles[row["method"]], row["objective"], [format_interval(*row[name]) for name in MEASURES])
            for row in result.summary
        ],
        matched=f"{result.study.matched:g}",
        measured_by=_measured_by(result),
        examples=_examples(result),
        command=command,
        settings=result.settings,
        intervals_over="examples",
    )


def examples_page(title: str, introduction: Sequence[str], sections: Mapping[str, Sequence[AttackedExample]]) -> str:
    """A page of heat maps only, in sections."""
    return render(
        "studies/attack/examples_page.html.jinja",
        title=title,
        verdict=introduction,
        warnings=[],
        facts=[],
        sections={name: examples for name, examples in sections.items() if examples},
        intervals_over="",
    )


def attacked_example(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    example: Example,
    styles: Mapping[str, MethodStyle],
    image: Picture | None = None,
) -> AttackedExample:
    """The heat maps of one example. rows: those of the study that hold attributions of this example."""
    by_method: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row)
    methods = []
    for method, of_method in by_method.items():
        methods.append(_method_maps(of_method, example, styles[method], image))
        image = image and image.reference
    original = rows[0]["original"]
    return AttackedExample(title, original["label"], f"{original['extra']['probability']:.0%}", methods)


def _method_maps(
    rows: Sequence[Mapping[str, Any]], example: Example, style: MethodStyle, image: Picture | None
) -> MethodMaps:
    pairs = [(Attribution.from_dict(row["original"]), Attribution.from_dict(row["attacked"])) for row in rows]
    original = heat_map(pairs[0][0], example, shown_units(pairs[0]), image)
    reference = image and image.reference
    attacked = [
        _attacked_map(row, heat_map(pair[1], example, shown_units(pair), reference))
        for row, pair in zip(rows, pairs, strict=True)
    ]
    return MethodMaps(style, original, attacked)


def _attacked_map(row: Mapping[str, Any], shown: HeatMap) -> AttackedMap:
    before, after = (f"{row[key]['extra']['probability']:.2f}" for key in ("original", "attacked"))
    outcome = "changed" if row["succeeded"] else "held"
    outcome = outcome if row["within_constraint"] else "outside"
    return AttackedMap(row["objective"], f"{row['rank_change']:.0%}", before, after, outcome, shown)


def _facts(result: Attacked) -> list[Fact]:
    epsilon, in_scale = (
        sum(row[name] for row in result.rows) / len(result.rows) for name in ("epsilon", "epsilon_in_scale")
    )
    return [
        Fact("epsilon", f"{epsilon:.3g}", f"{in_scale:.3g} × the root mean square of the embeddings"),
        Fact("steps", f"{result.study.steps} at most", STEPS[result.study.step]),
        Fact("top k", f"{result.study.share:.0%} of the units", "at least one"),
    ]


def _measured_by(result: Attacked) -> str:
    """The methods that were measured with other parameters than those attacked."""
    pairs = zip(result.study.methods, result.study.measured or (), strict=False)
    others = [f"{measured} instead of {attacked}" for attacked, measured in pairs if str(measured) != str(attacked)]
    return listed(others) if others else ""


def _examples(result: Attacked) -> list[AttackedExample]:
    by_id = {example.id: example for example in result.data}
    rows_of: dict[str, list[dict[str, Any]]] = {}
    for row in result.rows:
        if "original" in row:
            rows_of.setdefault(row["example"], []).append(row)
    return [
        attacked_example(f"{i}. {name}", rows, by_id[name], result.method_styles, picture(result.model, by_id[name]))
        for i, (name, rows) in enumerate(rows_of.items(), 1)
    ]
