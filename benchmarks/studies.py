"""What the studies cost beside a bare batched loop over the same passes: layer randomisation and the top-k attack.

    python benchmarks/studies.py                        # the built-in model
    python benchmarks/studies.py --model FOLDER --examples 16

The bare loop is plain torch on the same batches: no units, no state, no rows. The aim is 1.2 x.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

import assay
from assay.evaluation.adversarial.top_k_attack import TopKAttack
from assay.evaluation.sanity.layer_randomisation import LayerRandomisation
from assay.explainers.methods import named_methods
from assay.explainers.session import Session
from assay.explainers.white_box import batch_with_units
from assay.models import hooks

STEPS = 20


def batch_of(model: Any, examples: Any) -> Any:
    session = Session.create(model, named_methods(["gradient"]))
    inputs = session.open(list(enumerate(examples)), [None] * len(examples))
    return batch_with_units(model, inputs.encodings, budget=session.budget)


def randomisation_loop(model: Any, batch: Any) -> None:
    """One gradient of the whole model, one per different broken model: 2 L - 1 of them, weights drawn beforehand."""
    n = model.n_blocks
    drawn = {b: model.reinitialised(b, 0) for b in range(n)}
    steps = [range(b, n) for b in reversed(range(n))] + [range(b, b + 1) for b in reversed(range(n - 1))]
    for blocks in [range(0), *steps]:
        with model.frozen(), hooks.block_weights(model.hf, {b: drawn[b] for b in blocks}), torch.enable_grad():
            x = model.embeddings(batch).detach().requires_grad_()
            value = model.logits(replace(batch, embeddings=x)).max(-1).values.sum()
            torch.autograd.grad(value, x)


def attack_loop(model: Any, batch: Any) -> None:
    """Forward, gradient, gradient of the gradient, step: as many times as the attack, and a last look."""
    start = model.embeddings(batch).detach()
    delta = torch.zeros_like(start)
    with model.frozen(), torch.enable_grad(), hooks.twice_differentiable():
        for step in range(STEPS + 1):
            x = delta.requires_grad_()
            moved = start + x
            p = model.logits(replace(batch, embeddings=moved)).softmax(-1).max(-1).values.sum()
            (g,) = torch.autograd.grad(p, moved, create_graph=True)
            if step < STEPS:
                (h,) = torch.autograd.grad(-g.norm(dim=-1).sum(), x)
                delta = (delta.detach() + 0.1 * h).clamp(-2, 2)


def best_of(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.process_time()  # the machine may be busy with other things
        work()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--examples", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    model, data = assay.load_model(given.model), assay.load_dataset("builtin", limit=given.examples)
    model.fingerprint  # noqa: B018  a hash of the weights, once per model
    batch, n = batch_of(model, data), len(data)
    blocks = 2 * model.n_blocks
    budget = {"batch_tokens": 1 << 20}  # one batch, as the loop has
    sanity = LayerRandomisation(methods=("gradient",), **budget)
    attack = TopKAttack(methods=("gradient",), objectives=("prediction_kept",), steps=STEPS, tolerance=0.0, **budget)
    studies: list[tuple[str, Callable[[], Any], Callable[[], None], int]] = [
        (
            "layer_randomisation",
            lambda: sanity.run(model, data),
            lambda: randomisation_loop(model, batch),
            2 * blocks * n,
        ),
        ("top_k_attack", lambda: attack.run(model, data), lambda: attack_loop(model, batch), (3 * STEPS + 2) * n),
    ]
    print(f"{model.name}: {model.n_blocks} blocks, {n} examples, method gradient, CPU seconds, best of {given.repeats}")
    print(f"{'study':22}{'passes':>9}{'needed':>9}{'x':>7}{'seconds':>10}{'bare':>8}{'x':>7}")
    for name, study, bare, needed in studies:
        before = model.passes.forwards + model.passes.backwards
        study()
        used = model.passes.forwards + model.passes.backwards - before
        mine, floor = best_of(study, given.repeats), best_of(bare, given.repeats)
        print(f"{name:22}{used:9}{needed:9}{used / needed:7.2f}{mine:10.2f}{floor:8.2f}{mine / floor:7.2f}")


if __name__ == "__main__":
    main()
