"""What a reader must know beside the verdict: warnings, and how the numbers are to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.notices import filled
from assay.explainers.given import Given
from assay.explainers.learned.parts.seen import count_seen
from assay.explainers.learned.parts.worth import doubt
from assay.explainers.methods import learned_parts
from assay.explainers.starved import is_starved, sampling_methods, starved_message
from assay.statistics.proportion import proportion
from assay.statistics.sentences import listed, number
from assay.statistics.verdict import Comparison
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.length_limit import past_limit
from assay.studies.evaluate.task import explained_class

SEVERAL = 10  # labels named in a sentence


def warnings_of(evaluation: Evaluation) -> list[str]:
    """What makes results weaker than they look: said by the verb, in the terminal and on the page."""
    limit = past_limit(evaluation)
    found = [
        evaluation.labels.warning,
        _worse_than_guessing(evaluation),
        *_starved(evaluation),
        limit.sentence if limit else "",
        _unlabelled(evaluation),
    ]
    found += [
        *hindsight_sentences(evaluation.methods),
        *_counted(evaluation),
        *_without_class(evaluation),
        _not_measured(evaluation),
        *_no_better_than_chance(evaluation),
        *_seen_texts(evaluation),
    ]
    found += evaluation.preset.warnings if evaluation.preset else []
    return [sentence for sentence in found if sentence]


def remarks_of(evaluation: Evaluation, comparisons: Mapping[str, Comparison]) -> list[str]:
    """How the numbers are to be read; comparisons: of the metrics that were measured."""
    measured = list(comparisons)
    found = [
        evaluation.preset.summary if evaluation.preset else "",
        evaluation.labels.note,
        explained_classes(evaluation, measured),
        _unsigned(evaluation, measured),
        clear(list(comparisons.values())),
    ]
    return [sentence for sentence in found if sentence]


def explained_classes(evaluation: Evaluation, measured: Sequence[str]) -> str:
    """Which class each metric explains, and on how many examples this makes a difference; empty if one class alone."""
    gold = [m for m in measured if explains(evaluation, m) == "gold"]
    if not gold or evaluation.model.task == "regression":
        return ""
    if evaluation.settings["target"] == "gold":
        return f"Every metric explains the gold class, as asked. {_differing(evaluation)}"
    others = [m for m in measured if m not in gold]
    rest = f"; {listed(others)} explain{_s(others)} the predicted class" if others else ""
    return (
        f"{listed(gold)} explain{_s(gold)} the gold class, because a rationale justifies the gold label{rest}. "
        f"{_differing(evaluation)}"
    )


def explains(evaluation: Evaluation, metric: str) -> str:
    """The class that a metric explains: predicted or gold."""
    return explained_class(evaluation.metrics[metric], evaluation.settings["target"])


def _differing(evaluation: Evaluation) -> str:
    known = zip(evaluation.outputs.argmax(1), evaluation.gold, strict=True)
    labelled = [(int(best), gold) for best, gold in known if gold is not None]
    differing = sum(best != gold for best, gold in labelled)
    return f"Predicted and gold class differ on {differing} of {len(labelled)} labelled examples."


def _worse_than_guessing(evaluation: Evaluation) -> str:
    """That the labels may be in another order: no model is that wrong by chance."""
    predicted = evaluation.outputs.argmax(1)
    right = [best == gold for best, gold in zip(predicted, evaluation.gold, strict=True) if gold is not None]
    if evaluation.model.task == "regression" or not right:
        return ""
    accuracy = proportion(sum(right), len(right))
    if accuracy.high >= 1 / len(evaluation.model.labels):
        return ""
    return (
        f"The model is right on {sum(right)} of {len(right)} labelled examples, fewer than by guessing. Perhaps its "
        f"labels ({', '.join(evaluation.model.labels[:SEVERAL])}) do not mean what those of the data mean: look at "
        "what it predicts, and match the labels with --label-map (label_map in Python)."
    )


def _unlabelled(evaluation: Evaluation) -> str:
    """That rationales could not be used because their class is unknown."""
    metrics = [m for m in evaluation.metrics if explains(evaluation, m) == "gold"]
    marked = [i for i, example in enumerate(evaluation.dataset) if any(example.rationales)]
    lost = sum(evaluation.gold[i] is None for i in marked)
    if not metrics or not lost or evaluation.labels.warning or evaluation.model.task == "regression":
        return ""
    return (
        f"{lost} of {len(marked)} examples with rationales have no label, so the class that the rationale justifies is "
        f"unknown and {listed(metrics)} leave{_s(metrics)} them out. Name the column of labels with "
        "--columns label=..., or explain the predicted class with --target predicted."
    )


def _not_measured(evaluation: Evaluation) -> str:
    """That metrics were asked for which no example has the rationales for."""
    asked = [name for name, metric in evaluation.metrics.items() if metric.facts.rationales]
    if not asked or any(example.rationales for example in evaluation.dataset):
        return ""
    return f"No example has a rationale, so there is no {listed(asked)}."


def _without_class(evaluation: Evaluation) -> list[str]:
    """That scores made elsewhere are only of the predicted class, where metrics explain the gold one."""
    metrics = [m for m in evaluation.metrics if explains(evaluation, m) == "gold"]
    found = []
    for name in (name for name, method in evaluation.methods.items() if isinstance(method, Given) and metrics):
        known = np.array([[~np.isnan(column) for column in evaluation.values[m].values()] for m in metrics])  # (K,M,N)
        applies = known.any((0, 1))
        own = np.array([~np.isnan(evaluation.values[m][name]) for m in metrics]).any(0)
        if lost := int((applies & ~own).sum()):
            found.append(
                f"The scores {name} have none of the gold class for {lost} of {int(applies.sum())} examples; "
                f"{listed(metrics)} leave{_s(metrics)} these out, for all methods."
            )
    return found


def _no_better_than_chance(evaluation: Evaluation) -> list[str]:
    """Fitted explainers that their own validation advises against."""
    return [f"{name} {why}" for name, card in _cards(evaluation).items() if (why := doubt(card))]


def _seen_texts(evaluation: Evaluation) -> list[str]:
    """Fitted explainers that are judged on what they were fitted on."""
    return [
        f"{name} was fitted on {seen} of these {len(evaluation.dataset)} examples (or chosen by them), so it may do "
        "better here than on new ones: evaluate on another split."
        for name, card in _cards(evaluation).items()
        if (seen := count_seen(card, evaluation.dataset))
    ]


def _cards(evaluation: Evaluation) -> dict[str, Mapping[str, Any]]:
    """The cards of the fitted explainers that are there, by their names."""
    explainers = {e.title: e.known_card for m in evaluation.methods.values() for e in learned_parts(m)}
    return {name: card for name, card in explainers.items() if card is not None}


def _starved(evaluation: Evaluation) -> list[str]:
    """Sampling methods with too few samples for the longest inputs."""
    units = evaluation.unit_counts[:, 0] - evaluation.unit_counts[:, 1]  # that the model reads
    found = []
    for method in (part for m in evaluation.methods.values() for part in sampling_methods(m)):
        starved = np.array([is_starved(method, int(n)) for n in units])
        if starved.any():
            count, most = int(starved.sum()), int(units[starved].max())
            found.append(filled(starved_message(method), count, len(units), most) + ".")
    return list(dict.fromkeys(found))


def hindsight_sentences(methods: Mapping[str, Any]) -> list[str]:
    """Which methods chose their explanation of each text by a metric, as only a search may."""
    return [
        f"{name} keeps for each text the explanation that is best by {metric}: a choice in hindsight, which even noise "
        "gains from. Compare it only with searches (greedy, beam_search) and with noise that is chosen in the same way "
        "(tune=noise)."
        for name, method in methods.items()
        if (metric := getattr(method, "hindsight", ""))
    ]


def _counted(evaluation: Evaluation) -> list[str]:
    """What methods say about what they counted."""
    said = {name: evaluation.methods[name].remark(counts) for name, counts in evaluation.counts.items()}
    return [f"{name} {sentence}." for name, sentence in said.items() if sentence]


def _unsigned(evaluation: Evaluation, measured: Sequence[str]) -> str:
    """What an unsigned score means beside rationales, and how methods with and without signs are compared."""
    metrics = [metric for metric in measured if metric in evaluation.by_size]
    methods = {name: m for name, m in evaluation.methods.items() if not m.facts.chance}
    plain = [name for name, method in methods.items() if not method.facts.signed]
    if not metrics or not plain or len(plain) == len(methods):
        return ""
    have = "has no sign: its" if len(plain) == 1 else "have no signs: their"
    return (
        f"{listed(plain)} {have} scores say how important a unit is, not for which class. On {listed(metrics)}, a "
        "method with signs and one without are called different only if they are so both with the signs and without."
    )


def clear(comparisons: Sequence[Comparison]) -> str:
    """What counts as a clear difference."""
    margins = sorted({c.margin for c in comparisons if len(c.standings) > 1 and c.margin})
    if not margins:
        return ""
    sizes = " or ".join(map(number, margins))
    more = " (by metric)" if len(margins) > 1 else ""
    return f"A difference is clear if it is significant and at least {sizes}{more}."


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""
