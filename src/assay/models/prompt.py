"""Classification through a prompt: a template with a slot, and one word per label that a causal LM may say next."""

from __future__ import annotations

import string
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import InputError, ModelError
from assay.core.types import Example, Span
from assay.models.encoding import SPECIAL

SLOTS = ("text", "text_pair")


@dataclass(frozen=True)
class Prompt:
    """`template` holds {text}, and {text_pair} for pairs; few-shot `examples` are put before it, filled in.

    Write doubled braces for literal ones. Only the slots are scored and removed; the template is context.
    """

    template: str
    examples: tuple[tuple[str | tuple[str, str], str], ...] = ()  # (input, label word as it follows the template)
    separator: str = "\n\n"  # between few-shot examples

    def __post_init__(self) -> None:
        slots = [field for _, field, _, _ in string.Formatter().parse(self.template) if field is not None]
        if slots.count("text") != 1 or any(s not in SLOTS for s in slots) or slots.count("text_pair") > 1:
            raise ModelError(
                f"the prompt has the slots {slots or 'none'}; it needs {{text}} exactly once and may have {{text_pair}}"
            )

        if any(isinstance(given, str) == self.pairs for given, _ in self.examples):
            slots_are = "pairs: give ((text, text_pair), word)" if self.pairs else "single texts: give (text, word)"
            raise ModelError(f"the few-shot examples do not fit the prompt, whose inputs are {slots_are}")

    @property
    def pairs(self) -> bool:
        """Whether an input is a pair of texts."""
        return any(field == "text_pair" for _, field, _, _ in string.Formatter().parse(self.template))

    @property
    def shots(self) -> str:
        """The few-shot examples as text."""
        filled = [_fill(self.template, given) + word + self.separator for given, word in self.examples]
        return "".join(filled)

    def pieces(self, example: Example) -> list[tuple[int, str]]:
        """The prompt in order as (segment, text): -1 for the template, 0 and 1 for what fills the slots."""
        if self.pairs != (example.text_pair is not None):
            need = "a pair of texts; give (text, text_pair)" if self.pairs else "one text: it has no {text_pair}"
            raise InputError(f"this prompt needs {need}")
        out, template = [], self.shots
        for literal, field, _, _ in string.Formatter().parse(self.template):
            template += literal  # doubled braces come in several literals: they are one piece
            if field is not None:
                value = example.text if field == "text" else example.text_pair
                out += [(-1, template), (SLOTS.index(field), value or "")]
                template = ""
        return [piece for piece in [*out, (-1, template)] if piece[0] >= 0 or piece[1]]

    def tokens(
        self, tokenizer: Any, example: Example, limit: int
    ) -> tuple[list[int], list[Span], int, tuple[Span, ...]]:
        """Ids, spans, the length of the constant prefix, and the spans of tokens that were cut from the slot."""
        ids, spans = _whole(tokenizer, self.pieces(example)) or _apart(tokenizer, self.pieces(example))
        slot = [i for i, span in enumerate(spans) if span.segment == 0]
        cut = slot[::-1][: max(0, len(ids) - limit)]
        if len(ids) - len(cut) > limit or (cut and len(cut) == len(slot)):
            raise InputError(f"the prompt leaves no room for the text in the model's {limit} positions; shorten it")
        kept = [i for i in range(len(ids)) if i not in set(cut)]
        unseen = tuple(spans[i] for i in sorted(cut))
        ids, spans = [ids[i] for i in kept], [spans[i] for i in kept]
        return ids, spans, self._prefix(tokenizer, example, ids, spans), unseen

    def _prefix(self, tokenizer: Any, example: Example, ids: list[int], spans: list[Span]) -> int:
        """How many leading tokens are the template's whatever fills the slot: those that the template alone has too.

        An input that begins with white space may change how the end of the template is cut into tokens.
        """
        segment, head = self.pieces(example)[0]
        alone = tokenizer(head.rstrip() if segment < 0 else "", verbose=False)["input_ids"]
        same = [a == b and span == SPECIAL for a, b, span in zip(ids, alone, spans, strict=False)]
        return same.index(False) if False in same else len(same)


