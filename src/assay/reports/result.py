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
from assay.experiments.evaluate import Evaluation, run_evaluation
from assay.experiments.kinds.evaluate import METHODS, METRICS, PLAUSIBILITY
from assay.experiments.store import Store, default_folder
from assay.reports.performance import performance
from assay.statistics.pooled import pooled
from assay.statistics.verdict import Comparison, compare, overall


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
        from assay.reports.markdown import markdown

        return markdown(self, command)

    def to_html(self, path: str | Path, command: str | None = None) -> None:
        """One self-contained page."""
        from assay.reports.html import page

        try:
            Path(path).write_text(page(self, command), encoding="utf-8")
        except OSError as error:
            raise AssayError(f"cannot write {path}: {error.strerror}") from error


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
    agreement: str = "spearman",
    limit: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    batch_tokens: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Which explanation can be trusted: a ranking of methods with intervals and a verdict.

    dataset: anything `load_dataset` takes. methods, metrics: specs; None is a default choice. protocol: eraser, thesis,
    aml or aml_code. removal is for the methods; metrics remove as the protocol says. target: 'predicted' or 'gold'.
    scale: what is explained (probability, logit, ...) instead of each method's own. agreement: how methods are compared
    with each other: spearman, kendall or top_k_overlap.
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
            agreement=agreement,
            seed=seed,
            store=kept,
            batch_tokens=batch_tokens,
            progress=progress,
        )
    )
