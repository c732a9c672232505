"""The twenty-five claims of the thesis, each as a function of the evidence; its docstring is the criterion.

A claim is reproduced if every statement holds. "≈ x" and bounds: the 95 % interval over examples meets x ± 0.1 or the
bound. "above": the whole paired interval is above 0, and so is every training. "alike": it lies within a margin.
"""

from claims import across, adversarial, architectures, ensembles, randomisation, scaling  # noqa: F401  they register
from claims.claim import CLAIMS, COMP, GTO, KEPT, MATCHED, RANK, SUFF, Claim, Judged, verdict_of

CLAIMS.sort(key=lambda claim: claim.number)

__all__ = ["CLAIMS", "COMP", "GTO", "KEPT", "MATCHED", "RANK", "SUFF", "Claim", "Judged", "verdict_of"]
