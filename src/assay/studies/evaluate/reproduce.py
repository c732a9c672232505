"""How to get the same numbers again: the call, the versions, the settings, and the fingerprints of model and data."""

from __future__ import annotations

from html import escape
from typing import Any

from assay.core.spec import Spec
from assay.masking.removal import removal_for
from assay.reports.study_page import pairs
from assay.studies.evaluate.evaluation import Evaluation


def python_call(evaluation: Evaluation) -> str:
    """The same evaluation as a call. What is not built in is a variable: only its fingerprint can name it."""
    settings = evaluation.settings
    given: dict[str, Any] = {
        "methods": [str(Spec.of(made, full=False)) for made in evaluation.methods.values()],
        "metrics": list(evaluation.metrics),
    }
    if settings["removal"] != removal_for(evaluation.model, None, warn=False).name:
        given["removal"] = settings["removal"]
    usual = {"units": "token", "scope": None, "target": "predicted"}
    given |= {name: settings[name] for name, default in usual.items() if settings[name] != default}
    if settings["agreement"][0] != "spearman":
        given["agreement"] = settings["agreement"][0]
    given |= {"limit": len(evaluation.dataset), "seed": settings["seed"]}
    model = _literal(evaluation.model.name, "model")
    data = _literal(evaluation.dataset.name, "dataset")
    lines = "".join(f"    {name}={_written(value)},\n" for name, value in given.items())
    return f"import assay\n\nresult = assay.evaluate(\n    {model},\n    {data},\n{lines})"


def _written(value: Any) -> str:
    """A literal; a long list takes a line per item."""
    if len(repr(value)) < 60 or not isinstance(value, list):
        return repr(value)
    return "[\n" + "".join(f"        {item!r},\n" for item in value) + "    ]"


def _literal(name: str, variable: str) -> str:
    return repr(name) if name == "builtin" else variable


def settings_words(evaluation: Evaluation) -> dict[str, str]:
    """Every setting that changes a number, for people."""
    settings, model, data = evaluation.settings, evaluation.model, evaluation.dataset
    split = f", {data.split}" if data.split else ""
    out = {
        "model": f"{model.name} ({model.family.name}, {model.task}: {', '.join(model.labels)})",
        "model fingerprint": model.fingerprint,
        "data": f"{data.name}{split}, {len(data)} examples",
        "data fingerprint": data.fingerprint,
        "seed": str(settings["seed"]),
        "explained class": settings["target"],
        "units": settings["units"] if settings["scope"] is None else f"{settings['units']}, {settings['scope']} only",
        "removal by methods": settings["removal"],
        "prompt": settings["prompt"] or "",
        "versions": ", ".join(f"{name} {version}" for name, version in evaluation.provenance.items()),
    }
    return {name: value for name, value in out.items() if value}


def specs(evaluation: Evaluation) -> dict[str, str]:
    """Methods and metrics with every parameter and the revision of their numbers."""
    both = {**evaluation.settings["methods"], **evaluation.settings["metrics"]}
    return {name: f"{spec}, revision {revision}" for name, (spec, revision) in both.items()}


def reproduce(evaluation: Evaluation, command: str | None) -> str:
    """Command or call, then all settings."""
    shell = f"<p>On the command line:</p><pre>{escape(command)}</pre>" if command else ""
    call = f"<p>In Python:</p><pre>{escape(python_call(evaluation))}</pre>"
    return f"{shell}{call}{pairs(settings_words(evaluation), 'wide')}{_specs(evaluation)}"


def _specs(evaluation: Evaluation) -> str:
    return f"<h3>Methods and metrics in full</h3>{pairs(specs(evaluation), 'wide')}"
