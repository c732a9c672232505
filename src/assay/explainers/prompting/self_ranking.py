"""Self-ranking: the language model is asked which words of the text were important."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import torch

from assay.core.errors import InputError, SpecError, UnsupportedError
from assay.core.notices import notice
from assay.core.ranges import COUNT, Range, check_ranges
from assay.core.rng import seed_of
from assay.core.types import Scores, Target
from assay.explainers.prompting._answer import read_answer
from assay.explainers.prompting._question import Question, question_prompt
from assay.explainers.prompting._rankings import constrained_rankings, first_token_scores, free_answers
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.readout import LabelWords
from assay.models.target import Targets

Mode = Literal["constrained", "one_pass", "free"]


class Ranking(NamedTuple):
    """The scores of the words of a text, and the number of words that the answer named in vain."""

    scores: dict[str, float]
    dropped: int = 0


@dataclass(frozen=True)
class SelfRanking:
    """score = 1 - (r - 1) / n for the word that the language model names r-th of the n words of the text, 0 if it names
    it not at all (Barkan et al. 2024, baseline "LLM").

    The model reads the text and the explained label and is asked for the words that matter most, through its chat
    template if it has one (chat=False: as plain text). mode=constrained lets it write nothing but words of the text, up
    to `most`; one_pass scores each word by the probability of its first token as the first of the answer. With
    contrast=True the same is asked about the other labels, and log p(token | label) minus its mean over them counts:
    without, a model names whatever it would name for any label. mode=free lets it write what it likes, as in the paper:
    words that the text lacks are dropped and counted, and an answer without any word of the text is sampled again,
    up to `retries` times. All places of a word have its score.
    Weakness: what a model says about itself need not be what it does; small models name words by their place or
    frequency, and in free answers mostly words that the text lacks.
    """

    mode: Mode = "constrained"
    contrast: bool = True
    most: int = 20
    question: str | None = None
    chat: bool | None = None
    answer_tokens: int = 96
    retries: int = 2
    counts: ClassVar[tuple[str, ...]] = ("words", "ranked", "named", "dropped")
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability",
        signed=False,
        complete=False,
        class_dependent=True,
        passes="1 f + 1 f of the question for each label, then single tokens",
        memory="L x T x D",
    )

    def __post_init__(self) -> None:
        check_ranges(self, most=COUNT, answer_tokens=COUNT, retries=Range(0, whole=True))
        if self.question is not None and "{text}" not in self.question:
            raise SpecError(
                "question lacks {text}, where the text goes; it may also have {label}, {labels}, {text_pair}"
            )
        if self.question is not None and "{label}" not in self.question and self.contrast and self.mode != "free":
            raise SpecError(
                "question lacks {label}, so the answers about the labels cannot differ; add it, or give contrast=False"
            )

    @property
    def rows(self) -> int:
        return 4  # questions about all labels, which are longer than the prompt

    @staticmethod
    def refusal(model: Model) -> str | None:
        """Why a model cannot be asked; None if it can."""
        if isinstance(model.readout, LabelWords):
            return None
        return (
            "self_ranking asks a language model in words; a classification head answers none. Load a causal language "
            "model with prompt= and labels="
        )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        if (reason := self.refusal(model)) is not None:
            raise UnsupportedError(reason)
        if batch.embeddings is not None:
            raise UnsupportedError("self_ranking reads texts, so changed embeddings do not reach it")
        with torch.no_grad():
            logits = model.full_logits(batch)
        targets = targets.resolve(logits)
        asked = [self._asked(model, batch, i, target) for i, target in enumerate(targets.resolved)]
        questions = [first for first, *_ in asked]
        rankings = self._rankings(model, asked, batch.seeds)
        scores = torch.zeros(batch.ids.shape)
        for row, encoding, question, ranking in zip(scores, batch.encodings, questions, rankings, strict=True):
            first = [int(np.flatnonzero(encoding.unit_of == u)[0]) for u in range(encoding.players)]
            row[first] = torch.from_numpy(question.unit_scores(ranking.scores, encoding))
        return Scores(scores.to(model.device), self._extra(batch, questions, rankings), logits)

    def _asked(self, model: Model, batch: Batch, i: int, target: Target) -> list[Question]:
        """The question about the explained label and, to compare, those about the others, or about one of them."""
        label, others = int(target.label or 0), list[int]()
        if self.contrast and self.mode != "free":
            others = [other for other in range(len(model.labels)) if other != label]
        if target.against is not None:
            if not others:
                raise InputError("self_ranking without contrast cannot compare one label with another; omit against", i)
            others = [int(target.against)]
        return [self._question(model, batch, i, one) for one in (label, *others)]

    def _question(self, model: Model, batch: Batch, i: int, label: int) -> Question:
        encoding, tokenizer = batch.encodings[i], model.tokenizer
        pair = encoding.example.text_pair is not None
        chat = bool(getattr(tokenizer, "chat_template", None)) if self.chat is None else self.chat
        prompt = question_prompt(tokenizer, self.question, model.labels[label], model.labels, pair=pair, chat=chat)
        room = {"free": self.answer_tokens, "one_pass": 0, "constrained": len(encoding)}[self.mode]
        limit = int(model.encoder.limit)  # type: ignore[union-attr]
        try:
            question = Question.of(prompt, tokenizer, encoding, limit, room)
        except InputError as error:
            no_room = f"the question leaves no room for the text and an answer in the model's {limit} positions"
            raise InputError(f"self_ranking: {no_room}; shorten the question or the text", i) from error
        return question

    def _rankings(self, model: Model, asked: Sequence[Sequence[Question]], seeds: Sequence[int]) -> list[Ranking]:
        if self.mode == "one_pass":
            return [Ranking(scores) for scores in first_token_scores(model, asked)]
        questions = [first for first, *_ in asked]
        if self.mode == "constrained":
            found = constrained_rankings(model, asked, self.most)
            return [Ranking(_by_rank(ranked, q)) for ranked, q in zip(found, questions, strict=True)]
        return self._free(model, questions, seeds)

    def _free(self, model: Model, questions: Sequence[Question], seeds: Sequence[int]) -> list[Ranking]:
        """Rankings of free answers; asks again where no word can be used. Words of failed answers count as dropped."""
        rankings = [Ranking({})] * len(questions)
        open_rows = list(range(len(questions)))
        for attempt in range(1 + self.retries):
            drawn = [seed_of("answer", seeds[i], attempt) for i in open_rows] if attempt else None
            answers = free_answers(model, [questions[i] for i in open_rows], self.answer_tokens, drawn)
            for i, answer in zip(open_rows, answers, strict=True):
                read = read_answer(answer, questions[i].words)
                rankings[i] = Ranking(_by_rank(read.ranked, questions[i]), rankings[i].dropped + read.dropped)
            open_rows = [i for i in open_rows if not rankings[i].scores]
            if not open_rows:
                break
        return rankings

    def _extra(self, batch: Batch, questions: Sequence[Question], rankings: Sequence[Ranking]) -> dict[str, list[int]]:
        """The counts of each text."""
        rows = []
        for encoding, question, ranking in zip(batch.encodings, questions, rankings, strict=True):
            ranked = len(ranking.scores)
            rows.append((len(question.words), ranked, ranked + ranking.dropped, ranking.dropped))
            if ranking.dropped:
                message = "self_ranking: {most} of the words that the model named do not occur in the text ({inputs}); "
                notice("counts", message + "they were dropped", encoding.example.content, ranking.dropped)
            if not ranked:
                message = "self_ranking: the model named no word of the text ({inputs}), so all scores there are 0"
                notice("counts", message, encoding.example.content)
        return dict(zip(self.counts, map(list, zip(*rows, strict=True)), strict=True))

    def remark(self, counts: Mapping[str, Sequence[float]]) -> str:
        """What the counts of many texts say, as a sentence; empty if every word was ranked and none was dropped."""
        words, ranked, named, dropped = (sum(counts[name]) for name in self.counts)
        if ranked == words and not dropped:
            return ""
        silent = sum(not r for r in counts["ranked"])
        parts = [f"ranked {ranked / max(words, 1):.0%} of the different words of the texts"]
        if dropped:
            parts.append(f"{dropped / named:.0%} of the words that it named do not occur in the text and were dropped")
        if silent:
            parts.append(f"on {silent} of {len(counts['ranked'])} texts it named no word of the text")
        return "; ".join(parts)


def _by_rank(ranked: Sequence[str], question: Question) -> dict[str, float]:
    count = len(question.words)
    return {key: 1 - r / count for r, key in enumerate(ranked)}
