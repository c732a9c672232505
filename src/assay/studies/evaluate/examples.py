"""A few examples with every method's heat map side by side, and what people marked underlined."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from scipy.special import expit, softmax

from assay.core.types import Attribution, Example
from assay.reports.heat_maps import KEY, heat_map, pictures, shown_units
from assay.reports.method_style import MethodStyle
from assay.studies.evaluate.evaluation import Evaluation


def examples(evaluation: Evaluation, styles: Mapping[str, MethodStyle]) -> str:
    """One block per example that was kept for showing."""
    count = min(len(part) for part in evaluation.shown.values())
    return KEY + "".join(_example(evaluation, i, styles) for i in range(count))


def _example(evaluation: Evaluation, i: int, styles: Mapping[str, MethodStyle]) -> str:
    example = evaluation.dataset[i]
    found = {method: part[i] for method, part in evaluation.shown.items()}
    below = pictures(evaluation.model, example, i) if example.image is not None else ("", "")
    first = next(iter(found.values()))
    window = shown_units(list(found.values()))
    maps = "".join(
        f"<figure><figcaption>{styles[method].html}</figcaption>"
        f"{heat_map(a, example, window, below[min(k, 1)])}</figure>"
        for k, (method, a) in enumerate(found.items())
    )
    left_out = len(first.units) - len(window)
    cut = f'<p class="note">{left_out} of {len(first.units)} units are not shown.</p>' if left_out else ""
    head = (
        f"<header><h3>{i + 1}. {escape(example.id or 'example')}</h3><p>{_answers(evaluation, i, first)}</p></header>"
    )
    return f'<article class="ex">{head}{_context(evaluation, example)}{cut}<div class="maps">{maps}</div></article>'


def _answers(evaluation: Evaluation, i: int, shown: Attribution) -> str:
    """What the model said, what is right, and which class is explained where that is another one."""
    model, gold, output = evaluation.model, evaluation.gold[i], evaluation.outputs[i]
    if model.task == "regression":
        said = f"predicted <b>{output[0]:.3g}</b>"
        return said if gold is None else f"{said} · gold <b>{gold:.3g}</b>"
    best = int(output.argmax())
    chance = (expit(output) if model.task == "multi_label" else softmax(output))[best]
    parts = [f"predicted <b>{escape(model.labels[best])}</b> ({chance:.0%})"]
    if gold is not None:
        right = (
            '<span class="good nowrap">✓ right</span>' if gold == best else '<span class="bad nowrap">✗ wrong</span>'
        )
        parts.append(f"gold <b>{escape(model.labels[int(gold)])}</b> {right}")
    elif evaluation.dataset[i].label is not None:
        parts.append(f"gold <b>{escape(str(evaluation.dataset[i].label))}</b>")
    if shown.label != model.labels[best]:
        parts.append(f"explained: <b>{escape(shown.label)}</b>")
    return " · ".join(parts)


def _context(evaluation: Evaluation, example: Example) -> str:
    """The text that was not scored because of the scope: a reader needs it to judge the other."""
    other = {"text": example.text_pair, 0: example.text_pair, "text_pair": example.text, 1: example.text}
    text = other.get(evaluation.settings["scope"])
    return f'<p class="note">not scored: {escape(text)}</p>' if text else ""
