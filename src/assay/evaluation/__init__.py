"""Catalogues of what an evaluation measures, each under the command that takes it.

METRICS: `evaluate --metrics`. AGREEMENT: `evaluate --agreement`. PERFORMANCE: `train` and the requirements of a plan.
ATTACK_MEASURES: reported by `attack`.
"""

from dataclasses import dataclass
from functools import cached_property

from assay.core.additions import Additions
from assay.core.catalog import Catalog
from assay.faithfulness import FAITHFULNESS


@dataclass(frozen=True)
class _WithFaithfulness(Catalog):
    """The entries of the package after the faithfulness metrics, which live in a package of their own."""

    @cached_property
    def modules(self) -> dict[str, str]:
        own = super().modules
        return FAITHFULNESS.modules | {name: own[name] for name in sorted(own, key=lambda name: own[name])}


METRICS = _WithFaithfulness(
    "assay.evaluation",
    "metric",
    deep=True,
    groups=("ground_truth", "plausibility", "sparsity"),
    added=Additions("metric", "assay.metrics", "assay.evaluation.metrics:why_not_a_metric"),
)
AGREEMENT = Catalog("assay.evaluation", "agreement measure", deep=True, groups=("agreement",))
PERFORMANCE = Catalog("assay.evaluation", "performance metric", deep=True, groups=("performance",))
ATTACK_MEASURES = Catalog(
    "assay.evaluation", "attack measure", skip=("attack_cost", "top_k_attack"), deep=True, groups=("adversarial",)
)
