"""The settings of a human study, which are saved with its items."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from assay.core.errors import SpecError, nearest

Kind = Literal["ranking", "choice", "guess", "next_guess"]
GUESSES = ("guess", "next_guess")  # kinds in which the model's answer is guessed
Colours = Literal["support", "signed", "published"]
Order = Literal["balanced", "fixed"]

MOST_METHODS = 8  # more heat maps cannot be compared on one page
QUESTIONS = {
    "ranking": "Which explanation aligns the most with how you would explain a similar decision?",
    "choice": "Which of the two explanations aligns more with how you would explain a similar decision?",
    "guess": "What does the model answer?",
    "next_guess": "What does the model answer to the new input?",
}
INSTRUCTIONS = {
    "ranking": "You see an input, the model's answer, and heat maps that mark what spoke for this answer. Give each "
    "heat map a rank: 1 is the best. Equally good ones share a rank, and the next rank is skipped, as in a race: "
    "1, 1, 3.",
    "choice": "You see an input, the model's answer, and two heat maps that mark what spoke for this answer. "
    "Choose the better one, or say that they are equally good.",
    "guess": "You see an input and, most of the time, a heat map that marks what spoke for the model's answer. "
    "Guess the answer that the model gave, which may be wrong.",
    "next_guess": "You see an input, the model's answer and, most of the time, a heat map that marks what spoke for "
    "this answer. Then guess what the model answers to a new input, which may be wrong.",
}
CONSENT = (
    "Taking part is voluntary, and you can stop at any time. Your answers and comments are stored with the name of "
    "your account and are used to compare explanations. I have read this and I agree to take part."
)


@dataclass(frozen=True, kw_only=True)
class HumanStudy:
    """What is asked, and how the tasks are shared out."""

    kind: Kind = "ranking"
    """ranking: rank the heat maps of all methods; choice: the better of two; guess: guess the model's answer, with a
    heat map or without one; next_guess: the same for another input than the one that is explained."""
    question: str | None = None
    """Question above the heat maps. Default: that of Fernandes et al. (2022) or, for guesses, "What does the model
    answer?"."""
    instructions: str | None = None
    """Instructions for participants. Default: a few sentences for the kind."""
    consent: str = CONSENT
    """Text that participants agree to before they start; empty for none."""
    colours: Colours = "support"
    """support: one colour for what speaks for the answer, so that colours do not give the method away; signed: a second
    colour for what speaks against it; published: as in the paper, methods without negative scores in blue."""
    order: Order = "balanced"
    """balanced: each heat map stands in each place equally often; fixed: one random order per example, for all."""
    annotators: int = 3
    """Participants who judge each example."""
    per_participant: int | None = None
    """Examples of each participant. Default: all."""
    repeats: int = 5
    """Examples that each participant judges twice, to see whether they agree with themselves."""
    practice: int = 2
    """Examples to practise on, which are not analysed."""
    seed: int = 0
    """Seed of the examples, the orders and all random draws."""

    def __post_init__(self) -> None:
        for name, allowed in (("kind", Kind), ("colours", Colours), ("order", Order)):
            if getattr(self, name) not in get_args(allowed):
                raise SpecError(
                    f"{name}={getattr(self, name)!r} is unknown; {nearest(str(getattr(self, name)), get_args(allowed))}"
                )
        for name, least in (("annotators", 1), ("repeats", 0), ("practice", 0)):
            if getattr(self, name) < least:
                raise SpecError(f"{name}={getattr(self, name)}: must be at least {least}")
        if self.per_participant is not None and self.per_participant < 1:
            raise SpecError(
                f"per_participant={self.per_participant}: must be at least 1; leave it out for all examples"
            )

    @property
    def asked(self) -> str:
        return self.question or QUESTIONS[self.kind]

    @property
    def explained(self) -> str:
        return self.instructions or INSTRUCTIONS[self.kind]

    def check_methods(self, count: int) -> None:
        least = 1 if self.kind in GUESSES else 2
        if not least <= count <= MOST_METHODS:
            raise SpecError(
                f"{count} methods were given; a study of the kind {self.kind} takes {least} to {MOST_METHODS}"
            )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(content: dict[str, Any]) -> HumanStudy:
        names = {f.name for f in fields(HumanStudy)}
        return HumanStudy(**{name: value for name, value in content.items() if name in names})
