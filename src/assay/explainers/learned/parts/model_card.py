"""The README of a fitted explainer: what it explains, how it was fitted, how good it is, and where it may fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OBJECTIVES = {
    "shapley": "Shapley values, learnt from the outputs of masked texts (FastSHAP)",
    "masking": "masks that keep the prediction, learnt by attributive masking (AML)",
    "both": "Shapley values and masks together",
}


def model_card(card: Mapping[str, Any]) -> str:
    """Plain English in Markdown."""
    data, validation = card["data"], card["validation"]
    lines = [
        "---",
        "library_name: assay",
        "tags: [explainability, attribution]",
        "---",
        "",
        f"# An explainer of {card['model']}",
        "",
        f"It explains the predictions of **{card['model']}** ({card['task']}; outputs: {', '.join(card['labels'])}) in "
        "one pass, without masking or gradients, and is of use for that model only.",
        "",
        "```python",
        "import assay",
        'explainer = assay.load_explainer("FOLDER")',
        'assay.explain(model, "a modest pleasure", explainer)',
        "```",
        "",
        "## How it was fitted",
        "",
        f"- What it learnt: {card['learnt']}.",
        f"- Texts: {data['train']['examples']:,} of {_name(data['train'])}; {data['validation']['examples']:,} of "
        f"{_name(data['validation'])} chose the checkpoint. Their labels were not used.",
        f"- Chosen by {card['metric']} ({card['better']} is better).",
        "",
        "## How good it is",
        "",
        f"{card['metric']} on the texts that chose the checkpoint: **{validation['best']:.4f}**; of "
        f"{card.get('control', 'a random order')}: {validation['random']:.4f}. The choice makes the first number "
        "slightly too good: judge it on other texts with `assay evaluate`.",
        "",
        "| step | training loss | validation |",
        "|---:|---:|---:|",
        *(f"| {c['step']} | {c['loss']:.4f} | {c['value']:.4f} |" for c in card["curve"]),
        "",
        "## Where it may fail",
        "",
        "It has learnt from texts of one kind. On texts of another kind, and after any change to the model, its scores "
        "can be wrong without a sign of it.",
        "",
    ]
    return "\n".join(lines)


def _name(data: Mapping[str, Any]) -> str:
    return "/".join(str(part) for part in (data["name"], data["split"]) if part) or "the data"
