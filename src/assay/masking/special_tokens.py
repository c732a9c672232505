"""Special tokens as units: [CLS], [SEP], <s>, </s>, ... with a score and a rank, where the caller asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np

from assay.core.errors import SpecError, UnsupportedError, nearest
from assay.core.types import Span, SpecialTokens, Unit
from assay.models.encoding import SPECIAL, Encoding, Ints

if TYPE_CHECKING:
    from assay.models.model import Model

TokenName: TypeAlias = Callable[[int], str]


def token_names(model: Model, special_tokens: str) -> TokenName | None:
    """None where special tokens are protected; otherwise the text of a token, by its id."""
    if special_tokens not in get_args(SpecialTokens):
        raise SpecError(
            f"unknown special_tokens {special_tokens!r}; {nearest(special_tokens, get_args(SpecialTokens))}"
        )
    if special_tokens == "protected":
        return None
    if (reason := _why_not(model)) is not None:
        raise UnsupportedError(f"special_tokens='ranked': {reason}; use 'protected'")
    name: TokenName = model.tokenizer.convert_ids_to_tokens
    return name


def _why_not(model: Model) -> str | None:
    if model.family.images:
        return "the class token of an image shows no part of it"
    if model.family.opaque:
        return "a function reads texts without special tokens"
    if model.family.recurrent:
        return f"{model.family.name} finds its texts by them, so none can be removed"
    if model.prompted:
        return "in a prompt they belong to the prompt, which is never scored"
    return None


def add_special_tokens(
    encoding: Encoding, units: tuple[Unit, ...], unit_of: Ints, name: TokenName
) -> tuple[tuple[Unit, ...], Ints]:
    """The units with one more for each special position, in the order of the positions; unseen units stay last."""
    place = _places(encoding.spans)
    players = int(unit_of.max(initial=-1)) + 1
    first = [int(np.flatnonzero(unit_of == u)[0]) for u in range(players)]
    tokens = {t: Unit(name(int(encoding.ids[t])), at, at, segment) for t, (segment, at) in place.items()}
    seen = sorted([*zip(first, units[:players], strict=True), *tokens.items()], key=lambda pair: pair[0])
    rank = {t: i for i, (t, _) in enumerate(seen)}
    merged = [rank[t if t in tokens else first[u]] if t in tokens or u >= 0 else -1 for t, u in enumerate(unit_of)]
    return (*(unit for _, unit in seen), *units[players:]), np.asarray(merged, np.int64)


def _places(spans: tuple[Span, ...]) -> dict[int, tuple[int, int]]:
    """Segment and character before which a special position stands.

    It belongs to the text that ends before it; the second one between two texts, as in </s></s>, to the text after it.
    """
    out: dict[int, tuple[int, int]] = {}
    for t, span in enumerate(spans):
        if span == SPECIAL:
            before = spans[t - 1] if t else SPECIAL
            after = next((s for s in spans[t + 1 :] if s != SPECIAL), None)
            earlier = next((s for s in reversed(spans[:t]) if s != SPECIAL), None)
            starts = earlier is None or (before == SPECIAL and after is not None and after.segment != earlier.segment)
            near = after if starts and after is not None else earlier
            out[t] = (0, 0) if near is None else (near.segment, near.start if starts else near.end)
    return out
