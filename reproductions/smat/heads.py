"""The best layer and head, chosen with rationales (heads.json), and pictures of the heads (Figures 3, 4, 7, 8).

Needs the trained teachers and the fitted heads of the store; `page --update` calls it. Where they are not there (on
another machine, say), rows and pictures stay as they were.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.evaluation import METRICS
from assay.evaluation.plausibility._oracle import head_agreement
from assay.experiments.plan import Plan
from assay.experiments.store import Store
from assay.experiments.study import StudyCell
from assay.explainers.learned.parts.all_heads import plot_all_heads
from assay.explainers.learned.scaffold import load_heads
from assay.studies.simulate.scaffold import ScaffoldTask

from .claims import AUC

HEADS_FILE = "heads.json"
SENTENCE = "a modest pleasure that never outstays its welcome"
SHOWN = {
    "gradient_x_input": "gradient_x_input",
    "integrated_gradients": "integrated_gradients(steps=10, baseline=zero)",
    "attention, all layers": "attention_logits",
}
IMAGES = 4  # as in Figure 4 of the paper
PARTS = {"movies": [AUC], "mlqe": [f"auc(words=sum, part={part})" for part in ("text", "text_pair")]}


def measure_heads(plans: Mapping[str, Plan], store: Store, output: Path) -> None:
    """Write heads.json for the finished studies of plausibility, and draw the heads of the first model of each plan."""
    warnings.filterwarnings("ignore", message=".*longer than the model's")  # reviews are cut to 256 tokens
    path = output / HEADS_FILE
    kept = json.loads(path.read_text(encoding="utf-8"))["agreement"] if path.is_file() else []
    rows = {(row["data"], row["metric"]): row for row in kept}
    for data, metrics in PARTS.items():
        for cell in plans[data].cells:
            model, fitted = _model(cell, store), _fitted(plans[data], store)
            if cell.name != "plausibility" or model is None or (plans[data].fits and fitted is None):
                continue
            name = data if data == "movies" else cell.data.name.removesuffix("_dev").replace("_", "-")
            rows |= {(name, metric): _row(name, cell, model, metric, fitted) for metric in metrics}
    if rows:
        path.write_text(json.dumps({"agreement": list(rows.values())}) + "\n", encoding="utf-8")
    (output / "figures").mkdir(exist_ok=True)
    _draw_text(plans["movies"], store, output / "figures")
    _draw_image(plans["cifar"], store, output / "figures")


def _model(cell: StudyCell, store: Store) -> Any:
    """The model that a plan trains, if it is there."""
    return cell.model.open(store.artifacts) if all(map(store.artifacts.has, cell.model.needs)) else None


def _fitted(plan: Plan, store: Store) -> Path | None:
    """The folder of the heads that a plan fits, if it is there."""
    keys = [job.key for job in plan.fits if store.artifacts.has(job.key)]
    return store.artifacts.path(keys[0]) if keys else None


def _row(name: str, cell: StudyCell, model: Any, metric: str, fitted: Path | None) -> dict[str, Any]:
    measured = METRICS.make(metric)
    examples = [e for e in cell.data.load() if e.rationales]
    found = head_agreement(model, examples, measured)
    used = _used(model, examples, measured)
    layer, head = found.best_layer, found.best_head
    row = {
        "data": name,
        "metric": metric,
        "examples": used,
        "best layer": {"place": layer[0], "values": layer[1].round(6).tolist()},
        "best head": {"place": head[0], "values": head[1].round(6).tolist()},
        "heads": found.heads.reshape(len(found.heads), -1).round(4).tolist(),
    }
    return row if fitted is None else row | {"active": (load_heads(fitted).grid > 0).tolist()}


def _used(model: Any, examples: list[Any], metric: Any) -> list[str]:
    """The names of the texts that the metric measures."""
    explained = assay.explain(model, examples, "attention_logits", progress=False)
    pairs = zip(examples, explained, strict=True)
    return [example.id for example, found in pairs if metric.measure(found, example) is not None]


def _taught(plan: Plan, store: Store) -> Path | None:
    """The folder of the heads of the first student that the study fitted some with."""
    jobs = [job for cell in plan.cells for job in cell.jobs if isinstance(job.task, ScaffoldTask)]
    keys = [job.key for job in jobs if store.artifacts.has(job.key)]
    return store.artifacts.path(keys[0]) if keys else None


def _draw_text(plan: Plan, store: Store, folder: Path) -> None:
    fitted, models = _fitted(plan, store), [m for cell in plan.cells if (m := _model(cell, store)) is not None]
    if fitted is None or not models:
        return
    methods = {**SHOWN, "smat": f"scaffold('{fitted}')"}
    figure = _axes(len(methods), 1, (8, 0.9 * len(methods)))
    for axis, (name, method) in zip(figure.axes, methods.items(), strict=True):
        attribution = assay.explain(models[0], SENTENCE, method, progress=False)
        scores = np.asarray(attribution.scores, float)
        axis.imshow(scores[None] / np.abs(scores).max(), cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
        axis.set_xticks(range(len(scores)), [unit.text for unit in attribution.units])
        axis.set_yticks([])
        axis.set_title(name, fontsize=9, loc="left")
    figure.savefig(folder / "figure3.png", dpi=144)
    _save(plot_all_heads(models[0], next(iter(assay.load_dataset([{"text": SENTENCE}])))), folder / "figure8.png")


def _draw_image(plan: Plan, store: Store, folder: Path) -> None:
    models = [(cell, m) for cell in plan.cells if (m := _model(cell, store)) is not None]
    fitted = _taught(plan, store)
    if not models or fitted is None:
        return
    cell, model = models[0]
    examples = list({e.label: e for e in reversed(cell.data.load().examples)}.values())[:IMAGES]
    methods = {**SHOWN, "smat": f"scaffold('{fitted}')"}
    found = [assay.explain(model, examples, method, progress=False) for method in methods.values()]
    figure = _axes(len(examples), len(methods) + 1, (1.7 * (len(methods) + 1), 1.8 * len(examples)))
    axes = np.array(figure.axes).reshape(len(examples), -1)
    for row, (line, *maps) in enumerate(zip(axes, *found, strict=True)):
        line[0].imshow(maps[0].picture)
        line[0].set_title(f"teacher: {maps[0].label}", fontsize=7)
        for axis, name, attribution in zip(line[1:], methods, maps, strict=True):
            _map(axis, attribution)
            axis.set_title(name if row == 0 else "", fontsize=7)
    for axis in figure.axes:
        axis.set_axis_off()
    figure.savefig(folder / "figure4.png", dpi=144)
    _save(plot_all_heads(model, examples[0]), folder / "figure7.png")


def _map(axis: Any, attribution: Any) -> None:
    """Patches in the image's grid: grey from 0 for shares, red and blue around 0 for signed scores."""
    scores = np.asarray(attribution.scores, float)
    grid, most = scores.reshape(round(len(scores) ** 0.5), -1), float(np.abs(scores).max())
    signed = bool((scores < 0).any())
    axis.imshow(grid, cmap="RdBu_r" if signed else "Greys", vmin=-most if signed else 0, vmax=most)


def _axes(rows: int, columns: int, size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    figure.subplots(rows, columns)
    return figure


def _save(drawn: Any, path: Path) -> None:
    drawn[0, 0].figure.savefig(path, dpi=110)
