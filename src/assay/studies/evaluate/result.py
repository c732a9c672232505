"""assay.evaluate and what it returns: a table with intervals, a verdict in plain words, a page to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AssayError, SpecError
from assay.datasets.load import load_dataset
from assay.experiments.store import Store, default_folder
from assay.reports.method_style import MethodStyle, method_styles
from assay.statistics.bootstrap import Interval
from assay.statistics.pooled import pooled
from assay.statistics.verdict import Comparison, compare, overall
from assay.studies.evaluate.evaluation import Evaluation, run_evaluation
from assay.studies.evaluate.length_limit import PastLimit, past_limit
from assay.studies.evaluate.performance import performance
from assay.studies.evaluate.study import METHODS, METRICS, PLAUSIBILITY


@dataclass(frozen=True)
class Result:
    """The result of an evaluation: table, verdict, report."""

    evaluation: Evaluation

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """The methods of every metric, best first; only examples with a value for every method count."""
        metrics, seed = self.evaluation.metrics, int(self.evaluation.settings["seed"])
        comparisons = {}
        for name, values in self.evaluation.values.items():
            complete: NDArray[np.bool_] = np.all([~np.isnan(column) for column in values.values()], axis=0)
            if complete.any():
                columns = {method: self._weighted(name, column, complete) for method, column in values.items()}
                comparisons[name] = compare(columns, metrics[name].better, control=self.control, seed=seed)
        return comparisons

    def _weighted(self, metric: str, column: NDArray[np.float64], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        weights = self.evaluation.weights.get(metric)
        return column[rows] if weights is None else pooled(column[rows], weights[rows])

    @property
    def control(self) -> str | None:
        """The name of the random baseline, which the other methods must beat; None without one."""
        methods = self.evaluation.methods.items()
        return next((name for name, method in methods if type(method).__name__ == "Random"), None)

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

    @cached_property
    def twins(self) -> dict[str, str]:
        """Metrics with the same numbers as another one under this protocol, which is the value."""
        distinct, twins = list[str](), dict[str, str]()
        for metric in self.comparisons:
            original = next((other for other in distinct if self._equal(metric, other)), None)
            if original is None:
                distinct.append(metric)
            else:
                twins[metric] = original
        return twins

    def _equal(self, metric: str, other: str) -> bool:
        values, weights = self.evaluation.values, self.evaluation.weights
        equal = all(np.array_equal(x, values[other][m], equal_nan=True) for m, x in values[metric].items())
        return equal and np.array_equal(weights.get(metric, 1.0), weights.get(other, 1.0), equal_nan=True)

    @cached_property
    def distinct(self) -> dict[str, Comparison]:
        """The comparisons without metrics that repeat the numbers of another one."""
        return {metric: c for metric, c in self.comparisons.items() if metric not in self.twins}

    def same_as(self, metric: str) -> list[str]:
        """The metrics that repeat the numbers of this one."""
        return [twin for twin, original in self.twins.items() if original == metric]

    @cached_property
    def overall(self) -> str:
        """One sentence across metrics; metrics with the same numbers count once."""
        return overall(self.distinct)

    def sentence(self, metric: str) -> str:
        """The verdict on one metric."""
        if metric in self.twins:
            return f"{metric}: the same numbers as {self.twins[metric]} under this protocol."
        return self.comparisons[metric].sentence(metric)

    @property
    def verdict(self) -> str:
        """One sentence per metric and one overall."""
        return "\n".join([*map(self.sentence, self.comparisons), f"Overall: {self.overall}"])

    def to_markdown(self, command: str | None = None) -> str:
        """Verdict and table as Markdown."""
        from assay.studies.evaluate.markdown import markdown

        return markdown(self, command)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """Write the report, a self-contained page. command: the command line to show in it."""
        from assay.core.render import write_page
        from assay.studies.evaluate.page import page

        write_page(page(self, command), path)


def evaluate(
    model: Any = "builtin",
    dataset: Any = "builtin",
    methods: Sequence[Any] | None = None,
    metrics: Sequence[str] | None = None,
    *,
    protocol: str = "eraser",
    removal: str | None = None,
    units: str = "token",
    scope: int | str | None = None,
    target: str = "predicted",
    scale: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    batch_tokens: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Which explanation can be trusted: a ranking of methods with intervals and a verdict.

    dataset: anything `load_dataset` takes. methods, metrics: specs; None is a default choice. protocol: eraser, thesis,
    aml or aml_code. removal is for the methods; metrics remove as the protocol says. target: 'predicted' or 'gold'.
    scale: what is explained (probability, logit, ...) instead of each method's own.
    store: a folder for finished slices; None keeps them in a cache folder, so that the same call goes on where it was.
    """
    data = load_dataset(dataset)
    data = data if limit is None else data.take(limit, seed)
    marked = any(example.rationales for example in data)
    wanted = metrics if metrics is not None else [*METRICS, *(PLAUSIBILITY if marked else ())]
    for name, given in (("methods", methods), ("metrics", wanted)):
        if given is not None and not given:
            raise SpecError(f"{name}=[]: name at least one of `assay list {name}`, or leave {name} out for the default")
    kept = Store(Path(store) if store is not None else default_folder())
    return Result(
        run_evaluation(
            model,
            data,
            METHODS if methods is None else methods,
            wanted,
            protocol=protocol,
            removal=removal,
            units=units,
            scope=scope,
            target=target,
            scale=scale,
            seed=seed,
            store=kept,
            batch_tokens=batch_tokens,
            progress=progress,
        )
    )
