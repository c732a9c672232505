"""Evaluation protocols: papers differ in fractions, rounding, removal and divisor, and a protocol fixes all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import SpecError, nearest
from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools, Floats, Scale

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
AOPC_FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class EvaluationProtocol:
    """How many units are removed or kept, how, and how the results are averaged. Special tokens are never removed."""

    fractions: tuple[float, ...]  # of comprehensiveness, sufficiency and log odds, unless aopc=True
    removal: str
    rounding: Literal["ceil", "floor"] = "ceil"
    minimum: int = 1  # number of tokens removed or kept, at least
    extra_divisor: int = 0  # added to the number of fractions when averaging with aopc=True
    scale: Scale = "probability"

    def counts(self, n: int, fractions: tuple[float, ...]) -> list[int]:
        """Return the number of tokens, out of n, that each fraction stands for."""
        # the product is rounded first: 0.1 * 30 is 3.0000000000000004 in floating point, but means three tokens
        exact = [round(fraction * n, 9) for fraction in fractions]
        whole = [math.ceil(x) if self.rounding == "ceil" else math.floor(x) for x in exact]
        return [min(n, max(self.minimum, count)) for count in whole]


PROTOCOLS: dict[str, EvaluationProtocol] = {
    # DeYoung et al. 2020 (ERASER), averaged as its scorer does
    "eraser": EvaluationProtocol(AOPC_FRACTIONS, "delete"),
    # the fractions of Hase et al. 2021, with masking instead of deletion
    "thesis": EvaluationProtocol((0.05, 0.1, 0.2, 0.5), "mask_token"),
    # the AML paper as written; it does not specify rounding
    "aml": EvaluationProtocol((0.2,), "delete", rounding="floor"),
    # the AML paper's code: fractions below one token count as 0, and AOPC sums are divided by 6
    "aml_code": EvaluationProtocol((0.2,), "delete", rounding="floor", minimum=0, extra_divisor=1),
}


def get_protocol(name: str) -> EvaluationProtocol:
    if name not in PROTOCOLS:
        raise SpecError(f"unknown protocol {name!r}; {nearest(name, PROTOCOLS)}")
    return PROTOCOLS[name]


class FaithfulnessMetric(Protocol):
    """A metric over masked inputs. Its masks keep or remove prefixes of an order, so that a search can optimise it."""

    protocol: str

    @property
    def facts(self) -> MetricFacts: ...

    def keeps(self, order: Ints) -> Bools:
        """Return the (M,U) masks for an order of the units, most important first."""

    def measure(self, values: Values, value_full: float) -> float:
        """Return the metric, given the values (M,) of its masks and the value of the whole input."""

    def curve(self, values: Values, value_full: float) -> Values:
        """Return the curve to plot: one number per mask."""


def descending_order(scores: Floats | Values) -> Ints:
    """Return the indices of units from the highest score to the lowest; equal scores in reading order."""
    return np.argsort(-np.asarray(scores, np.float64), kind="stable")


def prefix_masks(order: Ints, counts: list[int], *, kept: bool) -> Bools:
    """Return (M,U) masks that keep (or remove) the first `counts[m]` units of an order."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    top = rank < np.asarray(counts)[:, None]
    return top if kept else ~top


def fraction_counts(protocol: str, n: int, *, aopc: bool = False) -> list[int]:
    """Return the number of units, out of n, at each fraction of a protocol, or at the five AOPC fractions."""
    rules = get_protocol(protocol)
    return rules.counts(n, AOPC_FRACTIONS if aopc else rules.fractions)


def fraction_mean(differences: Values, protocol: str, *, aopc: bool = False) -> float:
    """Return the mean over fractions; with aopc, the sum over the divisor of the protocol."""
    if aopc:
        return float(differences.sum()) / (len(differences) + get_protocol(protocol).extra_divisor)
    return float(differences.mean())
