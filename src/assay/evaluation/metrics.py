"""Every metric of an attribution by its spec: faithfulness, ground truth, plausibility and sparsity."""

from __future__ import annotations

import dataclasses
from typing import Any

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, parse
from assay.evaluation import GOLD
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import rules

GROUPS = ("ground_truth", "plausibility", "sparsity")


def metric_names() -> list[str]:
    return FAITHFULNESS.names + [name for name in GOLD.names if GOLD.group(name) in GROUPS]


def metric(spec: str | Spec, protocol: str) -> Any:
    """The metric of a spec; a faithfulness metric that names no protocol follows the caller's."""
    spec = parse(spec) if isinstance(spec, str) else spec
    if spec.name in FAITHFULNESS.names:
        made = FAITHFULNESS.make(spec)
        named = bool(spec.args) or any(key == "protocol" for key, _ in spec.params)
        made = made if named else dataclasses.replace(made, protocol=protocol)
        rules(made.protocol)
        return made
    if spec.name in metric_names():
        return GOLD.make(spec)
    raise SpecError(f"there is no metric {spec.name!r}; {nearest(spec.name, metric_names())}")


def metric_class(name: str) -> Any:
    """What a metric says of itself whatever its parameters: `better`, `range`."""
    return (FAITHFULNESS if name in FAITHFULNESS.names else GOLD).get(name)


def is_faithfulness(made: Any) -> bool:
    return hasattr(made, "keeps")
