"""The same work in Captum: as its documentation shows it (one text at a time), and tuned (batched where it can)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from captum.attr import (
    FeatureAblation,
    GradientShap,
    KernelShap,
    LayerGradientXActivation,
    LayerIntegratedGradients,
    Lime,
)

from assay.core.spec import parse


def run(name: str, model: Any, texts: list[str], spec: str, *, tuned: bool) -> Callable[[], Any]:
    """A call that explains all texts with Captum's counterpart of `name`, with the parameters of Assay's spec."""
    wanted = dict(parse(spec).params)
    work = {
        "gradient_x_input": _gradient_x_input,
        "integrated_gradients": _integrated_gradients,
        "gradient_shap": _gradient_shap,
        "occlusion": _occlusion,
        "lime": _lime,
        "kernel_shap": _kernel_shap,
    }[name]
    return lambda: work(model, texts, wanted, tuned)


def _encode(model: Any, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, attention mask and a baseline with [MASK] for everything but special tokens and padding."""
    out = model.tokenizer(texts, return_tensors="pt", padding=True, return_special_tokens_mask=True)
    special = out["special_tokens_mask"].bool()
    baseline = torch.where(special, out["input_ids"], model.tokenizer.mask_token_id)
    return out["input_ids"], out["attention_mask"], baseline


def _forward(model: Any) -> Callable[..., torch.Tensor]:
    return lambda ids, mask: model.hf(input_ids=ids, attention_mask=mask).logits


def _predicted(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model.hf(input_ids=ids, attention_mask=mask).logits.argmax(-1)


def _groups(texts: list[str], size: int) -> list[list[str]]:
    ordered = sorted(texts, key=len) if size > 1 else texts
    return [ordered[k : k + size] for k in range(0, len(ordered), size)]


def _gradient_x_input(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    method = LayerGradientXActivation(_forward(model), model.hf.get_input_embeddings())
    for group in _groups(texts, 16 if tuned else 1):
        ids, mask, _ = _encode(model, group)
        method.attribute(ids, target=_predicted(model, ids, mask), additional_forward_args=mask).sum(-1)


def _integrated_gradients(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> list[torch.Tensor]:
    method = LayerIntegratedGradients(_forward(model), model.hf.get_input_embeddings())
    deltas = []
    for group in _groups(texts, 1):
        ids, mask, baseline = _encode(model, group)
        _, delta = method.attribute(
            ids,
            baselines=baseline,
            target=_predicted(model, ids, mask),
            additional_forward_args=mask,
            n_steps=wanted["steps"],
            internal_batch_size=32 if tuned else None,
            return_convergence_delta=True,
        )
        deltas.append(delta.detach())
    return deltas


def completeness_error(model: Any, texts: list[str], steps: int) -> float:
    deltas = _integrated_gradients(model, texts, {"steps": steps}, tuned=False)
    return float(torch.cat(deltas).abs().mean())


def _gradient_shap(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    lookup = model.hf.get_input_embeddings()
    method = GradientShap(lambda e, mask: model.hf(inputs_embeds=e, attention_mask=mask).logits)
    for group in _groups(texts, 1):
        ids, mask, baseline = _encode(model, group)
        method.attribute(
            lookup(ids).detach(),
            baselines=lookup(baseline).detach(),
            n_samples=wanted["samples"],
            target=_predicted(model, ids, mask),
            additional_forward_args=mask,
        ).sum(-1)


def _occlusion(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    method = FeatureAblation(lambda ids, mask: _forward(model)(ids, mask).softmax(-1))
    for group in _groups(texts, 1):
        ids, mask, baseline = _encode(model, group)
        with torch.no_grad():
            method.attribute(
                ids,
                baselines=baseline,
                target=_predicted(model, ids, mask),
                additional_forward_args=mask,
                perturbations_per_eval=32 if tuned else 1,
            )


def _sampled(method_class: Any, model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    method = method_class(lambda ids, mask: _forward(model)(ids, mask).softmax(-1))
    for group in _groups(texts, 1):
        ids, mask, baseline = _encode(model, group)
        with torch.no_grad():
            method.attribute(
                ids,
                baselines=baseline,
                target=_predicted(model, ids, mask),
                additional_forward_args=mask,
                n_samples=wanted["samples"],
                perturbations_per_eval=32 if tuned else 1,
            )


def _lime(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    _sampled(Lime, model, texts, wanted, tuned)


def _kernel_shap(model: Any, texts: list[str], wanted: dict[str, Any], tuned: bool) -> None:
    _sampled(KernelShap, model, texts, wanted, tuned)


def shapley(values: np.ndarray[Any, Any], n: int, samples: int, seed: int) -> np.ndarray[Any, Any]:
    """Captum's KernelShap of a game given by the values of all its masks."""
    torch.manual_seed(seed)
    table, place = torch.from_numpy(values), 2 ** torch.arange(n)
    method = KernelShap(lambda keep: table[(keep.long() * place).sum(-1)])
    found = method.attribute(
        torch.ones(1, n, dtype=torch.float64),
        baselines=torch.zeros(1, n, dtype=torch.float64),
        n_samples=samples,
        perturbations_per_eval=512,
    )
    return found[0].numpy()
