"""Attributions from scores made elsewhere: by Captum, SHAP, LIME or a person, for words, spans or characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError, SpecError
from assay.core.placing import is_visible, place_words
from assay.core.spec import Spec
from assay.core.types import Attribution, Span, Target, Unit

Texts = tuple[str, ...]  # a text, or the two of a pair
Places = Sequence[Span | None]
SEVERAL = (list, tuple, np.ndarray)
UNSAID = object()  # in place of a label: nobody said which class the scores explain
DEFAULT = re.compile(r"Output \d+")  # SHAP's name for an output that nobody named
NAME = re.compile(r"\w[\w.+-]*( [\w.+-]+)*")


def from_words(texts: Any, words: Any, scores: Any, **about: Any) -> list[Attribution]:
    """One attribution per text; `words` are found in their text in order."""
    return _each(
        lambda text, tokens: place_words([str(t) for t in _items(tokens)], text), texts, words, scores, **about
    )


def from_spans(texts: Any, spans: Any, scores: Any, **about: Any) -> list[Attribution]:
    """One attribution per text; spans are [start, end] or [segment, start, end] in characters."""
    return _each(_spans, texts, spans, scores, **about)


def from_characters(texts: Any, scores: Any, **about: Any) -> list[Attribution]:
    """One attribution per text, with a score for each of its characters."""
    return _each(lambda text, _: _characters(text), texts, scores, scores, **about)


def from_captum(texts: Any, tokens: Any, scores: Any, **about: Any) -> list[Attribution]:
    """Scores (B,T), or (B,T,D), which are summed over the embedding."""
    arrays = [_array(row) for row in _items(scores)]
    return from_words(texts, tokens, [row.sum(-1) if row.ndim == 2 else row for row in arrays], **about)


def from_shap(explanation: Any, *, texts: Any, label: Any, name: str) -> list[Attribution]:
    """One attribution per text and class of a shap.Explanation whose data are tokens."""
    data, values, names = explanation.data, explanation.values, getattr(explanation, "output_names", None)
    if len(data) and isinstance(data[0], str):  # a single text
        data, values, texts = [data], [values], None if texts is None else [texts]
    tokens = [[str(token) for token in row] for row in data]
    texts = ["".join(row) for row in tokens] if texts is None else _as_many(texts, len(tokens), "texts")
    said = said_label(names if label is UNSAID and names is not None else label)
    out: list[Attribution] = []
    for i, (text, row, table) in enumerate(zip(texts, tokens, values, strict=True)):
        columns = np.atleast_2d(_array(table).T)  # (C,T)
        for column, its_label in zip(columns, _column_labels(said, i, len(columns)), strict=True):
            out += from_words([text], [row], [column], label=its_label, name=name)
    return out


def from_lime(explanations: Any, *, name: str) -> list[Attribution]:
    """One attribution per text and class of LIME's explanations; a word's weight is shared by its occurrences."""
    several = explanations if isinstance(explanations, list | tuple) else [explanations]
    return [attribution for explanation in several for attribution in _lime(explanation, name)]


def checked_name(name: str) -> str:
    """A name that pages, tables and records can show beside those of methods."""
    if not NAME.fullmatch(name):
        raise SpecError(f"{name!r} cannot be the name of scores; use letters, digits, spaces, '.', '_', '+' and '-'")
    return name


# --- one text ----------------------------------------------------------------------------------------------------


def attribution_of(texts: Texts, places: Places, scores: Any, label: Any, name: str, example_id: str) -> Attribution:
    """Scored places as units; what nobody scored becomes units with the score 0, so the units tell the whole text."""
    values = _array(scores)
    if values.shape != (len(places),):
        given = f"{len(values)} scores" if values.ndim == 1 else f"scores of the shape {values.shape}"
        raise InputError(f"there are {given} for {len(places)} words, spans or characters; give one for each")
    if not np.isfinite(values).all():
        raise InputError(f"score {int(np.flatnonzero(~np.isfinite(values))[0]) + 1} is NaN or infinite")
    placed = [(place, float(value)) for place, value in zip(places, values, strict=True) if place is not None]
    units = sorted(placed + [(span, 0.0) for span in _uncovered(texts, [place for place, _ in placed])])
    index = int(label) if isinstance(label, int | np.integer) else None
    return Attribution(
        units=tuple(Unit(texts[s.segment][s.start : s.end], s.start, s.end, s.segment) for s, _ in units),
        scores=np.array([value for _, value in units], np.float32),
        target=Target(index),
        label="" if label is None else str(label),
        method=Spec(checked_name(name)),
        example_id=example_id,
        text=texts[0],
        text_pair=texts[1] if len(texts) > 1 else None,
    )


def _uncovered(texts: Texts, spans: Sequence[Span]) -> Iterator[Span]:
    """The stretches of visible characters outside all spans."""
    for segment, text in enumerate(texts):
        free = np.array([is_visible(char) for char in text], bool)
        for span in spans:
            if span.segment == segment:
                free[span.start : span.end] = False
        borders = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(np.int8), [0]])))
        yield from (Span(segment, int(a), int(b)) for a, b in borders.reshape(-1, 2))


def _spans(texts: Texts, given: Any) -> list[Span]:
    """Spans in characters. Those counted in words would end early in the text and cut most words apart."""
    spans = [_span(place, texts) for place in _items(given)]
    if any(span.end > 2 * len(texts[span.segment].split()) for span in spans):
        return spans
    left = {(rest.segment, i) for rest in _uncovered(texts, spans) for i in range(rest.start, rest.end)}
    cut = [span for span in spans if _cuts_a_word(span, texts[span.segment], left)]
    if len(spans) > 1 and 2 * len(cut) >= len(spans):
        start, end = cut[-1].start, cut[-1].end
        raise InputError(
            f"{len(cut)} of {len(spans)} spans cut words apart, such as [{start}, {end}], "
            f"{texts[cut[-1].segment][start:end]!r}; are they counted in words? Give characters, or use from_words"
        )
    return spans


def _cuts_a_word(span: Span, text: str, left: set[tuple[int, int]]) -> bool:
    """Whether it holds no letter, or only a part of a word whose rest no span has."""
    before = (span.segment, span.start - 1) in left and text[span.start - 1].isalnum() and text[span.start].isalnum()
    after = (span.segment, span.end) in left and text[span.end].isalnum() and text[span.end - 1].isalnum()
    return before or after or not text[span.start : span.end].strip()


def _span(given: Any, texts: Texts) -> Span:
    numbers = [int(float(n)) for n in given if isinstance(n, Real) and n % 1 == 0] if isinstance(given, SEVERAL) else []
    if len(numbers) not in (2, 3) or len(numbers) != len(given):
        raise InputError(f"{given!r} is not a span; give [start, end] or [segment, start, end] in characters")
    span = Span(*([0, *numbers] if len(numbers) == 2 else numbers))
    if not 0 <= span.segment < len(texts) or not 0 <= span.start < span.end <= len(texts[span.segment]):
        lengths = " and ".join(str(len(text)) for text in texts)
        raise InputError(f"the span {list(given)} is not inside the text, which has {lengths} characters")
    return span


def _characters(texts: Texts) -> list[Span]:
    return [Span(segment, i, i + 1) for segment, text in enumerate(texts) for i in range(len(text))]


def _lime(explanation: Any, name: str) -> Iterator[Attribution]:
    words = explanation.domain_mapper.indexed_string
    text = words.raw_string()
    for label, weights in explanation.local_exp.items():
        spans, scores = [], []
        for word, weight in weights:
            starts = [int(start) for start in np.atleast_1d(words.string_position(word))]
            spans += [(start, start + len(words.word(word))) for start in starts]
            scores += [float(weight) / len(starts)] * len(starts)
        regression = explanation.mode == "regression"
        if regression and label != max(explanation.local_exp):  # LIME adds the negated explanation
            continue
        named = None if regression else explanation.class_names[label]
        yield from _each(lambda texts, given: [_span(s, texts) for s in given], [text], [spans], [scores],
                         label=named, name=name)  # fmt: skip


# --- what callers give ---------------------------------------------------------------------------------------------


def _each(
    place: Callable[[Texts, Any], Places],
    texts: Any,
    units: Any,
    scores: Any,
    *,
    label: Any,
    name: str,
    ids: Any = None,
) -> list[Attribution]:
    """The attributions of all texts; an error names its text."""
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise InputError("texts must be a list of texts (or of pairs), with a list of units and of scores for each")
    count, label = len(texts), said_label(label)
    labels = label if isinstance(label, list | tuple | np.ndarray) else [label] * count
    columns = {"units": units, "scores": scores, "labels": labels, "ids": [""] * count if ids is None else ids}
    rows = zip(texts, *(_as_many(column, count, kind) for kind, column in columns.items()), strict=True)
    out = []
    for i, (given, its_units, its_scores, its_label, its_id) in enumerate(rows):
        try:
            read = _texts(given)
            out.append(attribution_of(read, place(read, its_units), its_scores, its_label, name, str(its_id)))
        except InputError as error:
            raise InputError(f"the scores {name!r} of text {i + 1}, {shortened(given)}: {error}") from error
    return out


def shortened(text: Any) -> str:
    """The beginning of a text, for messages."""
    words = " | ".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
    return repr(words if len(words) <= 40 else f"{words[:39]}…")


def _texts(given: Any) -> Texts:
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else ()
    if not 1 <= len(texts) <= 2 or not all(isinstance(text, str) for text in texts):
        raise InputError(f"give a text or a pair of texts, not {type(given).__name__}")
    return texts


def _items(given: Any) -> list[Any]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"give a list, not {shortened(given)}")
    return list(given)


def _as_many(given: Any, count: int, kind: str) -> Any:
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != count:
        found = len(given) if hasattr(given, "__len__") and not isinstance(given, str) else shortened(given)
        raise InputError(f"there are {count} texts, but {found} as {kind}; give a list with one item per text")
    return given


def _array(given: Any) -> NDArray[np.float64]:
    """Numbers of any library as an array."""
    plain = given.detach().cpu().numpy() if hasattr(given, "detach") else given
    try:
        return np.asarray(plain, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{shortened(given)} is not a list of numbers") from error


def _column_labels(said: Any, i: int, columns: int) -> list[Any]:
    """The class of each column of a shap.Explanation, for text i."""
    per_text = not isinstance(said, str | int | None) and len(np.shape(said)) == 2  # outputs chosen for each text
    names = [said] if isinstance(said, str | int | None) else list(said[i] if per_text else said)
    if len(names) == columns and not any(DEFAULT.fullmatch(str(name)) for name in names):
        return [str(name) if isinstance(name, str) else name for name in names]
    raise InputError(
        f"this shap.Explanation does not name the class of each of its {columns} columns; "
        "give label= a label of the model for each column, in order"
    )


def said_label(label: Any) -> Any:
    """The label that a caller gave; an error if there is none."""
    if isinstance(label, bool):
        raise InputError(f"label={label} is not a label of a model; give its name or its index")
    if label is UNSAID:
        raise InputError(
            "say which class the scores explain: label= one of the model's labels (or a list with one per text), "
            "or None for scores that are about no class, such as highlights or attention weights"
        )
    return label
