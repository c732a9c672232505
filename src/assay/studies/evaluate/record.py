"""An evaluation as plain JSON; versions and times are kept apart, so that runs can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.names import shareable
from assay.reports.plain_json import plain
from assay.studies.evaluate.result import Result


def record(result: Result) -> dict[str, Any]:
    """Plain JSON; only `provenance` differs between two runs of the same evaluation."""
    evaluation = result.evaluation
    content = {
        "table": result.table(),
        "verdict": {metric: result.sentence(metric) for metric in result.comparisons},
        "overall": result.overall,
        "performance": {name: interval.value for name, interval in result.performance.items()},
        "agreement": {pair: float(np.nanmean(row)) for pair, row in evaluation.agreement.items()},
        "passes": {
            method: dict(zip(("forward", "backward"), passes.mean(0).tolist(), strict=True))
            for method, passes in evaluation.passes.items()
        },
        "past_limit": result.past_limit.sentence if result.past_limit else None,
        "warnings": result.warnings,
        "remarks": result.remarks,
        "model": {"name": shareable(evaluation.model.name), "fingerprint": evaluation.model.fingerprint},
        "data": {"name": shareable(evaluation.dataset.name), "fingerprint": evaluation.dataset.fingerprint},
        "notes": list(evaluation.dataset.notes),
        "settings": dict(evaluation.settings),
        **({} if evaluation.preset is None else {"preset": evaluation.preset.to_dict()}),
        "provenance": {
            **evaluation.provenance,
            "seconds": {method: float(np.mean(row)) for method, row in evaluation.seconds.items()},
        },
    }
    record: dict[str, Any] = plain(content)
    return record
