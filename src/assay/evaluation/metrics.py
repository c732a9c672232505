"""Metrics by their specs."""

from __future__ import annotations

import dataclasses
from typing import Any

from assay.core.spec import Spec, parse
from assay.evaluation import METRICS
from assay.faithfulness.protocol import get_protocol


def make_metric(spec: str | Spec, protocol: str) -> Any:
    """The metric of a spec; a faithfulness metric without a protocol of its own gets `protocol`."""
    spec = parse(spec) if isinstance(spec, str) else spec
    metric = METRICS.make(spec)
    if not is_faithfulness(metric):
        return metric
    has_protocol = bool(spec.args) or any(key == "protocol" for key, _ in spec.params)
    metric = metric if has_protocol else dataclasses.replace(metric, protocol=protocol)
    get_protocol(metric.protocol)  # raises if unknown
    return metric


def is_faithfulness(metric: Any) -> bool:
    return hasattr(metric, "keeps")
