"""The result of an evaluation: a table with intervals, a verdict, and a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AssayError
from assay.statistics.pooled import pooled
from assay.statistics.verdict import Comparison, compare, overall
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.performance import performance


@dataclass(frozen=True)
class Result:
    """What an evaluation found."""

    evaluation: Evaluation

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Every metric's methods, best first; examples that some method has no value for are left out."""
        made = self.evaluation.metrics
        out = {}
        for name, values in self.evaluation.values.items():
            whole: NDArray[np.bool_] = np.all([~np.isnan(column) for column in values.values()], axis=0)
            if whole.any():
                kept = {method: self._weighted(name, column, whole) for method, column in values.items()}
                seed = int(self.evaluation.settings["seed"])
                out[name] = compare(kept, made[name].facts.better, control=self.control, seed=seed)
        return out

    def _weighted(self, metric: str, column: NDArray[np.float64], whole: NDArray[np.bool_]) -> NDArray[np.float64]:
        weights = self.evaluation.weights.get(metric)
        return column[whole] if weights is None else pooled(column[whole], weights[whole])

    @property
    def control(self) -> str | None:
        """The method that knows nothing, which every other one must beat; None if it is not among them."""
        named = [name for name, method in self.evaluation.methods.items() if type(method).__name__ == "Random"]
        return named[0] if named else None

    def table(self) -> list[dict[str, Any]]:
        """Rows of method, metric, value, low, high, n, better, beats_random, best_group."""
        return [
            {
                "method": s.method,
                "metric": metric,
                "value": s.value,
                "low": s.low,
                "high": s.high,
                "n": s.n,
                "better": c.better,
                "beats_random": s.beats_random,
                "best_group": s.best_group,
            }
            for metric, c in self.comparisons.items()
            for s in c.standings
        ]

    def to_pandas(self) -> Any:
        try:
            import pandas
        except ImportError as error:
            raise AssayError("this needs pandas; install it with: pip install 'assay[data]'") from error
        return pandas.DataFrame(self.table())

    @property
    def overall(self) -> str:
        """One sentence across metrics."""
        return overall(self.comparisons)

    def sentence(self, metric: str) -> str:
        """The verdict on one metric."""
        return self.comparisons[metric].sentence(metric)

    @property
    def verdict(self) -> str:
        """A sentence per metric and one overall."""
        return "\n".join([*map(self.sentence, self.comparisons), f"Overall: {self.overall}"])

    def performance(self) -> dict[str, float]:
        """How well the model does on these data, where they have its labels."""
        return {name: found.value for name, found in performance(self.evaluation).items()}

    def to_markdown(self, command: str | None = None) -> str:
        """Verdict and table for a page of a repository."""
        from assay.studies.evaluate.markdown import markdown

        return markdown(self, command)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """One self-contained page."""
        from assay.studies.evaluate.page import page

        try:
            Path(path).write_text(page(self, command), encoding="utf-8")
        except OSError as error:
            raise AssayError(f"cannot write {path}: {error.strerror}") from error
