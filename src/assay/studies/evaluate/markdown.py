"""An evaluation as a Markdown text, for a page of a repository: verdict, table with intervals, how to run it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.reports.symbols import arrow, figures, legend, mark
from assay.studies.evaluate.length_limit import past_limit

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result


def markdown(result: Result, command: str | None = None) -> str:
    """The same numbers as the page; methods in the order of the first metric."""
    limit = past_limit(result.evaluation)
    parts = [
        f"**{result.overall}**",
        *([limit.sentence] if limit else []),
        _about(result),
        _table(result),
        _legend(result),
        "\n".join(f"- {result.sentence(metric)}" for metric in result.comparisons),
        *([f"```\n{command}\n```"] if command else []),
    ]
    return "\n\n".join(parts) + "\n"


def _about(result: Result) -> str:
    evaluation = result.evaluation
    scores = ", ".join(f"{name} {value:.3f}" for name, value in result.performance().items())
    data = f"{evaluation.dataset.name or 'data'} {evaluation.dataset.split or ''}".strip()
    said = (
        f"Model {evaluation.model.title} ({evaluation.model.family.name}); {data}, {len(evaluation.dataset)} examples"
    )
    return f"{said}; the model's own {scores}." if scores else f"{said}."


def _table(result: Result) -> str:
    found = result.comparisons
    heads = [f"{metric} {arrow(c.better)}" for metric, c in found.items()]
    methods = [s.method for s in next(iter(found.values())).standings]
    rows = [[f"`{m}`", *(_cell(result, metric, m) for metric in found)] for m in methods]
    lines = [["method", *heads], ["---"] * (len(heads) + 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(result: Result, metric: str, method: str) -> str:
    comparison = result.comparisons[metric]
    standing = comparison[method]
    return f"{' '.join(figures(standing.value, standing.low, standing.high))} {mark(standing, comparison).sign}"


def _legend(result: Result) -> str:
    used = {mark(s, c).sign for c in result.comparisons.values() for s in c.standings}
    return "; ".join(f"{m.sign} {m.words}" for m in legend(control=result.control is not None) if m.sign in used) + "."
