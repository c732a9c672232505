"""Three ways to get a ranking of words out of a language model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from assay.explainers.prompting._question import Question
from assay.models.decoding import Decoding, end_tokens
from assay.models.model import Model


def first_token_scores(model: Model, questions: Sequence[Question]) -> list[dict[str, float]]:
    """The probability that the answer begins with a word's first token, among the words of the text; one pass."""
    logits = Decoding(model, [q.ids for q in questions]).logits.double().cpu()
    scores = []
    for row, question in zip(logits, questions, strict=True):
        different = sorted(set(question.first_tokens))
        shares = dict(zip(different, row[different].softmax(0).tolist(), strict=True))
        scores.append({key: shares[tokens[0]] for key, tokens in question.tokens.items()})
    return scores


def constrained_rankings(model: Model, questions: Sequence[Question], most: int) -> list[list[str]]:
    """Up to `most` words of each text in the order in which greedy decoding names them, if it may name nothing else."""
    decoding, limit = Decoding(model, [q.ids for q in questions]), _limit(model)
    rows = [_ConstrainedRow(q, most) for q in questions]
    while True:
        for row, length in zip(rows, decoding.lengths, strict=True):
            row.finish(full=length >= limit)
        if all(row.done for row in rows):
            return [row.ranked for row in rows]
        logits = decoding.logits.cpu()
        decoding.feed([row.next_token(values, model.pad_id) for row, values in zip(rows, logits, strict=True)])


class _ConstrainedRow:
    """The words that one text has left, and the tokens of the one that is being written."""

    def __init__(self, question: Question, most: int) -> None:
        self.left = dict(question.tokens)
        self.most = min(most, len(self.left))
        self.ranked: list[str] = []
        self.written: tuple[int, ...] = ()
        self.done = False

    def next_token(self, logits: torch.Tensor, pad: int) -> int:
        """The likeliest token that leads to a word that is left; of equal ones the one with the smallest id."""
        if self.done:
            return pad
        n = len(self.written)
        allowed = sorted({tokens[n] for tokens in self.left.values() if tokens[:n] == self.written})
        token = allowed[int(logits[allowed].argmax())]
        self.written = (*self.written, token)
        for key in [key for key, tokens in self.left.items() if tokens == self.written]:
            self._rank(key)
            self.written = ()
        return token

    def finish(self, *, full: bool) -> None:
        """End where enough words are named, only one is left to name, or the model has no position left."""
        if len(self.ranked) < self.most and len(self.left) == 1:
            self._rank(next(iter(self.left)))
        self.done = self.done or full or len(self.ranked) >= self.most

    def _rank(self, key: str) -> None:
        self.ranked.append(key)
        del self.left[key]


def free_answers(
    model: Model, questions: Sequence[Question], tokens: int, seeds: Sequence[int] | None = None
) -> list[str]:
    """What the model writes, up to `tokens` tokens: greedily, or sampled with a seed for each text."""
    decoding, ends, limit = Decoding(model, [q.ids for q in questions]), end_tokens(model), _limit(model)
    draws = None if seeds is None else [np.random.default_rng(seed) for seed in seeds]
    written: list[list[int]] = [[] for _ in questions]
    done = [False] * len(questions)
    for _ in range(tokens):
        done = [d or length >= limit for d, length in zip(done, decoding.lengths, strict=True)]
        chosen = _next_tokens(decoding.logits, draws)
        for i, token in enumerate(chosen):
            done[i] = done[i] or token in ends
            written[i] += [] if done[i] else [token]
        if all(done):
            break
        decoding.feed([model.pad_id if d else token for d, token in zip(done, chosen, strict=True)])
    return [str(model.tokenizer.decode(ids, skip_special_tokens=True)) for ids in written]


def _next_tokens(logits: torch.Tensor, draws: Sequence[np.random.Generator] | None) -> list[int]:
    if draws is None:
        greedy: list[int] = logits.argmax(-1).tolist()
        return greedy
    shares = logits.double().softmax(-1).cpu().numpy()
    return [
        int(np.searchsorted(row.cumsum(), draw.random() * row.sum())) for row, draw in zip(shares, draws, strict=True)
    ]


def _limit(model: Model) -> int:
    return int(getattr(model.encoder, "limit", 1 << 30))
