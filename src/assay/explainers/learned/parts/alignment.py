"""From the tokens of one tokenizer to those of another, by the characters they share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from assay.core.types import Span
from assay.explainers.learned.parts.forms import Join


def alignment(ours: Sequence[Span], theirs: Sequence[Span], *, whole: bool = True) -> list[list[int]]:
    """For each of our tokens, the indices of their tokens with a character in common.

    A token that no other covers takes those of its neighbours: the ones strictly between them, or evenly spaced ones if
    there are several such tokens in a row. Special tokens get none, nor does the end of a text of which `theirs` holds
    only the beginning (`whole` False).
    """
    if not ours or not theirs:
        return [[] for _ in ours]
    a, b = (np.array([(s.segment, s.start, s.end) for s in spans]).T for spans in (ours, theirs))
    common = np.minimum.outer(a[2], b[2]) - np.maximum.outer(a[1], b[1])
    shared = (common > 0) & np.equal.outer(a[0], b[0]) & (a[0] >= 0)[:, None]
    lists = [np.flatnonzero(row).tolist() for row in shared]
    for segment in sorted({int(s) for s in a[0] if s >= 0}):
        _fill(lists, [i for i, span in enumerate(ours) if span.segment == segment], whole=whole)
    return lists


def _fill(lists: list[list[int]], positions: list[int], *, whole: bool) -> None:
    """Give the tokens of one text that have no counterpart those of their neighbours."""
    runs = [list(run) for _, run in groupby(positions, key=lambda i: bool(lists[i]))]
    before: int | None = None
    for k, run in enumerate(runs):
        if lists[run[0]]:
            before = max(lists[run[-1]])
            continue
        after = min(lists[runs[k + 1][0]]) if k + 1 < len(runs) else None
        if before is None and after is None:
            return  # nothing is covered at all
        if after is None and not whole:
            return
        for i, found in zip(run, _between(before, after, len(run)), strict=True):
            lists[i] = found


def _between(before: int | None, after: int | None, count: int) -> list[list[int]]:
    if before is None or after is None:
        (known,) = [i for i in (before, after) if i is not None]
        return [[known]] * count
    gap = after - before
    if gap <= 1:
        return [[after if gap == 1 else before]] * count
    if count == 1:
        return [list(range(before + 1, after))]
    return [[round(at)] for at in np.linspace(before, after, count + 2)[1:-1]]


def carried_over(scores: Tensor, lists: Sequence[Sequence[Sequence[int]]], width: int, join: Join) -> Tensor:
    """(B,width) scores of our tokens from scores (B,T) of theirs: the maximum, mean or minimum of those in the lists.

    0 where a list is empty.
    """
    longest = max((len(found) for row in lists for found in row), default=0) or 1
    index = np.full((len(lists), width, longest), -1, np.int64)
    for b, row in enumerate(lists):
        for t, found in enumerate(row):
            index[b, t, : len(found)] = found
    at = torch.from_numpy(index).to(scores.device)
    valid = at >= 0
    picked = scores.unsqueeze(1).expand(-1, width, -1).gather(2, at.clamp(min=0))
    if join == "mean":
        return (picked * valid).sum(-1) / valid.sum(-1).clamp(min=1)
    fill = -torch.inf if join == "max" else torch.inf
    joined = picked.masked_fill(~valid, fill)
    out = joined.amax(-1) if join == "max" else joined.amin(-1)
    return torch.where(valid.any(-1), out, 0.0)
