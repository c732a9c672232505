"""Classification with a prompt: a template with slots, and for each label a word that may follow it."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import InputError, ModelError
from assay.core.notices import notice
from assay.core.types import Example, Span
from assay.models.encoding import SPECIAL

SLOTS = ("text", "text_pair")


@dataclass(frozen=True)
class Prompt:
    """A template with {text}, and {text_pair} for pairs; the few-shot `examples` precede it, filled in.

    Double literal braces. Only the slots are scored and removed; the template is context.
    """

    template: str
    examples: tuple[tuple[str | tuple[str, str], str], ...] = ()  # (input, label word that follows the template)
    separator: str = "\n\n"  # between few-shot examples

    def __post_init__(self) -> None:
        slots = _slots(self.template)
        if slots.count("text") != 1 or any(s not in SLOTS for s in slots) or slots.count("text_pair") > 1:
            found = f"the slots {', '.join(f'{{{slot}}}' for slot in slots)}" if slots else "no slot"
            raise ModelError(
                f"the prompt has {found}; it needs {{text}} exactly once and may have {{text_pair}} once, "
                "and other braces are doubled: {{ and }}"
            )
        if any(isinstance(given, str) == self.pairs for given, _ in self.examples):
            expected = "pairs: give ((text, text_pair), word)" if self.pairs else "single texts: give (text, word)"
            raise ModelError(f"the few-shot examples do not fit the prompt, whose inputs are {expected}")

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
            needed = "a pair of texts; give (text, text_pair)" if self.pairs else "one text: it has no {text_pair}"
            raise InputError(f"this prompt needs {needed}")
        out, template = [], self.shots
        for literal, field, _, _ in string.Formatter().parse(self.template):
            template += literal  # doubled braces split a literal; join it again
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
        rest = [i for i in range(len(ids)) if i not in set(cut)]
        unseen = tuple(spans[i] for i in sorted(cut))
        ids, spans = [ids[i] for i in rest], [spans[i] for i in rest]
        return ids, spans, self._prefix(tokenizer, example, ids, spans), unseen

    def _prefix(self, tokenizer: Any, example: Example, ids: list[int], spans: list[Span]) -> int:
        """Number of leading tokens that do not depend on the input: those that the template alone has too.

        An input that begins with white space can change how the end of the template is tokenised.
        """
        segment, head = self.pieces(example)[0]
        alone = tokenizer(head.rstrip() if segment < 0 else "", verbose=False)["input_ids"]
        same = [a == b and span == SPECIAL for a, b, span in zip(ids, alone, spans, strict=False)]
        return same.index(False) if False in same else len(same)


def _slots(template: str) -> list[str]:
    """The names in braces, with what follows them: `{text!r}` is no slot."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ModelError(f"the prompt has a single brace ({error}); write {{text}}, and double other braces") from error
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, conversion in fields
        if name is not None
    ]


def label_tokens(tokenizer: Any, prompt: Prompt, words: Mapping[str, str]) -> list[int]:
    """The token that follows the prompt for the word of each label, checked on a filled-in prompt."""
    probe = "".join(text for _, text in prompt.pieces(Example("word", "word" if prompt.pairs else None)))
    base = tokenizer(probe, verbose=False)["input_ids"]
    base = base[:-1] if tokenizer.eos_token_id is not None and base[-1] == tokenizer.eos_token_id else base
    tokens = [_next_token(tokenizer, probe, base, label, word) for label, word in words.items()]
    if len(set(tokens)) < len(tokens):
        raise ModelError(
            f"two labels begin with the same token: {dict(zip(words, tokens, strict=True))}; choose other words"
        )
    return tokens


def _next_token(tokenizer: Any, probe: str, base: Sequence[int], label: str, word: str) -> int:
    full = tokenizer(probe + word, verbose=False)["input_ids"]
    if list(full[: len(base)]) != list(base) or len(full) <= len(base):
        raise ModelError(
            f"label {label!r}: {word!r} merges with the end of the prompt when tokenised; "
            "end the prompt without a space and begin the word with one, e.g. {'positive': ' positive'}"
        )
    rest = [t for t in full[len(base) :] if t != tokenizer.eos_token_id]
    if len(rest) > 1:
        first = tokenizer.decode([rest[0]])
        notice("prompt", f"label {label!r}: {word!r} has {len(rest)} tokens; only the first, {first!r}, is scored")
    return int(rest[0])


def _fill(template: str, given: str | tuple[str, str]) -> str:
    text, pair = (given, None) if isinstance(given, str) else given
    return template.format(text=text, text_pair=pair)


def _whole(tokenizer: Any, pieces: list[tuple[int, str]]) -> tuple[list[int], list[Span]] | None:
    """Tokenise the filled-in prompt as one string; None if a token crosses the border of a slot."""
    full = "".join(text for _, text in pieces)
    out = tokenizer(full, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
    spans: list[Span] = []
    for (start, end), special in zip(out["offset_mapping"], out["special_tokens_mask"], strict=True):
        owners = [SPECIAL] if special else _owners(pieces, full, start, end)
        if len(owners) > 1:
            return None
        spans.append(owners[0] if owners else SPECIAL)
    ids = list(out["input_ids"])
    if ids and ids[-1] == tokenizer.eos_token_id:  # the label word must come next
        ids, spans = ids[:-1], spans[:-1]
    return ids, spans


def _owners(pieces: list[tuple[int, str]], full: str, start: int, end: int) -> list[Span]:
    """The pieces that a token takes visible characters from; a space before a word belongs to the word."""
    blank = not full[start:end].strip()
    start += 0 if blank else len(full[start:end]) - len(full[start:end].lstrip())
    owners: list[Span] = []
    offset = 0
    for segment, text in pieces:
        low, high = max(start, offset), min(end, offset + len(text))
        if low < high:
            owners.append(SPECIAL if segment < 0 else Span(segment, low - offset, high - offset))
        offset += len(text)
    return owners[:1] if blank else owners  # white space across an edge belongs to the first piece


def _apart(tokenizer: Any, pieces: list[tuple[int, str]]) -> tuple[list[int], list[Span]]:
    """Tokenise piece by piece, spaces before a slot together with the slot, so that no token crosses a border."""
    first = tokenizer("a", verbose=False)["input_ids"][0]
    ids = [first] if first == tokenizer.bos_token_id else []
    spans, space = [SPECIAL] * len(ids), ""
    for segment, text in pieces:
        trailing = "" if segment >= 0 else text[len(text.rstrip()) :]
        here = space + text[: len(text) - len(trailing)]
        out = tokenizer(here, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        for start, end in out["offset_mapping"]:
            low, high = max(0, start - len(space)), max(0, end - len(space))
            spans.append(SPECIAL if segment < 0 else Span(segment, low, high))
        ids += out["input_ids"]
        space = trailing
    if space:  # the prompt ends in white space, which the model reads too
        out = tokenizer(space, add_special_tokens=False, verbose=False)
        ids, spans = ids + out["input_ids"], spans + [SPECIAL] * len(out["input_ids"])
    return ids, spans
