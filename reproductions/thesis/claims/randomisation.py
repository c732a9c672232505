"""Claims 13 to 15: explanations after blocks are re-initialised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.claims import Criterion, Statement

from ..evidence import ARCHITECTURES, ATTACKED, ATTENTION, CAUSAL, SIZES, Cell, Evidence, mean_cell
from .claim import LATER, LOGIT, claim, derived, mean, name, span, state

MODES = ("cascading", "independent")
GONE = Criterion.alike(0.2)
SLACK = 0.1  # of correlations


def _rho(e: Evidence, grid: str, method: str, mode: str, data: str, first: bool) -> Cell:
    """Correlation, averaged over the blocks whose re-initialisation destroys the output; first: over all."""
    by_block = e.rho(grid, method, mode, data)
    if not by_block:
        return e.cell(data, "randomisation", grid, method, mode, 0)  # not run, or did not learn its task
    if first:
        late = list(by_block.values())
        return mean_cell((late[1:] or late) if mode == "cascading" else late)
    broken = [by_block[block] for block in e.destroyed(grid, mode, data) if block in by_block]
    if not broken and not any(cell.gap for cell in by_block.values()):
        return Cell(gap="no re-initialised block destroys the model's output")
    return mean_cell(broken or list(by_block.values()))


def _gradients_drop(e: Evidence, grids: Sequence[str], first: bool, data: str = "sst") -> list[Statement]:
    return [
        state(f"{data} {name(g, m)} {mode}", GONE, _rho(e, g, m, mode, data, first))
        for g in grids
        for m in ATTACKED
        for mode in MODES
    ]


def _gone(e: Evidence, grids: Sequence[str] = (*SIZES, *ARCHITECTURES), data: Sequence[str] = ("sst",)) -> str:
    cells = [_rho(e, g, m, mode, d, False) for d in data for g in grids for m in ATTACKED for mode in MODES]
    every = [_rho(e, g, m, mode, d, True) for d in data for g in grids for m in ATTACKED for mode in MODES]
    return f"ρ {span(cells)} where the output is destroyed (mean {mean(cells)}); {span(every)} over all blocks"


@claim(
    13,
    "Gradient methods lose all correlation after one or two blocks",
    "sizes_cascading",
    "sizes_independent",
    "architectures_cascading",
    "architectures_independent",
    thesis="ρ about 0 from the first or second block on",
    here=_gone,
    readings=(LOGIT,),
    version=LATER,
)
def gradients_drop(e: Evidence, first: bool) -> list[Statement]:
    """For gradients, gradient x input and IG on all eight models, cascading and independent: mean rho in ± 0.2 over
    the blocks whose re-initialisation destroys the output (mean probability of the intact model's class at most 0.1
    above chance). First: over all blocks, cascading from the second on, whatever became of the output."""
    return _gradients_drop(e, (*SIZES, *ARCHITECTURES), first)


def _attention_decays(e: Evidence, grids: Sequence[str], first: bool, data: str = "sst") -> list[Statement]:
    shallow = [g for g in grids if g in SIZES[:3]]  # at most four blocks; all others have at least six
    deep = [g for g in grids if g != CAUSAL and g not in shallow]
    falling = [(g, "average_attention") for g in (*shallow, *deep)]
    falling += [] if first else [(g, "attention_rollout") for g in shallow]
    out = [statement for g, m in falling for statement in _gradual(e, g, m, data)]
    out += [statement for g in deep for statement in _sudden(e, g, data)]
    return out + [_flat(e, CAUSAL, m, data) for m in ATTENTION if CAUSAL in grids]


def _cells(e: Evidence, grid: str, method: str, mode: str, data: str) -> list[Cell]:
    return list(e.rho(grid, method, mode, data).values()) or [e.cell(data, "randomisation", grid, method, mode, 0)]


def _gradual(e: Evidence, grid: str, method: str, data: str) -> list[Statement]:
    """Ends low, and no step takes more than 60 % of the fall; two blocks can only fall in two steps."""
    cells, where = _cells(e, grid, method, "cascading", data), f"{data} {name(grid, method)}"
    out = [state(f"{where}: all blocks", Criterion(high=0.5, margin=SLACK), cells[-1])]
    if len(cells) != 2:

        def excess(means: np.ndarray) -> np.ndarray:
            curve = np.concatenate([np.ones_like(means[:1]), means])
            return -np.diff(curve, axis=0).min(0) - 0.6 * (1 - curve.min(0))

        out.append(
            derived(f"{where}: largest step beyond 60 % of the fall", Criterion(high=0, margin=SLACK), cells, excess)
        )
    return out


def _sudden(e: Evidence, grid: str, data: str) -> list[Statement]:
    cells = _cells(e, grid, "attention_rollout", "independent", data)
    where, late = f"{data} {name(grid, 'attention_rollout')}", cells[: max(1, len(cells) // 2)]
    stays = derived(f"{where}: lowest of the later half", Criterion(low=0.9, margin=SLACK), late, lambda m: m.min(0))
    return [stays, state(f"{where}: first block", Criterion(high=0.5, margin=SLACK), cells[-1])]


def _flat(e: Evidence, grid: str, method: str, data: str) -> Statement:
    cells = [cell for mode in MODES for cell in _cells(e, grid, method, mode, data)]
    text = f"{data} {name(grid, method)}: lowest of all blocks"
    return derived(text, Criterion(low=0.9, margin=SLACK), cells, lambda means: means.min(0))


def _decay(e: Evidence) -> str:
    bidirectional = [g for g in (*SIZES, *ARCHITECTURES) if g != CAUSAL]
    ends = span(_cells(e, g, "average_attention", "cascading", "sst")[-1] for g in bidirectional)
    firsts = span(
        _cells(e, g, "attention_rollout", "independent", "sst")[-1] for g in bidirectional if g not in SIZES[:3]
    )
    causal = span(c for m in ATTENTION for mode in MODES for c in _cells(e, CAUSAL, m, mode, "sst"))
    return f"AvgAtt ends at ρ {ends}; Rollout {firsts} at the first block; Llama {causal}"


@claim(
    14,
    "Average attention decays gradually, rollout suddenly, neither on GPT-2",
    "sizes_cascading",
    "sizes_independent",
    "architectures_cascading",
    "architectures_independent",
    thesis="AvgAtt falls linearly to 0; Rollout 1 for late blocks, 0 at the first; both 1 on GPT-2",
    here=_decay,
    version=LATER,
)
def attention_decays(e: Evidence, first: bool) -> list[Statement]:
    """Average attention, cascading, all but the causal model, and rollout where there are at most four blocks: rho
    ends below 0.5 and no step takes over 60 % of the fall (two blocks: only the end counts). Rollout, independent,
    models of six and more blocks: rho ≥ 0.9 in the later half and < 0.5 at the first block. Causal model: both ≥ 0.9
    everywhere. Margins 0.1. First: without rollout in shallow models."""
    return _attention_decays(e, (*SIZES, *ARCHITECTURES), first)


@claim(
    15,
    "Randomisation looks the same on MultiNLI and e-SNLI",
    "mnli_cascading",
    "mnli_independent",
    "esnli_cascading",
    "esnli_independent",
    thesis="as claims 13 and 14",
    here=lambda e: _gone(e, ARCHITECTURES, ("mnli", "esnli")),
    readings=(LOGIT,),
    version=LATER,
)
def nli_randomisation(e: Evidence, first: bool) -> list[Statement]:
    """The criteria of claims 13 and 14 on the four architectures, for both data sets."""
    out = []
    for data in ("mnli", "esnli"):
        out += [*_gradients_drop(e, ARCHITECTURES, first, data), *_attention_decays(e, ARCHITECTURES, first, data)]
    return out
