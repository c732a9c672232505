"""What an evaluation costs: Assay beside the bare passes it needs, and beside Captum plus a loop. Prints ratios.

    OMP_NUM_THREADS=1 python benchmarks/evaluate.py --write evaluate.md

The floor: every sequence that Assay sent through the model (equal masks once), by its length and with its backward pass
if it had one, in a bare loop sorted by length at the best of several batch sizes, parameters frozen.
Captum plus a loop: attributions one text at a time as Captum documents them (IG in batches of 32), then for each text,
method and metric one batch of the masked texts it needs; nothing is remembered from one metric to the next.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import captum_side
import numpy as np
import torch
from speed import MODEL, SIZES, _batches, _forward_backward, _once, interleaved, setting

import assay
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.evaluation.metrics import make_metric
from assay.faithfulness.protocol import get_protocol

METHODS = (
    "integrated_gradients(steps=24, rule=gauss_legendre)",
    "gradient_x_input",
    "occlusion",
    "lime(samples=64)",
    "kernel_shap(samples=64)",
    "random",
)
METRICS = (
    "sufficiency",
    "comprehensiveness",
    "sufficiency(aopc=True)",
    "comprehensiveness(aopc=True)",
    "log_odds",
    "deletion",
)


def main() -> None:
    options = _options()
    warnings.simplefilter("ignore")
    model, texts, about = setting(options.model)
    many, few = texts[: options.sentences], texts[: options.captum_sentences]
    with recorded(model) as lengths:
        evaluation(model, many)()  # warms up, too
    sides = {"assay": evaluation(model, many), "floor": floor(model, lengths)}
    # time of the processor: a busy machine does no harm
    times = interleaved(sides, options.runs, time.process_time, warm=False)
    sides = {"assay": evaluation(model, few), "captum": lambda: captum_and_loop(model, few)}
    beside = interleaved(sides, options.runs, time.process_time, warm=False)
    page = _page(about, options, lengths, times, beside["captum"] / beside["assay"])
    print(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")


def evaluation(model: Any, texts: list[str]) -> Callable[[], Any]:
    data = Dataset(tuple(Example(text, id=str(i)) for i, text in enumerate(texts)))

    def run() -> None:
        with tempfile.TemporaryDirectory() as store:  # empty, so that nothing is reused
            assay.evaluate(model, data, METHODS, METRICS, store=store, progress=False)

    return run


def _page(
    about: str, options: argparse.Namespace, lengths: dict[bool, list[int]], times: dict[str, float], captum: float
) -> str:
    forward, both = len(lengths[False]), len(lengths[True])
    lines = [
        "# Speed of an evaluation",
        "",
        f"Printed by `python benchmarks/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`: {about}; "
        f"{options.sentences} sentences, {len(METHODS)} methods, {len(METRICS)} metrics, {torch.get_num_threads()} "
        f"threads, medians of {options.runs} interleaved runs, processor time.",
        "",
        f"Assay sent {forward:,} sequences forward only and {both:,} forward and backward; equal masks went once.",
        "",
        "| side | time / Assay |",
        "|---|---|",
        f"| bare passes | {times['floor'] / times['assay']:.2f} |",
        "| Assay | 1 |",
        f"| Captum plus a loop (on {options.captum_sentences} of the sentences) | {captum:.2f} |",
    ]
    lines += ["", f"**Assay / bare passes: {times['assay'] / times['floor']:.2f}** (goal: at most 1.2).", ""]
    lines += [f"- {spec}" for spec in (*METHODS, *METRICS)]
    return "\n".join(lines) + "\n"


# --- the floor -------------------------------------------------------------------------------------------------------


@contextmanager
def recorded(model: Any) -> Any:
    """Lengths of all sequences that go through the model, by whether a gradient is asked."""
    lengths: dict[bool, list[int]] = {False: [], True: []}
    plain = model.logits

    def logits(batch: Any) -> Any:
        graded = torch.is_grad_enabled() and batch.embeddings is not None
        lengths[graded] += batch.mask.sum(-1).tolist()
        return plain(batch)

    model.logits = logits
    try:
        yield lengths
    finally:
        del model.logits


def floor(model: Any, lengths: dict[bool, list[int]]) -> Callable[[], None]:
    longest = max(lengths[False] + lengths[True])
    ids = [[5 + k % 1000 for k in range(n)] for n in range(longest + 1)]  # any ids cost the same

    def loop(lengths: dict[bool, list[int]], graded: bool, size: int) -> Callable[[], None]:
        batches = _batches(ids, lengths[graded], size, model)

        def run() -> None:
            with model.frozen(), torch.enable_grad() if graded else torch.inference_mode():
                for batch in batches:
                    _forward_backward(model.hf, batch) if graded else model.hf(**batch)

        return run

    def best(graded: bool) -> Callable[[], None]:
        some = {graded: sorted(lengths[graded])[::10]}  # a tenth tells which size is best
        timed = {size: _once(loop(some, graded, size)) for size in (*SIZES, 128)}
        return loop(lengths, graded, min(timed, key=lambda size: timed[size]))

    forward, both = best(False), best(True)
    return lambda: (forward(), both())[0]


# --- Captum and a loop -----------------------------------------------------------------------------------------------


def captum_and_loop(model: Any, texts: list[str]) -> None:
    for spec in METHODS:
        name = spec.partition("(")[0]
        if name != "random":
            captum_side.run(name, model, texts, spec, tuned=name == "integrated_gradients")()
    metrics = [make_metric(name, "eraser") for name in METRICS]
    rng = np.random.default_rng(0)
    for text in texts:
        ids = model.tokenizer(text)["input_ids"]
        for _ in METHODS:
            order = rng.permutation(len(ids) - 2)  # which units go first does not change the cost
            for made in metrics:
                masked(model, ids, made.keeps(order), made.facts.removal or get_protocol(made.protocol).removal)


def masked(model: Any, ids: list[int], keeps: Any, removal: str) -> Any:
    """Probabilities of the text without what each mask removes, in one batch."""
    texts = [_masked(ids, keep, removal, model.tokenizer.mask_token_id) for keep in keeps]
    batch = model.tokenizer.pad({"input_ids": texts}, return_tensors="pt")
    with torch.inference_mode():
        return model.hf(**batch).logits.softmax(-1)


def _masked(ids: list[int], keep: Any, removal: str, mask: int) -> list[int]:
    inner = zip(ids[1:-1], keep, strict=True)
    if removal == "delete":
        return [ids[0], *(i for i, kept in inner if kept), ids[-1]]
    return [ids[0], *(i if kept else mask for i, kept in inner), ids[-1]]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of a BERT classifier")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--captum-sentences", type=int, default=24, help="Captum takes minutes")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
