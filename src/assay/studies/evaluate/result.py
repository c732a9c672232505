"""The result of an evaluation: a table with intervals, a verdict, and a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import SpecError, nearest
from assay.core.optional import optional
from assay.evaluation.metrics import is_faithfulness
from assay.reports.method_style import MethodStyle, method_styles
from assay.statistics.bootstrap import Interval
from assay.statistics.pooled import pooled
from assay.statistics.verdict import Comparison, compare, overall
from assay.studies.evaluate.basis import lack_of_basis
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.length_limit import PastLimit, past_limit
from assay.studies.evaluate.performance import performance
from assay.studies.evaluate.remarks import explains, remarks_of, warnings_of


@dataclass(frozen=True, repr=False)
class Result:
    """The result of an evaluation: table, verdict, report."""

    evaluation: Evaluation

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """The methods of every metric, best first; only examples with a value for every method count."""
        seed, reason = int(self.evaluation.settings["seed"]), lack_of_basis(self.evaluation, self.performance)
        comparisons = {}
        for name, values in self.evaluation.values.items():
            complete: NDArray[np.bool_] = np.all([~np.isnan(column) for column in values.values()], axis=0)
            if complete.any():
                comparison = compare(
                    self._weighted(name, values, complete),
                    self.evaluation.metrics[name].facts.better,
                    control=self.control,
                    margin=self._margin(name),
                    by_size=self._weighted(name, self.evaluation.by_size.get(name, {}), complete),
                    seed=seed,
                )
                comparisons[name] = replace(comparison, unranked=reason)
        return comparisons

    def _margin(self, metric: str) -> float:
        """The smallest difference that matters; on the output of a regression, relative to its standard deviation."""
        evaluation, rule = self.evaluation, self.evaluation.metrics[metric]
        if evaluation.margin is not None:
            return evaluation.margin
        raw = is_faithfulness(rule) and evaluation.model.task == "regression"
        return float(rule.facts.margin * (evaluation.outputs.std() if raw else 1.0))

    def _weighted(
        self, metric: str, columns: Mapping[str, NDArray[np.float64]], rows: NDArray[np.bool_]
    ) -> dict[str, NDArray[np.float64]]:
        weights = self.evaluation.weights.get(metric)
        chosen = {method: column[rows] for method, column in columns.items()}
        return chosen if weights is None else {m: pooled(column, weights[rows]) for m, column in chosen.items()}

    @property
    def control(self) -> str | None:
        """The name of the random baseline, which the other methods must beat; None without one."""
        methods = self.evaluation.methods.items()
        return next((name for name, method in methods if method.facts.chance), None)

    @cached_property
    def method_styles(self) -> dict[str, MethodStyle]:
        return method_styles(list(self.evaluation.methods), self.control)

    @cached_property
    def performance(self) -> dict[str, Interval]:
        """The model's scores on these data, if they are labelled."""
        return performance(self.evaluation)

    @cached_property
    def past_limit(self) -> PastLimit | None:
        """What the model did not read because of its length limit."""
        return past_limit(self.evaluation)

    def table(self) -> list[dict[str, Any]]:
        """One row per method and metric: the mean with its interval, the explained class, and how it compares.

        gain: how much better than random; margin: the smallest gain that matters.
        """
        return [
            {
                "method": s.method,
                "metric": metric,
                "value": s.value,
                "low": s.low,
                "high": s.high,
                "n": s.n,
                "better": c.better,
                "explained": explains(self.evaluation, metric),
                "gain": c.gain(s.method),
                "margin": c.margin,
                "beats_random": s.beats_random,
                "best_group": s.best_group,
            }
            for metric, c in self.comparisons.items()
            for s in c.standings
        ]

    def to_pandas(self) -> Any:
        """The rows of `table` as a pandas DataFrame."""
        return optional("pandas", "data").DataFrame(self.table())

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the means with their 95 % intervals, best method on top, with matplotlib.

        metric: one of `comparisons`, drawn on `ax` or a new figure; returns the axes. None: all of them, in one figure;
        returns the list of axes.
        """
        from assay.reports.comparison_plot import plot_comparison, plot_comparisons

        if not self.comparisons:
            raise SpecError(" ".join(["There is nothing to draw: no metric was computed.", *self.warnings]))
        if metric is None and ax is None:
            return plot_comparisons(self.comparisons, self.method_styles)
        known = next(iter(self.comparisons)) if metric is None and len(self.comparisons) == 1 else metric
        if known not in self.comparisons:
            raise SpecError(f"name one metric to draw, not {metric!r}; {nearest(str(metric), self.comparisons)}")
        return plot_comparison(known, self.comparisons[known], self.method_styles, ax)

    def __repr__(self) -> str:
        e = self.evaluation
        return f"<Result: {e.summary}>\n{self.overall}"

    def _repr_html_(self) -> str:
        from assay.studies.evaluate.notebook import in_notebook

        return in_notebook(self)

    @cached_property
    def warnings(self) -> list[str]:
        """What makes the results weaker than they look."""
        return warnings_of(self.evaluation)

    @cached_property
    def remarks(self) -> list[str]:
        """How the numbers are to be read: which class was explained, what a clear difference is."""
        return remarks_of(self.evaluation, self.comparisons)

    @cached_property
    def overall(self) -> str:
        """One sentence across metrics."""
        return overall(self.comparisons)

    def sentence(self, metric: str) -> str:
        """The verdict on one metric."""
        return self.comparisons[metric].sentence(metric)

    @property
    def verdict(self) -> str:
        """One sentence per metric, how to read them, and one sentence overall."""
        return "\n".join([*map(self.sentence, self.comparisons), *self.remarks, f"Overall: {self.overall}"])

    def to_markdown(self, command: str | None = None) -> str:
        """Verdict and table as Markdown."""
        from assay.studies.evaluate.markdown import markdown

        return markdown(self, command)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write the report, a self-contained page. command: the command line to show in it."""
        from assay.core.render import write_page
        from assay.studies.evaluate.page import page

        write_page(page(self, command), path)
