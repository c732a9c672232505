"""How the contract tests run methods: small budgets, results kept for the session, models compared before and after."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

import assay
from assay.core.attributions import Attributions
from assay.explainers import METHODS
from assay.models.model import Model
from assay.models.readout import AssayHead
from families import CASES, model_of, precise

# Budgets that run fast; what is not listed runs as it is, so a new method is under contract with no edit here.
SPECS = {
    "beam_search": "beam_search(beam=2)",
    "ensemble": "ensemble([lime(samples=48), integrated_gradients(steps=4), average_attention])",
    "gradient_shap": "gradient_shap(samples=4)",
    "integrated_gradients": "integrated_gradients(steps=6)",
    "kernel_shap": "kernel_shap(samples=64)",
    "lime": "lime(samples=48)",
    "smooth_grad": "smooth_grad(samples=4)",
    "thesis_all": "thesis_all(samples=64, steps=4)",
    "thesis_top3": "thesis_top3(samples=64, steps=4)",
    "weighted_integrated_gradients": "weighted_integrated_gradients(steps=6)",
}
ENSEMBLES = {"ensemble", "thesis_all", "thesis_top3"}  # their members have the seeds
SAMPLED = {*ENSEMBLES, "gradient_shap", "kernel_shap", "lime", "random", "smooth_grad"}  # another seed, other scores

# A method that cannot work on a family must raise UnsupportedError with these words: {(method, family): words}.
UNSUPPORTED: dict[tuple[str, str], str] = {
    ("gradient_x_input", "deberta_v2"): "normalises each word embedding",  # <gradient, x> is 0 by Euler's theorem
    ("thesis_all", "deberta_v2"): "normalises each word embedding",  # as one of its members
    ("weighted_integrated_gradients", "deberta_v2"): "normalises each word embedding",  # its path leads to 0
    **{
        (method, "bilstm_attention"): "is not a transformer and has no blocks"
        for method in ("alti", "decompx", "globenc", "value_norm_attention", "value_zeroing")
    },
}

SEARCHES = {"beam_search", "greedy"}  # their passes grow with the square of the units

every = pytest.mark.parametrize(
    ("case", "method"), [(case, method) for case in CASES for method in METHODS.names], ids=lambda value: str(value)
)


def spec(method: str) -> str:
    return SPECS.get(method, method)


def given_to(method: str, case: str) -> list[Any]:
    """The inputs of a case; without the two longest texts for a search, which would take half of all the time."""
    inputs = list(CASES[case].inputs)
    return [*inputs[1:3], inputs[-1]] if method in SEARCHES and len(inputs) > 3 else inputs


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning that a model has no mask token; that one has a test of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*has no mask token")
        yield


def explain(model: Any, inputs: Any, method: str, **options: Any) -> Any:
    with quiet():
        return assay.explain(model, inputs, spec(method), progress=False, **options)


@cache
def explained(case: str, method: str, *, double: bool = False) -> Attributions:
    """All inputs of a case in one call with the defaults. Shared by tests: look, do not change."""
    need(case, method)
    model = precise(case) if double else model_of(case)
    found: Attributions = explain(model, given_to(method, case), method)
    return found


def need(case: str, method: str) -> None:
    """End a test here where the method must refuse the family, after seeing that it does."""
    words = UNSUPPORTED.get((method, CASES[case].family))
    if words is None:
        return
    with pytest.raises(assay.UnsupportedError, match=words):
        explain(model_of(case), list(CASES[case].inputs), method)
    pytest.skip(f"{method} on {case}: {words}")


def assert_close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Scores agree within `tolerance` of the largest one, input by input."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.units == theirs.units
        assert distance(mine, theirs) <= tolerance, (mine.scores, theirs.scores)


def distance(one: Any, other: Any) -> float:
    """Largest difference of two attributions, relative to the largest score."""
    top = max(np.abs(one.scores).max(), np.abs(other.scores).max(), 1e-12)
    return float(np.abs(one.scores - other.scores).max() / top)


# --- is the model as it was? -------------------------------------------------------------------------------------

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks")


def parts(model: Model) -> list[nn.Module]:
    """The modules that belong to the user."""
    return [model.hf, *([model.readout.head] if isinstance(model.readout, AssayHead) else [])]


@dataclass(frozen=True)
class State:
    """All that Assay could leave behind in a model."""

    weights: tuple[torch.Tensor, ...]
    flags: tuple[Any, ...]

    @staticmethod
    def of(model: Model) -> State:
        tops = parts(model)
        modules = [m for top in tops for m in top.modules()]
        parameters = [p for top in tops for p in top.parameters()]
        flags = (
            [m.training for m in modules],
            [sorted(vars(m)) for m in modules],  # a forward replaced on the instance would show here
            [len(getattr(m, name)) for m in modules for name in HOOKS if name != "_state_dict_hooks"],
            [(p.requires_grad, p.grad is None) for p in parameters],
            [m.config._attn_implementation for m in modules if isinstance(m, PreTrainedModel)],
            [m.config.to_dict() for m in modules if isinstance(m, PreTrainedModel)],
            [p.data_ptr() for p in parameters],
        )
        return State(tuple(t.clone() for top in tops for t in top.state_dict().values()), flags)

    def assert_same(self, other: State) -> None:
        assert self.flags == other.flags
        assert all(torch.equal(a, b) for a, b in zip(self.weights, other.weights, strict=True))


def hook_free(model: Model) -> bool:
    return all(not getattr(m, name) for top in parts(model) for m in top.modules() for name in HOOKS[:4])


def as_a_user_may_have_it(model: Model) -> None:
    """Training mode with gradients on, but one layer in evaluation mode and one parameter frozen: all must stay so."""
    for top in parts(model):
        top.train().requires_grad_(True)
        next(m for m in top.modules() if isinstance(m, nn.Linear)).eval()
        next(top.parameters()).requires_grad_(False)


class BlownError(Exception):
    """What a fuse raises."""


class Fuse(nn.Module):
    """A module that stops with an error after `calls` calls, or where it sees more than `rows` rows at once."""

    def __init__(self, inner: nn.Module, calls: float = np.inf, rows: float = np.inf) -> None:
        super().__init__()
        self.inner, self.calls, self.rows, self.seen = inner, calls, rows, 0

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.seen >= self.calls:
            raise BlownError("the head broke")
        self.seen += 1
        if len(args[0]) > self.rows:
            raise torch.OutOfMemoryError("not enough memory")
        return self.inner(*args, **kwargs)


def with_fuse(model: Model, head: str, **limits: float) -> tuple[Model, Fuse]:
    """The model with a fuse before its class outputs."""
    if isinstance(model.readout, AssayHead):
        fuse = Fuse(model.readout.head, **limits)
        model.readout = AssayHead(fuse)
    else:
        fuse = Fuse(model.hf.get_submodule(head), **limits)
        model.hf.set_submodule(head, fuse)
    return model, fuse
