"""No text of a user becomes markup: every template with a script in every field that a user controls."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import assay
from assay import Attribution, Example, Target, Unit
from assay.core.attributions import Attributions
from assay.core.render import environment
from assay.core.spec import parse
from assay.datasets.load import load_dataset
from assay.evaluation.adversarial.top_k_attack import TopKAttack
from assay.evaluation.sanity.layer_randomisation import LayerRandomisation
from assay.reports import plan_report
from assay.reports.heat_maps import LEVELS
from assay.reports.method_style import method_styles
from assay.studies.attack.page import attacked_example, examples_page
from assay.studies.attack.result import Attacked
from assay.studies.evaluate.page import page
from assay.studies.randomise.result import Randomised
from assay.studies.roar.curves import Curves
from assay.studies.roar.result import RoarResult
from toys import bert
from unit.reports.pages import Page, evaluated, texts

EVIL = "</title><script>alert('x')</script>\"&<"
PACKAGE = Path(assay.__file__).parent


class Opened(HTMLParser):
    """The tags that a browser would open and the attributes it would read."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def harmless(html: str, times: int) -> str:
    """The page has no script and shows the hostile text at least so often, and only as text."""
    Page(html)
    opened = Opened(html)
    assert "script" not in opened.tags
    assert not any(name.startswith("on") for name in opened.attributes)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= times
    return html


def hostile_data() -> Any:
    data = [replace(e, id=f"{EVIL} {i}", text=f"{EVIL} {e.text}", rationales=()) for i, e in enumerate(texts(3))]
    return replace(load_dataset(data), name=EVIL, split=EVIL)


def hostile_model() -> Any:
    model = bert()
    model.name, model.labels = EVIL, (EVIL, f"{EVIL} 1", f"{EVIL} 2")
    return model


def hostile_attribution(method: str = EVIL) -> Attribution:
    units = (Unit(EVIL, 0, 9), Unit("good", 10, 14))
    spec = replace(parse("lime"), name=method)
    extra = {"form": EVIL, "probability": 0.9}
    return Attribution(units, np.array([1.0, -0.5], np.float32), Target(1, None, "logit"), EVIL, spec, extra=extra)


def written(result: Any, tmp_path: Path) -> str:
    result.to_html(tmp_path / "page.html", EVIL)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_evaluation() -> None:
    result = evaluated(hostile_model(), hostile_data(), ("occlusion", "random"), ("sufficiency", "auprc"))
    named = replace(
        result.evaluation,
        **{
            field: {m.replace("occlusion", EVIL): value for m, value in getattr(result.evaluation, field).items()}
            for field in ("methods", "passes", "seconds", "shown")
        },
        values={
            metric: {m.replace("occlusion", EVIL): v for m, v in values.items()}
            for metric, values in result.evaluation.values.items()
        },
        curves={
            metric: {m.replace("occlusion", EVIL): v for m, v in curves.items()}
            for metric, curves in result.evaluation.curves.items()
        },
        agreement={pair.replace("occlusion", EVIL): v for pair, v in result.evaluation.agreement.items()},
    )
    html = harmless(page(type(result)(named), EVIL), times=30)
    for section in ("glance", "ranking", "curves", "agreement", "examples", "costs", "reproduce"):
        body = html.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        assert "script&gt;" in body, section


def test_randomisation(tmp_path: Path) -> None:
    rows = [
        {"method": m, "mode": mode, "block": b, "example": str(i), "seed": 0, "spearman": 0.9 - 0.1 * i, "value": 1.0}
        for m in (EVIL, "b") for mode in ("cascading", "independent") for b in (0, 1) for i in range(3)
    ]  # fmt: skip
    study = LayerRandomisation(methods=("gradient",))
    harmless(written(Randomised(hostile_model(), hostile_data(), study, rows), tmp_path), times=8)


def attack_rows(example: str) -> list[dict[str, Any]]:
    shown = hostile_attribution().to_dict()
    measures = dict.fromkeys(
        ("rank_change", "top_k_sum_change", "probability_change", "absolute_probability_change", "succeeded"), 0.5
    )
    more = {"epsilon": 1.0, "epsilon_in_scale": 2.0, "within_constraint": True, "original": shown, "attacked": shown}
    objectives = ("prediction_kept", "probability_matched")
    return [{"method": EVIL, "objective": o, "example": example, **measures, **more} for o in objectives]


def test_attack(tmp_path: Path) -> None:
    data = hostile_data()
    study = TopKAttack(methods=("gradient",))
    harmless(written(Attacked(hostile_model(), data, study, attack_rows(data[0].id)), tmp_path), times=8)


def test_heat_maps_of_attacks() -> None:
    example = Example(f"{EVIL} good", id=EVIL)
    shown = attacked_example(EVIL, attack_rows(EVIL), example, method_styles([EVIL], None))
    harmless(examples_page(EVIL, [EVIL, EVIL], {EVIL: [shown]}), times=6)


def test_roar(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    gold, ratios = rng.integers(0, 2, 40), [0.0, 0.5, 1.0]
    methods = ("random", EVIL)
    curves = Curves(
        study=EVIL,
        grid=EVIL,
        data=EVIL,
        base=EVIL,
        form="Measurable model",
        recursive=False,
        ratios=ratios,
        gold=gold,
        seeds={m: [0, 1] for m in methods},
        predicted={m: rng.integers(0, 2, (2, 3, 40)) for m in methods},
        seconds={m: {"explain": 1.0, "train": 2.0} for m in methods},
        outside={m: [0.05, 0.4, 0.05] for m in methods},
    )
    harmless(written(RoarResult([curves], "accuracy"), tmp_path), times=10)


def test_plan_report(tmp_path: Path) -> None:
    progress: Any = SimpleNamespace(
        plan=SimpleNamespace(name=EVIL),
        states={"a": "done", "b": "failed"},
        counts=lambda: {(EVIL, EVIL): Counter(done=1, failed=2)},
        why=lambda state: {EVIL: 2},
    )
    file = tmp_path / EVIL.replace("/", "_")
    html = plan_report._index(progress, {EVIL: file}, [file], [tmp_path / EVIL.replace("/", "_") / "x.png"], tmp_path)
    harmless(html, times=6)
    assert not any("<" in address or '"' in address for address in re.findall(r'(?:href|src)="([^"]*)"', html))


def test_explanations() -> None:
    attributions = Attributions([hostile_attribution(), hostile_attribution("lime")])
    harmless(attributions.to_html(), times=6)
    assert "<script" not in attributions._repr_html_()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.jinja")), ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape", text)
    assert environment().get_template(path.relative_to(PACKAGE).as_posix())  # compiles


def test_the_stylesheet_has_every_shade() -> None:
    css = (PACKAGE / "templates" / "style.css").read_text(encoding="utf-8")
    for shade in (f".{kind}{level} {{" for kind in "fa" for level in range(1, LEVELS + 1)):
        assert shade in css
    assert css.count("{") == css.count("}")
