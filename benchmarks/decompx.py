"""What DecompX costs: against a bare loop of its own matrix products, against forward passes, and in memory.

    python benchmarks/decompx.py --write decompx.md      # about two minutes on one core

A random BERT classifier of 6 blocks x 384; times do not depend on the weights. The floor is the same matrix products on
the same shapes, with nothing between them, at the best of several chunk sizes. All sides take turns within a run;
ratios are of the best processor times, since on a shared machine only the best is free of the neighbours.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

from assay.core.types import Target
from assay.explainers.decomposition._units import maps_pay
from assay.explainers.decomposition.decompx import Decompx
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.families import family_of
from assay.models.model import Model
from assay.models.readout import StockHead
from assay.models.target import Targets

LAYERS, WIDTH, HEADS, UNITS = 6, 384, 12, 1536
CHUNKS = (512, 1024, 2048, 1 << 20)  # vectors per product tried for the floor


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    if options.peak:
        print(peak())
        return
    head = [
        "# Speed of DecompX",
        "",
        f"Printed by `python benchmarks/decompx.py`: a random BERT of {LAYERS} layers x {WIDTH}, one input of "
        f"{options.tokens} tokens, 1 thread, best processor times of {options.runs} interleaved runs.",
        "",
        "| what | measured | goal |",
        "|---|---|---|",
    ]
    gigabytes = float(subprocess.check_output([sys.executable, __file__, "--peak"]))
    memory = f"| peak memory of the process, a 512-token input on 12 x {WIDTH} | {gigabytes:.2f} GB | at most 4 GB |"
    text = "\n".join([*head, *speed(options.tokens, options.runs), memory]) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


def speed(tokens: int, runs: int) -> list[str]:
    model, batch = bert(LAYERS), inputs(tokens)
    sides: dict[str, Callable[[], object]] = {
        "forward": partial(forward, model, batch),
        "absdot": partial(attribute, model, batch, "absdot"),
        "bias_token": partial(attribute, model, batch, "bias_token"),
        **{f"floor {size}": partial(products, LAYERS, tokens, size) for size in CHUNKS},
    }
    best = {name: min(times) for name, times in timed(sides, runs).items()}
    floor = min(best[f"floor {size}"] for size in CHUNKS)
    one, shared = best["forward"], best["absdot"]
    return [
        f"| `decompx` / a bare loop of its matrix products | {shared / floor:.2f} | at most 1.3 |",
        f"| `decompx` / one forward pass | {shared / one:.0f} | – |",
        f"| its matrix products / one forward pass | {floor / one:.0f} | – |",
        f"| `decompx(bias=bias_token)` / one forward pass | {best['bias_token'] / one:.1f} | at most 5 |",
    ]


def timed(sides: dict[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in sides}
    for run in range(runs + 1):
        for name, side in sides.items():
            for _ in range(10 if name in ("forward", "bias_token") else 1):  # short ones oftener
                began = time.process_time()
                side()
                if run:  # the first warms up
                    times[name].append(time.process_time() - began)
    return times


def bert(layers: int) -> Model:
    config = BertConfig(
        vocab_size=1000,
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        intermediate_size=UNITS,
        num_labels=2,
    )
    torch.manual_seed(0)
    hf = BertForSequenceClassification(config).eval()
    encoder = TextEncoder(None, 512)
    return Model("random BERT", hf, family_of("bert"), encoder, StockHead(), ("no", "yes"), "classification")


def inputs(tokens: int) -> Batch:
    ids = torch.randint(5, 1000, (1, tokens), generator=torch.Generator().manual_seed(1))
    zeros = torch.zeros_like(ids)
    return Batch(ids, torch.ones_like(ids), zeros, torch.arange(tokens)[None], torch.zeros(1, dtype=torch.long))


def forward(model: Model, batch: Batch) -> Tensor:
    with torch.no_grad():
        return model.logits(batch)


def attribute(model: Model, batch: Batch, bias: str) -> object:
    return Decompx(bias=bias).attribute(model, batch, Targets((Target(1),), "logit"))  # type: ignore[arg-type]


def products(layers: int, tokens: int, chunk: int) -> None:
    """The matrix products of decompx(absdot): the first block mixes single sources, the last needs one row."""
    vectors, narrow = torch.rand(tokens * tokens, WIDTH), WIDTH // HEADS
    square = torch.rand(WIDTH, WIDTH)
    attention, values = torch.rand(HEADS, tokens, tokens), torch.rand(HEADS, tokens, tokens * narrow)
    single, brought = torch.rand(tokens, tokens, HEADS), torch.rand(tokens, HEADS, WIDTH)
    units = units_of(tokens)
    for layer in range(layers):
        last = layer == layers - 1
        if layer == 0:
            single @ brought
        else:
            for part in vectors.split(chunk):
                part @ square  # values
            (attention[:, :1] if last else attention) @ values
        for part in (vectors[:tokens] if last else vectors).split(chunk):
            if layer:
                part @ square  # output
            units(part)


def units_of(tokens: int) -> Callable[[Tensor], object]:
    """Hidden units and output layer: two products, or where sources are many one after a map is made for each row."""
    first, second = torch.rand(WIDTH, UNITS), torch.rand(UNITS, WIDTH)
    if not maps_pay(tokens, UNITS, WIDTH):
        return lambda part: (part @ first) @ second
    return lambda part: [row @ (first @ second) for row in part.split(tokens)]


def peak() -> float:
    attribute(bert(12), inputs(512), "absdot")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--write", help="also write the page to this file")
    parser.add_argument("--peak", action="store_true", help="only print the peak memory in GB (used by itself)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