def label_tokens(tokenizer: Any, prompt: Prompt, words: Mapping[str, str]) -> list[int]:
    """The token that follows the prompt for each label's word, checked on a filled-in prompt."""
    probe = "".join(text for _, text in prompt.pieces(Example("word", "word" if prompt.pairs else None)))
    base = tokenizer(probe, verbose=False)["input_ids"]
    base = base[:-1] if tokenizer.eos_token_id is not None and base[-1] == tokenizer.eos_token_id else base
    tokens = [_next_token(tokenizer, probe, base, label, word) for label, word in words.items()]
    if len(set(tokens)) < len(tokens):
        raise ModelError(f"two labels begin with the same token {dict(zip(words, tokens, strict=True))}; change a word")
    return tokens


def _next_token(tokenizer: Any, probe: str, base: Sequence[int], label: str, word: str) -> int:
    full = tokenizer(probe + word, verbose=False)["input_ids"]
    if list(full[: len(base)]) != list(base) or len(full) <= len(base):
        raise ModelError(
            f"label {label!r}: {word!r} melts into the end of the prompt when tokenised; "
            "end the prompt without a space and begin the word with one, e.g. {'positive': ' positive'}"
        )
    rest = [t for t in full[len(base) :] if t != tokenizer.eos_token_id]
    if len(rest) > 1:
        first = tokenizer.decode([rest[0]])
        warnings.warn(f"label {label!r}: {word!r} is {len(rest)} tokens; scored by its first, {first!r}", stacklevel=2)
    return int(rest[0])


def _fill(template: str, given: str | tuple[str, str]) -> str:
    text, pair = (given, None) if isinstance(given, str) else given
    return template.format(text=text, text_pair=pair)


def _whole(tokenizer: Any, pieces: list[tuple[int, str]]) -> tuple[list[int], list[Span]] | None:
    """Tokenise the filled-in prompt as one string, as the model would see it; None if a token straddles a slot."""
    full = "".join(text for _, text in pieces)
    out = tokenizer(full, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
    spans: list[Span] = []
    for (start, end), special in zip(out["offset_mapping"], out["special_tokens_mask"], strict=True):
        owners = [SPECIAL] if special else _owners(pieces, full, start, end)
        if len(owners) > 1:
            return None
        spans.append(owners[0] if owners else SPECIAL)
    ids = list(out["input_ids"])
    if ids and ids[-1] == tokenizer.eos_token_id:  # the label word must be what comes next
        ids, spans = ids[:-1], spans[:-1]
    return ids, spans


def _owners(pieces: list[tuple[int, str]], full: str, start: int, end: int) -> list[Span]:
    """The pieces a token takes visible characters from: a space before a word belongs to the word."""
    blank = not full[start:end].strip()
    start += 0 if blank else len(full[start:end]) - len(full[start:end].lstrip())
    found, offset = [], 0
    for segment, text in pieces:
        low, high = max(start, offset), min(end, offset + len(text))
        if low < high:
            found.append(SPECIAL if segment < 0 else Span(segment, low - offset, high - offset))
        offset += len(text)
    return found[:1] if blank else found  # white space of a slot is the slot's, at its edge the template's


def _apart(tokenizer: Any, pieces: list[tuple[int, str]]) -> tuple[list[int], list[Span]]:
    """Tokenise piece by piece, spaces before a slot going with what fills it, so that no token can straddle."""
    first = tokenizer("a", verbose=False)["input_ids"][0]
    ids = [first] if first == tokenizer.bos_token_id else []
    spans, space = [SPECIAL] * len(ids), ""
    for segment, text in pieces:
        held = "" if segment >= 0 else text[len(text.rstrip()) :]
        here = space + text[: len(text) - len(held)]
        out = tokenizer(here, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        for start, end in out["offset_mapping"]:
            low, high = max(0, start - len(space)), max(0, end - len(space))
            spans.append(SPECIAL if segment < 0 else Span(segment, low, high))
        ids += out["input_ids"]
        space = held
    if space:  # the prompt ends in white space: it is part of what the model reads
        out = tokenizer(space, add_special_tokens=False, verbose=False)
        ids, spans = ids + out["input_ids"], spans + [SPECIAL] * len(out["input_ids"])
    return ids, spans
