"""What a claim is: the paper's words and numbers, and its statements under the first and under later criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.statistics.claims import Criterion, Judgement, Statement, judge
from assay.statistics.estimates import Measured

from ..evidence import Evidence, Leaks

MARGIN = 0.02  # areas, scores and shares of the mass that differ by less do not matter
ABOVE = Criterion.above(MARGIN)
NOT_BELOW = Criterion(low=-MARGIN)
UNDEFINED = "masking everything costs the model nothing significant, so areas are undefined"

Statements = Callable[[Evidence], Sequence[Statement]]
Numbers = Callable[[Evidence], str]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper. `first` makes its statements by the first criterion, which is the docstring of `first`."""

    title: str
    source: str  # where the paper says so
    paper: str  # its numbers
    here: Numbers
    first: Statements
    later: Mapping[str, Statements] = field(default_factory=dict)  # by what changed
    note: str = ""

    @property
    def criterion(self) -> str:
        return " ".join((self.first.__doc__ or "").split())

    def judged(self, e: Evidence) -> Judgement:
        return judge(self.first(e))

    def by_leaks(self, e: Evidence) -> dict[Leaks, Judgement]:
        """The verdict under each way of counting leaks."""
        return {leaks: self.judged(e.counting(leaks)) for leaks in Leaks}

    def by_later_criteria(self, e: Evidence) -> dict[str, Judgement]:
        return {change: judge(statements(e)) for change, statements in self.later.items()}

    def fragile(self, e: Evidence) -> bool:
        """Whether any statement comes out otherwise if leaks are counted otherwise."""
        outcomes = [[f.outcome for f in judgement.findings] for judgement in self.by_leaks(e).values()]
        return any(row != outcomes[0] for row in outcomes)


def statement(text: str, criterion: Criterion, quantity: Measured | None, *, ran: bool) -> Statement:
    """Without a quantity although everything was run, an area is undefined and the statement cannot be tested."""
    return Statement(text, criterion, quantity, UNDEFINED if ran and quantity is None else "")
