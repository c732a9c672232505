"""How the contract tests run methods: small budgets, cached results, models compared before and after."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

import assay
from assay.core.attributions import Attributions
from assay.datasets.examples import as_examples
from assay.explainers import METHODS
from assay.explainers.learned.scaffold import HeadWeights, Scaffold
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.readout import AssayHead, LabelWords
from families import CASES, FAMILIES, model_of, precise

# Budgets that run fast. A method that is not listed runs with its defaults: a new method needs no edit here.
SPECS = {
    "aml": "aml(epochs=10, masks=4, learning_rate=1e-2, batch_size=5, other_classes=0.5)",  # how it is fitted
    "beam_search": "beam_search(beam=2)",
    "ensemble": "ensemble([lime(samples=48), integrated_gradients(steps=4), average_attention])",
    "gradient_shap": "gradient_shap(samples=4)",
    "integrated_gradients": "integrated_gradients(steps=6)",
    "kernel_shap": "kernel_shap(samples=64)",
    "lime": "lime(samples=48)",
    "mask_optimisation": "mask_optimisation(steps=4)",
    "self_ranking": "self_ranking(question='{text} {label}', most=4)",
    "smooth_grad": "smooth_grad(samples=4)",
    "weighted_integrated_gradients": "weighted_integrated_gradients(steps=6)",
}
ENSEMBLES = {"ensemble"}  # its members take the seed
SAMPLED = {*ENSEMBLES, "gradient_shap", "kernel_shap", "lime", "random", "smooth_grad"}  # scores depend on the seed

# A method that cannot work on a family must raise UnsupportedError with these words: {(method, family): words}.
UNSUPPORTED: dict[tuple[str, str], str] = {
    ("gradient_x_input", "deberta_v2"): "normalises each word embedding",  # <gradient, x> is 0 by Euler's theorem
    ("weighted_integrated_gradients", "deberta_v2"): "normalises each word embedding",  # its path leads to 0
    **{
        (method, "bilstm_attention"): "is not a transformer and has no blocks"
        for method in ("alti", "aml", "decompx", "globenc", "value_norm_attention", "value_zeroing")
    },
}

PROMPTED = ["llama-prompted", "llama-few_shot"]
PROMPTED_ONLY = {"self_ranking"}  # they need a language model that writes
UNSUPPORTED |= {(method, family): "asks a language model" for method in PROMPTED_ONLY for family in FAMILIES}

SEARCHES = {"beam_search", "greedy"}  # their passes grow with the square of the units

# Black-box methods meet a model only through the Game, which `occlusion` tries on every case, and an ensemble only
# through its members: these cases (a stock head, one of ours, label words, images) stand for all.
FEW = ("bert", "t5", "llama-few_shot", "vit")


def declared(method: str) -> Any:
    """What a method declares: scale, signed, complete, class_dependent, passes, memory."""
    return METHODS.make(method).facts


def works_on(method: str, case: str) -> bool:
    if method in PROMPTED_ONLY:
        return case in PROMPTED
    return (method, CASES[case].family) not in UNSUPPORTED


def tried_on(method: str, case: str) -> bool:
    """Whether contracts that hold for every case try this one."""
    looks_inside = hasattr(METHODS.make(method), "attribute")
    return works_on(method, case) and (looks_inside or method == "occlusion" or case in FEW)


def for_each(cases: Iterable[str] = CASES, methods: Iterable[str] = METHODS.names) -> pytest.MarkDecorator:
    """Parametrise a test over the given cases and the methods to try on them."""
    pairs = [(case, method) for case in cases for method in methods if tried_on(method, case)]
    return pytest.mark.parametrize(("case", "method"), pairs, ids=str)


def spec(method: str) -> str:
    return SPECS.get(method, method)


def method_for(method: str, model: Any) -> Any:
    """What `explain` takes for a method: a spec, or an explainer that was fitted to such a model."""
    return {"aml": fitted_to, "scaffold": weighted_heads_of}.get(method, lambda _: spec(method))(model)


def fitted_to(model: Any) -> Any:
    """A tiny explainer, fitted once for each kind of model; those with a fuse or other precision use it too."""
    loaded = load_model(model)
    prompted = isinstance(loaded.readout, LabelWords)
    return _fitted(loaded.family.name, loaded.task, len(loaded.labels), prompted)


@cache
def _fitted(family: str, task: str, outputs: int, prompted: bool) -> Any:
    for case in CASES:
        model = model_of(case)
        kind = (model.family.name, model.task, len(model.labels), isinstance(model.readout, LabelWords))
        if kind == (family, task, outputs, prompted):
            inputs = list(CASES[case].inputs)
            data = [as_example(given, i) for i, given in enumerate(inputs * (40 // len(inputs)))]
            with quiet(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # so few, repeated texts
                return replace(assay.fit(model, data, spec("aml"), progress=False), any_model=True)
    raise LookupError(f"no case has a {family} model for {task} with {outputs} outputs")


def weighted_heads_of(model: Any) -> Any:
    """Some weights for the heads of a model, in the form in which a fit leaves them."""
    loaded = load_model(model)
    phi = torch.linspace(0, 0.6, loaded.n_heads)
    card = {
        "method": "scaffold",
        "settings": {"normaliser": "sparsemax"},
        "layers": loaded.n_blocks,
        "identity": {},
        "labels": list(loaded.labels),
        "task": loaded.task,
        "model": loaded.title,
    }
    return Scaffold.of(HeadWeights(phi, card))


def as_example(given: Any, i: int) -> Any:
    example = next(iter(as_examples([given])))
    return replace(example, id=str(i))


def given_to(method: str, case: str) -> list[Any]:
    """The inputs of a case, without the two longest texts for a search, which would take half of the time."""
    inputs = list(CASES[case].inputs)
    return [*inputs[1:3], inputs[-1]] if method in SEARCHES and len(inputs) > 3 else inputs


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore the warning that a model has no mask token, which has a test of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*has no mask token")
        yield


def explain(model: Any, inputs: Any, method: str, **options: Any) -> Any:
    with quiet():
        return assay.explain(model, inputs, method_for(method, model), progress=False, **options)


@cache
def explained(case: str, method: str, *, double: bool = False) -> Attributions:
    """Attributions of all inputs of a case with the defaults. Shared by tests: do not change them."""
    model = precise(case) if double else model_of(case)
    attributions: Attributions = explain(model, given_to(method, case), method)
    return attributions


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Assert that the scores of each input agree within `tolerance` of the largest one."""
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert a.units == b.units
        assert distance(a, b) <= tolerance, (a.scores, b.scores)


