"""How to reproduce an evaluation: the Python call, all settings, versions, and fingerprints of model and data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.names import shareable
from assay.core.spec import Spec
from assay.explainers.given import Given
from assay.masking.removal import removal_for
from assay.models.encode import TextEncoder
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.study import Evaluate


def python_call(evaluation: Evaluation) -> str:
    """The evaluation as a Python call; a model or data set that is not built in becomes a variable."""
    settings = evaluation.settings
    own = [str(Spec.of(m, full=False)) for m in evaluation.methods.values() if not isinstance(m, Given)]
    arguments: dict[str, Any] = {"methods": own, "metrics": list(evaluation.metrics)}
    if given := [name for name, method in evaluation.methods.items() if isinstance(method, Given)]:
        arguments["scores"] = {name: f"{name}.jsonl" for name in given}
    if settings["removal"] != removal_for(evaluation.model, None, warn=False).name:
        arguments["removal"] = settings["removal"]
    defaults = {"units": "token", "scope": None, "target": _default_target(evaluation), "scale": None}
    arguments |= {name: settings[name] for name, default in defaults.items() if settings[name] != default}
    draws = settings.get("draws", 1)  # of one draw the settings say nothing
    if draws != Evaluate.draws and any(method.facts.chance for method in evaluation.methods.values()):
        arguments["draws"] = draws
    if is_ranked(settings):
        arguments["special_tokens"] = "ranked"
    if settings["agreement"][0] != "spearman":
        arguments["agreement"] = settings["agreement"][0]
    if evaluation.margin is not None:
        arguments["margin"] = evaluation.margin
    arguments |= {"limit": len(evaluation.dataset), "seed": settings["seed"]}
    model = _literal(evaluation.model.name, "model")
    data = _literal(evaluation.dataset.name, "dataset")
    lines = "".join(f"    {name}={_written(value)},\n" for name, value in arguments.items())
    return f"import assay\n\nresult = assay.evaluate(\n    {model},\n    {data},\n{lines})"


def _default_target(evaluation: Evaluation) -> str:
    """What the default comes to: auto is the predicted class where no metric uses rationales."""
    return "auto" if any(metric.facts.rationales for metric in evaluation.metrics.values()) else "predicted"


def _written(value: Any) -> str:
    """A Python literal; a long list takes one line per item."""
    if len(repr(value)) < 60 or not isinstance(value, list):
        return repr(value)
    return "[\n" + "".join(f"        {item!r},\n" for item in value) + "    ]"


def _literal(name: str, variable: str) -> str:
    return repr(name) if name == "builtin" else variable


def settings_words(evaluation: Evaluation) -> dict[str, str]:
    """Every setting that changes a number, in words."""
    settings, model, data = evaluation.settings, evaluation.model, evaluation.dataset
    split = f", {data.split}" if data.split else ""
    words = {
        "model": f"{shareable(model.name)} ({model.family.name}, {model.task}: {', '.join(model.labels)})",
        "answers of the model": model.reading,
        "model fingerprint": model.fingerprint,
        "data": f"{shareable(data.name)}{split}, {len(data)} examples",
        "data fingerprint": data.fingerprint,
        "seed": str(settings["seed"]),
        "explained class": "gold for metrics that use rationales, else predicted"
        if settings["target"] == "auto"
        else settings["target"],
        "scale of the methods": settings["scale"] or "each method's own",
        "smallest difference that matters": "" if evaluation.margin is None else str(evaluation.margin),
        "units": units_in_words(evaluation),
        "draws of methods of pure chance": str(settings.get("draws", "")),
        "removal by the methods": settings["removal"],
        "prompt": settings["prompt"] or "",
        "versions": ", ".join(f"{name} {version}" for name, version in evaluation.provenance.items()),
    }
    return {name: value for name, value in words.items() if value}


def is_ranked(settings: Mapping[str, Any]) -> bool:
    """Whether special tokens are units too."""
    return settings.get("special_tokens") == "ranked"  # absent where they are protected


def units_in_words(evaluation: Evaluation) -> str:
    """What gets a score; an image is divided into patches whatever the setting, which speaks of texts."""
    settings = evaluation.settings
    kind = settings["units"] if isinstance(evaluation.model.encoder, TextEncoder) else "patch"
    scope = "" if settings["scope"] is None else f", {settings['scope']} only"
    return f"{kind}{scope}{', special tokens are ranked too' if is_ranked(settings) else ''}"


def specs(evaluation: Evaluation) -> dict[str, str]:
    """Methods and metrics with all parameters, and the revision of their implementation."""
    parameters = {**evaluation.settings["methods"], **evaluation.settings["metrics"]}
    return {
        name: f"{spec}, revision {revision}{f', source {source[0]}' if source else ''}"
        for name, (spec, revision, *source) in parameters.items()
    }
