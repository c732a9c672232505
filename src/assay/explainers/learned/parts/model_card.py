"""The README of a fitted explainer: what it explains, how it was fitted, how good it is, and where it may fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.explainers.learned.parts.worth import control_name, doubt

OBJECTIVES = {
    "logistic": "parts of the log-odds, learnt by logistic regression on the outputs of masked texts",
    "shapley": "Shapley values, learnt from the outputs of masked texts (FastSHAP)",
    "masking": "masks that keep the prediction, learnt by attributive masking (AML)",
    "both": "Shapley values and masks together",
}


def model_card(card: Mapping[str, Any], name: str = "FOLDER") -> str:
    """Plain English in Markdown; name: the folder or hub id that a reader would load."""
    outputs = ", ".join(map(str, card["labels"]))
    lines = [
        "---",
        "library_name: assay",
        "tags: [explainability, attribution]",
        "---",
        "",
        f"# An explainer of {card['model']}",
        "",
        f"It explains the predictions of **{card['model']}** ({card['task']}; outputs: {outputs}) with the method "
        f"`{card['method']}` of Assay, and is of use for that model only (fingerprint `{_fingerprint(card)}`).",
        "",
        "```python",
        "import assay",
        f'explainer = assay.load_explainer("{name}")',
        'assay.explain(model, "a modest pleasure", explainer)',
        "```",
        "",
        *_fit(card),
        *_quality(card),
        "## Where it may fail",
        "",
        "It has learnt from texts of one kind. On texts of another kind, and after any change to the model, its scores "
        "can be wrong without a sign of it.",
        "",
    ]
    return "\n".join(lines)


def _fit(card: Mapping[str, Any]) -> list[str]:
    train, validation, removal = card["data"]["train"], card["data"]["validation"], card.get("removal")
    given = card["settings"]
    shown = {**given, "scale": card.get("scale")} if "scale" in given else given  # logistic sets its own
    settings = ", ".join(f"{key}={value}" for key, value in shown.items() if value is not None)
    versions = ", ".join(f"{package} {version}" for package, version in card["versions"].items())
    return [
        "## How it was fitted",
        "",
        f"- What it learnt: {card['learnt']}{'' if removal is None else f'; units were removed by `{removal}`'}.",
        f"- Texts: {train['examples']:,} of {_name(train)}; {validation['examples']:,} of {_name(validation)} chose "
        "the checkpoint.",
        f"- Chosen by {card['metric']} ({card['better']} is better).",
        f"- Settings: {settings}.",
        f"- Versions: {versions}, Python {card['python']}.",
        "",
    ]


def _quality(card: Mapping[str, Any]) -> list[str]:
    found, why = card["validation"], doubt(card)
    best = "unknown" if found["best"] is None else f"{found['best']:.4f}"
    error = "" if found.get("error") is None else f" (standard error of the difference {found['error']:.4f})"
    return [
        "## How good it is",
        "",
        *([f"**The explainer {why}**", ""] if why else []),
        f"{card['metric']} on the texts that chose the checkpoint: **{best}**; of {control_name(card)}: "
        f"{found['random']:.4f}{error}. The choice makes the first number slightly too good: judge it on other texts "
        "with `assay evaluate`.",
        *(f"\n{note}" for note in card.get("notes", ())),
        "",
        "| step | training loss | validation |",
        "|---:|---:|---:|",
        *(f"| {c['step']} | {c['loss']:.4f} | {c['value']:.4f} |" for c in card["curve"]),
        "",
    ]


def _fingerprint(card: Mapping[str, Any]) -> str:
    return str(card["identity"].get("model", ""))[:16]


def _name(data: Mapping[str, Any]) -> str:
    return "/".join(str(part) for part in (data["name"], data["split"]) if part) or "the data"
