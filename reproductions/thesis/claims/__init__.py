"""The twenty-five claims of the thesis, each a function of the evidence; its docstring is the criterion.

A claim is reproduced if all its statements hold. "≈ x" and bounds: the 95 % interval over examples overlaps with
x ± 0.1 or the bound. "above": the whole paired interval is above 0, and so is every training. "alike": the whole
interval lies within a margin.
"""

from . import across, adversarial, architectures, ensembles, randomisation, scaling  # noqa: F401  importing registers the claims
from .claim import CLAIMS, COMP, GTO, KEPT, MATCHED, RANK, SUFF, Claim, Judgement, verdict_of

CLAIMS.sort(key=lambda claim: claim.number)

__all__ = ["CLAIMS", "COMP", "GTO", "KEPT", "MATCHED", "RANK", "SUFF", "Claim", "Judgement", "verdict_of"]
