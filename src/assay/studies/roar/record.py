"""The result of ROAR as JSON: curves, areas, intervals and run times."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.evaluation.roar.curves import curves as scores_of
from assay.evaluation.roar.verdict import Faithfulness
from assay.experiments.study import Study
from assay.studies.roar.curves import Curves
from assay.studies.roar.result import RoarResult
from assay.studies.roar.study import RANDOM


def record(result: RoarResult) -> list[dict[str, Any]]:
    """One entry per study, model and data set."""
    cells = () if result.status is None else result.status.plan.cells
    studies = {cell.name: cell.study for cell in cells}
    parts = zip(result.curves, result.judged, strict=True)
    return [_entry(result, curves, areas, studies.get(curves.study)) for curves, areas in parts]


def _entry(result: RoarResult, curves: Curves, areas: dict[str, Faithfulness], study: Study | None) -> dict[str, Any]:
    return {
        "score": result.score,
        "target": getattr(study, "target", None),
        "signed": getattr(study, "signed", None),
        "clip": result.clip,
        **({} if result.preset is None else {"preset": result.preset.to_dict()}),
        "study": curves.study,
        "form": curves.form,
        "model": curves.base,
        "data": curves.data,
        "recursive": curves.recursive,
        "ratios": curves.ratios,
        "words": curves.words,
        "seeds": curves.seeds,
        "random": scores_of(curves.predicted[RANDOM], curves.gold, result.score)[0].tolist(),
        "methods": {method: area.to_dict() for method, area in areas.items()},
        "behind": {method: asdict(difference) for method, difference in curves.behind(areas).items()},
        "sparsity": curves.sparsity,
        "seconds": curves.seconds,
        "outside": curves.outside,
    }
