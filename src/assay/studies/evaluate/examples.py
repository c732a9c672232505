"""A few examples with the heat maps of all methods, and the rationales of annotators underlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import expit, softmax

from assay.core.types import Attribution, Example
from assay.reports.heat_maps import HeatMap, as_read, heat_maps, picture, shown_units
from assay.reports.method_style import MethodStyle
from assay.studies.evaluate.evaluation import Evaluation


@dataclass(frozen=True)
class Answer:
    """What the model predicted, the gold label if it is known, and the explained class if it is another one."""

    predicted: str
    probability: str | None  # None for a regression
    gold: str | None
    correct: bool | None  # None if the gold label is unknown to the model
    explained: str | None


@dataclass(frozen=True)
class ShownExample:
    title: str
    answer: Answer
    context: str | None  # the text of a pair that was not scored
    hidden_units: int
    units: int
    heat_maps: Sequence[tuple[MethodStyle, HeatMap]]


def shown_examples(evaluation: Evaluation, styles: Mapping[str, MethodStyle]) -> list[ShownExample]:
    count = min(len(attributions) for attributions in evaluation.shown.values())
    return [_example(evaluation, i, styles) for i in range(count)]


def _example(evaluation: Evaluation, i: int, styles: Mapping[str, MethodStyle]) -> ShownExample:
    example = as_read(evaluation.model, evaluation.dataset[i])
    attributions = {method: shown[i] for method, shown in evaluation.shown.items()}
    window = shown_units(list(attributions.values()))
    first = next(iter(attributions.values()))
    maps = heat_maps(attributions, example, window, picture(evaluation.model, example))
    return ShownExample(
        title=f"{i + 1}. {example.id or 'example'}",
        answer=_answer(evaluation, i, first),
        context=_context(evaluation, example),
        hidden_units=len(first.units) - len(window),
        units=len(first.units),
        heat_maps=[(styles[method], shown) for method, shown in maps.items()],
    )


def _answer(evaluation: Evaluation, i: int, attribution: Attribution) -> Answer:
    model, gold, output = evaluation.model, evaluation.gold[i], evaluation.outputs[i]
    if model.task == "regression":
        return Answer(f"{output[0]:.3g}", None, None if gold is None else f"{gold:.3g}", None, None)
    best = int(output.argmax())
    probability = (expit(output) if model.task == "multi_label" else softmax(output))[best]
    label = evaluation.dataset[i].label if gold is None else model.labels[int(gold)]
    return Answer(
        predicted=model.labels[best],
        probability=f"{probability:.0%}",
        gold=None if label is None else str(label),
        correct=None if gold is None else gold == best,
        explained=attribution.label if attribution.label != model.labels[best] else None,
    )


def _context(evaluation: Evaluation, example: Example) -> str | None:
    """The text of a pair that is not scored; a reader needs it to judge the other."""
    other = {"text": example.text_pair, 0: example.text_pair, "text_pair": example.text, 1: example.text}
    return other.get(evaluation.settings["scope"])
