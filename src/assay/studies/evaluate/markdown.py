"""An evaluation as Markdown: verdict, table with intervals, and the command that created it."""

from __future__ import annotations

from assay.core.names import shareable
from assay.reports.symbols import arrow, format_interval, legend, symbol_of
from assay.studies.evaluate.result import Result


def markdown(result: Result, command: str | None = None) -> str:
    """The numbers of the page; methods in the order of the first metric."""
    blocks = [
        f"**{result.overall}**",
        *result.warnings,
        *result.evaluation.dataset.notes,
        _model_and_data(result),
        *(_comparisons(result) if result.comparisons else []),
        *([f"```\n{command}\n```"] if command else []),
    ]
    return "\n\n".join(blocks) + "\n"


def _comparisons(result: Result) -> list[str]:
    signs = [f"{symbol.sign} {symbol.legend}" for symbol in legend(list(result.comparisons.values()))]
    sentences = [*map(result.sentence, result.comparisons), *result.remarks]
    return [_table(result), *([f"{'; '.join(signs)}."] if signs else []), "\n".join(f"- {s}" for s in sentences)]


def _model_and_data(result: Result) -> str:
    model, dataset = result.evaluation.model, result.evaluation.dataset
    data = f"{shareable(dataset.name) or 'data'} {dataset.split or ''}".strip()
    text = f"Model: {model.title} ({model.family.name}). Data: {data}, {len(dataset)} examples."
    scores = ", ".join(f"{name} {interval.value:.3f}" for name, interval in result.performance.items())
    return f"{text} Performance of the model: {scores}." if scores else text


def _table(result: Result) -> str:
    heads = [f"{metric} {arrow(comparison.better)}" for metric, comparison in result.comparisons.items()]
    methods = [standing.method for standing in next(iter(result.comparisons.values())).standings]
    rows = [[f"`{method}`", *(_cell(result, metric, method) for metric in result.comparisons)] for method in methods]
    lines = [["method", *heads], ["---"] * (len(heads) + 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(result: Result, metric: str, method: str) -> str:
    comparison = result.comparisons[metric]
    standing = comparison[method]
    mean = " ".join(format_interval(standing.value, standing.low, standing.high, comparison.margin))
    return f"{mean} {symbol_of(standing, comparison).sign}"