def distance(a: Any, b: Any) -> float:
    """Largest difference between two attributions, relative to the largest score."""
    largest = max(np.abs(a.scores).max(), np.abs(b.scores).max(), 1e-12)
    return float(np.abs(a.scores - b.scores).max() / largest)


# --- the state of a model ----------------------------------------------------------------------------------------

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks")


def own_modules(model: Model) -> list[nn.Module]:
    """The modules that belong to the user."""
    return [model.hf, *([model.readout.head] if isinstance(model.readout, AssayHead) else [])]


@dataclass(frozen=True)
class State:
    """Everything in a model that Assay could change: weights, modes, hooks, gradients, configuration."""

    weights: tuple[torch.Tensor, ...]
    flags: tuple[Any, ...]

    @staticmethod
    def of(model: Model) -> State:
        tops = own_modules(model)
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
    return all(not getattr(m, name) for top in own_modules(model) for m in top.modules() for name in HOOKS[:4])


def as_a_user_may_have_it(model: Model) -> None:
    """Set training mode and gradients on, with one layer in evaluation mode and one parameter frozen."""
    for top in own_modules(model):
        top.train().requires_grad_(True)
        next(m for m in top.modules() if isinstance(m, nn.Linear)).eval()
        next(top.parameters()).requires_grad_(False)


class BlownError(Exception):
    """Raised by a Fuse."""


class Fuse(nn.Module):
    """A module that raises after `calls` calls, or runs out of memory on more than `rows` rows at once."""

    def __init__(self, inner: nn.Module, calls: float = np.inf, rows: float = np.inf) -> None:
        super().__init__()
        self.inner, self.calls, self.rows, self.seen = inner, calls, rows, 0
        self.all_layers = getattr(inner, "all_layers", False)  # of a head

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.seen >= self.calls:
            raise BlownError("the head broke")
        self.seen += 1
        if len(args[0]) > self.rows:
            raise torch.OutOfMemoryError("not enough memory")
        return self.inner(*args, **kwargs)


def with_fuse(model: Model, head: str, **limits: float) -> tuple[Model, Fuse]:
    """The model with a fuse around the module that makes its class outputs."""
    if isinstance(model.readout, AssayHead):
        fuse = Fuse(model.readout.head, **limits)
        model.readout = AssayHead(fuse)
    else:
        fuse = Fuse(model.hf.get_submodule(head), **limits)
        model.hf.set_submodule(head, fuse)
    return model, fuse
