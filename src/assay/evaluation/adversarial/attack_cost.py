"""What an attack costs, said before it starts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AttackCost:
    """An upper bound: an attack ends early when it no longer moves."""

    inputs: int
    attacks: int  # on each input: methods times objectives
    steps: int  # of each attack
    passes: int  # sequences run forwards and backwards
    seconds: float

    def __str__(self) -> str:
        inputs = "1 input" if self.inputs == 1 else f"each of {self.inputs} inputs"
        return (
            f"{self.attacks} attack{'s' * (self.attacks != 1)} on {inputs}, up to {self.steps} steps each: "
            f"up to {self.passes:,} passes, roughly {_time(self.seconds)}"
        )


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
