"""The twenty-five claims of the thesis, each a function of the evidence; its docstring is the criterion.

Statements hold, are contradicted or undecided by the rules of `assay.statistics.claims`, with the margins named there.
"""

from . import across, adversarial, architectures, ensembles, randomisation, scaling  # noqa: F401  importing registers the claims
from .claim import CLAIMS, COMP, GTO, KEPT, MATCHED, RANK, SUFF, Claim, Judged

CLAIMS.sort(key=lambda claim: claim.number)

__all__ = ["CLAIMS", "COMP", "GTO", "KEPT", "MATCHED", "RANK", "SUFF", "Claim", "Judged"]
