"""Tables as CSV, figures as SVG, and the report of a plan, which is written once and kept in a folder."""

from __future__ import annotations

import io
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, InputError
from assay.core.optional import optional
from assay.experiments.runs import Run
from assay.experiments.store import Store

TYPES = {".html": "text/html; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".json": "application/json",
         ".svg": "image/svg+xml"}  # fmt: skip


def figure(table: Sequence[Mapping[str, Any]]) -> bytes:
    """The means of all methods with their intervals, a panel per metric, as SVG."""
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for row in table:
        by_metric.setdefault(row["metric"], []).append(row)
    heights = [0.34 * len(rows) + 1.0 for rows in by_metric.values()]
    drawn = optional("matplotlib.figure", "plots").Figure(layout="constrained", figsize=(6.4, sum(heights)))
    axes = drawn.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, (metric, rows) in zip(axes, by_metric.items(), strict=True):
        _panel(ax, metric, rows)
    out = io.BytesIO()
    drawn.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _panel(ax: Any, metric: str, rows: Sequence[Mapping[str, Any]]) -> None:
    ordered = sorted(rows, key=lambda row: -row["mean"] if row["better"] != "lower" else row["mean"])
    for place, row in enumerate(ordered):
        known = row["low"] == row["low"] and row["high"] == row["high"]
        error = [[max(0.0, row["mean"] - row["low"])], [max(0.0, row["high"] - row["mean"])]] if known else None
        ax.errorbar(row["mean"], place, xerr=error, fmt="o", color="#0b6b75", capsize=3)
    ax.set_yticks(range(len(ordered)), [row["method"].replace("$", r"\$") for row in ordered])
    ax.invert_yaxis()
    ax.set_title(metric.replace("$", r"\$"), fontsize="medium")
    direction = f"; {ordered[0]['better']} is better" if ordered[0]["better"] else ""
    ax.set_xlabel(f"mean and 95 % interval{direction}")


@dataclass
class Reports:
    """Reports of plans, each in a folder of its own that ends with the server. Pages are found by their number."""

    store: Store
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="assay-reports-")))
    written: dict[str, list[Path]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def build(self, run: Run) -> None:
        """Write the report of a plan: pages, tables as CSV and JSON, figures as SVG."""
        import assay

        if run.plan is None:
            raise InputError("the plan of this run is not in a file, so no report can be written here")
        if not Path(run.plan).is_file():
            raise AssayError("the file of the plan is not there any more; run `assay report` where it is")
        with self.lock:
            files = assay.report(run.plan, self.folder / run.id, store=self.store, figure_format="svg")
            self.written[run.id] = [path for path in files if path.suffix in TYPES]

    def names(self, run_id: str) -> list[str]:
        folder = self.folder / run_id
        return [path.relative_to(folder).as_posix() for path in self.written.get(run_id, [])]

    def read(self, run_id: str, number: int) -> tuple[bytes, str] | None:
        """A file by its number: no path of a request is followed."""
        files = self.written.get(run_id, [])
        if number >= len(files):
            return None
        return files[number].read_bytes(), TYPES[files[number].suffix]

    def close(self) -> None:
        import shutil

        shutil.rmtree(self.folder, ignore_errors=True)
