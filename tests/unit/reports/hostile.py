"""Every page of the product with a script in every field that a user controls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import numpy as np

from assay import Attribution, Example, Target, Unit
from assay.core.attributions import Attributions
from assay.core.spec import parse
from assay.datasets.load import load_dataset
from assay.evaluation.adversarial.top_k_attack import TopKAttack
from assay.evaluation.sanity.layer_randomisation import LayerRandomisation
from assay.reports import plan_report
from assay.reports.method_style import method_styles
from assay.studies.attack.page import attacked_example, examples_page
from assay.studies.attack.result import Attacked
from assay.studies.evaluate.page import page
from assay.studies.randomise.result import Randomised
from assay.studies.roar.curves import Curves
from assay.studies.roar.result import RoarResult
from toys import bert
from unit.reports.pages import evaluated, texts

EVIL = "</title><script>alert('x')</script>\"&<"


def hostile_data() -> Any:
    data = [replace(e, id=f"{EVIL} {i}", text=f"{EVIL} {e.text}", rationales=()) for i, e in enumerate(texts(3))]
    return replace(load_dataset(data), name=EVIL, split=EVIL)


def hostile_model() -> Any:
    model = bert()
    model.name, model.labels = EVIL, (EVIL, f"{EVIL} 1")
    return model


def hostile_attribution(method: str = EVIL) -> Attribution:
    units = (Unit(EVIL, 0, 9), Unit("good", 10, 14))
    spec = replace(parse("lime"), name=method)
    extra = {"form": EVIL, "probability": 0.9}
    return Attribution(units, np.array([1.0, -0.5], np.float32), Target(1, None, "logit"), EVIL, spec, extra=extra)


def written(result: Any) -> str:
    path = Path(mkdtemp()) / "page.html"
    result.to_html(path, EVIL)
    return path.read_text(encoding="utf-8")


def evaluation_page() -> str:
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
    return page(type(result)(named), EVIL)


def randomised() -> Randomised:
    rows = [
        {"method": m, "mode": mode, "block": b, "example": str(i), "seed": 0, "spearman": 0.9 - 0.1 * i, "value": 1.0}
        for m in (EVIL, "b") for mode in ("cascading", "independent") for b in (0, 1) for i in range(3)
    ]  # fmt: skip
    study = LayerRandomisation(methods=("gradient",))
    return Randomised(hostile_model(), hostile_data(), study, rows)


def randomisation_page() -> str:
    return written(randomised())


def attack_rows(example: str) -> list[dict[str, Any]]:
    shown = hostile_attribution().to_dict()
    measures = dict.fromkeys(
        ("rank_change", "top_k_sum_change", "probability_change", "absolute_probability_change", "succeeded"), 0.5
    )
    more = {
        "epsilon": 1.0,
        "epsilon_in_scale": 2.0,
        "moved": 1.5,
        "within_constraint": True,
        "original": shown,
        "attacked": shown,
    }
    objectives = ("prediction_kept", "probability_matched")
    return [{"method": EVIL, "objective": o, "example": example, **measures, **more} for o in objectives]


def attacked() -> Attacked:
    data = hostile_data()
    study = TopKAttack(methods=("gradient",))
    return Attacked(hostile_model(), data, study, attack_rows(data[0].id))


def attack_page() -> str:
    return written(attacked())


def attacked_heat_maps_page() -> str:
    example = Example(f"{EVIL} good", id=EVIL)
    shown = attacked_example(EVIL, attack_rows(EVIL), example, method_styles([EVIL], None))
    return examples_page(EVIL, [EVIL, EVIL], {EVIL: [shown]})


def roar() -> RoarResult:
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
    return RoarResult([curves], "accuracy")


def roar_page() -> str:
    return written(roar())


def plan_report_page() -> str:
    progress: Any = SimpleNamespace(
        plan=SimpleNamespace(name=EVIL),
        states={"a": "done", "b": "failed"},
        counts=lambda: {(EVIL, EVIL): Counter(done=1, failed=2)},
        why=lambda state: {EVIL: 2},
        retrained=lambda: {EVIL: 2},
    )
    folder = Path("report")
    file = folder / EVIL.replace("/", "_")
    return plan_report._index(progress, {EVIL: file}, [file], [file / "x.png"], folder)


def explanations_page() -> str:
    return Attributions([hostile_attribution(), hostile_attribution("lime")]).to_html()


PAGES = {
    "evaluate": evaluation_page,
    "randomise": randomisation_page,
    "attack": attack_page,
    "attacked heat maps": attacked_heat_maps_page,
    "roar": roar_page,
    "plan report": plan_report_page,
    "explanations": explanations_page,
}
