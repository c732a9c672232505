"""The question that a language model is asked about a text, and the words that it may answer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.types import Floats, Span
from assay.core.words import word_pattern
from assay.explainers.prompting._answer import is_word, key_of
from assay.models.chat import filled_in
from assay.models.decoding import continuation
from assay.models.encoding import Encoding
from assay.models.prompt import Prompt

TEXT, PAIR = "Text: {text}", "Text 1: {text}\nText 2: {text_pair}"
QUESTION = (
    "\n\nThe label of this text is {label}; the possible labels are {labels}. Which words of the text matter most for "
    "this label? List words of the text, the most important first, separated by commas. Use no other words."
)
ANSWER = "The most important words are:"
SEPARATOR = ","


def question_prompt(
    tokenizer: Any, question: str | None, label: str, labels: Sequence[str], *, pair: bool, chat: bool
) -> Prompt:
    """The question with its labels filled in, and the beginning of the answer; the slot of the text is still open."""
    text = (PAIR if pair else TEXT) + QUESTION if question is None else question
    for slot, value in (("{labels}", ", ".join(labels)), ("{label}", label)):
        text = text.replace(slot, value.replace("{", "{{").replace("}", "}}"))
    if not chat:
        return Prompt(f"{text}\n{ANSWER}")
    prompt = filled_in([{"role": "user", "content": text}], tokenizer)
    return Prompt(prompt.template + ANSWER)


@dataclass(frozen=True)
class Question:
    """A filled-in question as tokens, and the words of the text that the model reads there."""

    ids: list[int]
    words: dict[str, list[Span]]  # where each word stands, by its key, in the order of the text
    tokens: dict[str, tuple[int, ...]]  # of each word as an item of the answer, with the separator after it

    @staticmethod
    def of(prompt: Prompt, tokenizer: Any, encoding: Encoding, limit: int, answer: int) -> Question:
        """limit: positions of the model; answer: those that the answer may need, at most half of them."""
        ids, _, _, cut = prompt.tokens(tokenizer, encoding.example, limit - min(answer, limit // 2))
        unread = [*encoding.unseen, *cut]
        words = {key: spans for key, spans in _words(encoding) if not any(_overlap(spans[0], u) for u in unread)}
        if not words:
            raise InputError("no word of the text is read")
        end = tuple(continuation(tokenizer, "a", SEPARATOR))
        tokens = {key: (*_item(tokenizer, encoding, spans[0]), *end) for key, spans in words.items()}
        return Question(ids, words, tokens)

    @cached_property
    def first_tokens(self) -> list[int]:
        return [tokens[0] for tokens in self.tokens.values()]

    def unit_scores(self, scores: dict[str, float], encoding: Encoding) -> Floats:
        """(U,) the best score among the words that each unit touches; 0 for units without one."""
        out = np.zeros(encoding.players, np.float32)
        for key, score in scores.items():
            for i, unit in enumerate(encoding.units[: encoding.players]):
                if any(_overlap(span, Span(unit.segment, unit.start, unit.end)) for span in self.words[key]):
                    out[i] = max(out[i], score)
        return out


def _words(encoding: Encoding) -> Iterator[tuple[str, list[Span]]]:
    """The different words of a text with their places; punctuation only where there is nothing else."""
    texts = [encoding.example.text or "", encoding.example.text_pair or ""]
    found = [(m.group(), Span(i, *m.span())) for i, text in enumerate(texts) for m in word_pattern().finditer(text)]
    proper = [(word, span) for word, span in found if is_word(word)] or found
    places: dict[str, list[Span]] = {}
    for word, span in proper:
        places.setdefault(key_of(word), []).append(span)
    yield from places.items()


def _item(tokenizer: Any, encoding: Encoding, span: Span) -> list[int]:
    """The tokens of a word, written as it stands in the text, after a separator and a space."""
    text = (encoding.example.text, encoding.example.text_pair)[span.segment] or ""
    return continuation(tokenizer, SEPARATOR, f" {text[span.start : span.end]}")


def _overlap(a: Span, b: Span) -> bool:
    return a.segment == b.segment and a.start < b.end and b.start < a.end
