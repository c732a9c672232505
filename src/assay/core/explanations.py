"""What `explain` returns for several methods: a dict that draws the methods side by side."""

from __future__ import annotations

from typing import Any

from assay.core.attributions import REPR
from assay.core.types import Attribution


class Explanations(dict[str, Any]):
    """An Attribution per method, or Attributions if there are several inputs."""

    def by_input(self) -> list[dict[str, Attribution]]:
        """One dict per input: the attribution of each method."""
        several = [[a] if isinstance(a, Attribution) else a for a in self.values()]
        return [dict(zip(self, of_input, strict=True)) for of_input in zip(*several, strict=True)]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per unit: example, method, label, unit, text, start, end, segment, score."""
        from assay.core.frames import tidy

        pairs = [pair for of_input in self.by_input() for pair in of_input.items()]
        return tidy([a for _, a in pairs], [method for method, _ in pairs])

    def to_html(self, path: str | None = None) -> str:
        """A self-contained HTML page with the methods side by side; written to `path` if one is given."""
        from assay.core.explanation_page import to_html

        return to_html([list(of_input.values()) for of_input in self.by_input()], path, list(self))

    def plot(self, *, top: int = 15) -> Any:
        """Draw the methods side by side with matplotlib, a row per input; returns the array of axes."""
        from assay.core.plot import plot_all

        return plot_all(self.by_input(), top)

    def _repr_html_(self) -> str:
        from assay.core.explanation_page import fragment

        return fragment([list(of_input.values()) for of_input in self.by_input()], list(self))

    def __repr__(self) -> str:
        inputs = self.by_input()
        lines = [f"{method!r}: {a!r}" for of_input in inputs[:REPR] for method, a in list(of_input.items())[:REPR]]
        heading = f"<Explanations of {len(inputs)} input{'s' * (len(inputs) != 1)} by {', '.join(self)}>"
        more = [] if len(lines) == len(inputs) * len(self) else [f"... and {len(inputs) * len(self) - len(lines)} more"]
        return "\n  ".join([heading, *lines, *more])
