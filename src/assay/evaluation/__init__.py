"""Metrics that judge attributions by known truth, human rationales, sparsity and agreement; and studies.

A study breaks or attacks the model and explains it again: `run(model, examples) -> rows`, one row per number.
"""

from assay.core.catalog import Catalog

GOLD = Catalog(
    "assay.evaluation",
    "metric",
    skip=("top_k_attack",),
    deep=True,
    groups=("adversarial", "agreement", "ground_truth", "performance", "plausibility", "sparsity"),
)
STUDIES = Catalog(
    "assay.evaluation",
    "study",
    skip=("probability_change", "rank_change", "top_k_sum_change"),  # what the attack is measured by
    deep=True,
    groups=("adversarial", "sanity"),
)
