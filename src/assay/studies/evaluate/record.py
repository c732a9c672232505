"""An evaluation as plain JSON: what was found, apart from where and how fast it was found, so that runs compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.reports.plain_json import plain
from assay.studies.evaluate.length_limit import past_limit

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result


def record(result: Result) -> dict[str, Any]:
    """Everything but `provenance` is the same whenever the same evaluation is run again."""
    evaluation = result.evaluation
    limit = past_limit(evaluation)
    out = {
        "table": result.table(),
        "verdict": {metric: result.sentence(metric) for metric in result.comparisons},
        "overall": result.overall,
        "performance": result.performance(),
        "agreement": {pair: float(np.nanmean(row)) for pair, row in evaluation.agreement.items()},
        "passes": {m: dict(zip(("forward", "backward"), p.mean(0).tolist(), strict=True)) for m, p in _passes(result)},
        "past_limit": None if limit is None else limit.sentence,
        "model": {"name": evaluation.model.name, "fingerprint": evaluation.model.fingerprint},
        "data": {"name": evaluation.dataset.name, "fingerprint": evaluation.dataset.fingerprint},
        "settings": dict(evaluation.settings),
        "provenance": {
            **evaluation.provenance,
            "seconds": {method: float(np.mean(row)) for method, row in evaluation.seconds.items()},
        },
    }
    cleaned: dict[str, Any] = plain(out)
    return cleaned


def _passes(result: Result) -> list[tuple[str, Any]]:
    return list(result.evaluation.passes.items())
