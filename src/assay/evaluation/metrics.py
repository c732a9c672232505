"""Metrics by their specs."""

from __future__ import annotations

import dataclasses
from typing import Any

from assay.core.errors import SpecError
from assay.core.form import declares, why_not_callable, why_not_frozen
from assay.core.metric_facts import MetricFacts
from assay.core.spec import Spec, parse
from assay.evaluation import METRICS
from assay.faithfulness.protocol import get_protocol

PROTOCOL = 'protocol: str = "eraser"'
FORM = 'facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1")'


def make_metric(spec: Any, protocol: str) -> Any:
    """The metric of a spec, or an object; a metric of a spec without a protocol of its own gets `protocol`."""
    if not isinstance(spec, str | Spec):
        if isinstance(spec, type):
            raise SpecError(f"{spec.__name__} is a class; give an object, {spec.__name__}()")
        if (reason := why_not_a_metric(spec)) is not None:
            raise SpecError(f"{spec!r} is not a metric. {reason}")
        return spec
    spec = parse(spec) if isinstance(spec, str) else spec
    metric = METRICS.make(spec)
    if not is_faithfulness(metric):
        return metric
    has_protocol = bool(spec.args) or any(key == "protocol" for key, _ in spec.params)
    metric = metric if has_protocol else dataclasses.replace(metric, protocol=protocol)
    get_protocol(metric.protocol)  # raises if unknown
    return metric


def why_not_a_metric(candidate: Any) -> str | None:
    """Return the reason why an object or a class cannot be used as a metric; None if it can."""
    if not hasattr(candidate, "measure"):
        return "Give a name from `assay list metrics`, or an object with `facts` and `measure`."
    if not declares(candidate, MetricFacts):
        return f"It does not declare its facts; add to its class, for example: {FORM}"
    if not is_faithfulness(candidate):
        return why_not_frozen(candidate) or why_not_callable(candidate, {"measure": ("attribution", "example")})
    verbs = {"keeps": ("order",), "measure": ("values", "value_full"), "curve": ("values", "value_full")}
    if not isinstance(getattr(candidate, "protocol", None), str):
        return f"A metric that masks inputs needs the field `{PROTOCOL}`, which says how units are removed."
    return why_not_frozen(candidate) or why_not_callable(candidate, verbs)


def is_faithfulness(metric: Any) -> bool:
    return hasattr(metric, "keeps")
