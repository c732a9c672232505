"""Speed side by side in one run: the floor, Captum as documented, Captum tuned, Assay. Prints ratios of times.

    python benchmarks/speed.py                      # everything, about 25 minutes on 2 cores
    python benchmarks/speed.py --only gradient_x_input lime --runs 5 --write docs/speed.md

The floor of a method is a bare batched loop of as many forward, or forward and backward, passes as Assay needed, over
the same sequences, tokenised and padded beforehand, parameters frozen, at the best of several batch sizes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import captum_side
import numpy as np
import torch

import assay
from assay.datasets.builtin import builtin
from assay.explainers.perturbation.kernel_shap import all_masks, exact_shapley

DATA = Path("../shared/data/sst2_sentences/dev.jsonl.gz")
MODEL = Path("~/.cache/assay-teacher/minilm-sst2").expanduser()
SIZES = (4, 8, 16, 32, 64)  # sequences per batch tried for the floor

#             method spec, sentences, goal (Assay / floor), Captum's counterpart or None
METHODS: dict[str, tuple[str, int, float, str | None]] = {
    "gradient_x_input": ("gradient_x_input", 32, 1.15, "gradient_x_input"),
    "integrated_gradients": ("integrated_gradients(steps=50, rule=gauss_legendre)", 32, 1.15, "integrated_gradients"),
    "smooth_grad": ("smooth_grad(samples=16)", 32, 1.15, None),
    "gradient_shap": ("gradient_shap(samples=16)", 32, 1.15, "gradient_shap"),
    "occlusion": ("occlusion", 32, 1.15, "occlusion"),
    "lime": ("lime(samples=64)", 32, 1.15, "lime"),
    "kernel_shap": ("kernel_shap(samples=64)", 32, 1.15, "kernel_shap"),
    "average_attention": ("average_attention", 32, 1.3, None),
    "attention_rollout": ("attention_rollout", 32, 1.3, None),
    "attention_x_gradient": ("attention_x_gradient", 32, 1.3, None),
    "value_zeroing": ("value_zeroing", 16, 1.3, None),
}


def main() -> None:
    options = _options()
    warnings.simplefilter("ignore")
    model, texts, about = setting(options.model)
    lines = [
        "# Speed",
        "",
        f"Printed by `python benchmarks/speed.py`: {about}; {torch.get_num_threads()} threads, "
        f"medians of {options.runs} interleaved runs. Numbers are ratios of times; below 1 is faster.",
        "",
    ]
    lines += passes_table(model, texts, options)
    if not options.only or "equal_error" in options.only:
        lines += integrated_gradients_at_equal_error(model, texts, options.runs)
        lines += kernel_shap_at_equal_error(model, texts)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text)


def setting(folder: Path) -> tuple[Any, list[str], str]:
    """A MiniLM classifier and SST sentences where they are at hand; else the built-in ones."""
    if folder.is_dir() and DATA.is_file():
        with gzip.open(DATA, "rt") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        return assay.load_model(folder), texts, "a fine-tuned MiniLM classifier (6 layers x 384) on SST dev sentences"
    return assay.load_model("builtin"), [e.text or "" for e in builtin()] * 4, "the built-in model (no MiniLM at hand)"


# --- passes: Assay, floor, Captum --------------------------------------------------------------------------------


def passes_table(model: Any, texts: list[str], options: argparse.Namespace) -> list[str]:
    rows = [
        "## Against the floor and Captum",
        "",
        "| method | Assay / floor | goal | Captum as documented / Assay | Captum tuned / Assay |",
        "|---|---|---|---|---|",
    ]
    for name, (spec, count, goal, captum) in METHODS.items():
        if options.only and name not in options.only:
            continue
        some = texts[:count]
        sides: dict[str, Callable[[], Any]] = {"assay": lambda s=spec, t=some: assay.explain(model, t, s)}
        sides["floor"] = floor(model, some, sides["assay"]())
        if captum is not None:
            steps = {"documented": False, "tuned": True}
            sides |= {k: captum_side.run(captum, model, some, spec, tuned=v) for k, v in steps.items()}
        times = interleaved(sides, options.runs)
        ratio = {k: f"{times[k] / times['assay']:.2f}" if k in times else "–" for k in ("documented", "tuned")}
        share = times["assay"] / times["floor"]
        rows.append(f"| `{spec}` | {share:.2f} | {goal} | {ratio['documented']} | {ratio['tuned']} |")
        print(rows[-1], flush=True)
    return [*rows, ""]


def interleaved(
    sides: dict[str, Callable[[], Any]], runs: int, clock: Callable[[], float] = time.perf_counter, *, warm: bool = True
) -> dict[str, float]:
    """Median time of each side, taken in turns so that a slow moment of the machine hits all."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for run in range(runs + warm):
        for name, side in sides.items():
            began = clock()
            side()
            if run >= warm:  # the first round warms up
                taken[name].append(clock() - began)
    return {name: statistics.median(times) for name, times in taken.items()}


def floor(model: Any, texts: list[str], attributions: Any) -> Callable[[], None]:
    """A bare loop of the passes that Assay counted, at the best batch size."""
    ids = [model.tokenizer(text)["input_ids"] for text in texts]
    forward = [i for i, a in enumerate(attributions) for _ in range(round(a.cost.forwards - a.cost.backwards))]
    both = [i for i, a in enumerate(attributions) for _ in range(round(a.cost.backwards))]

    def loop(size: int) -> Callable[[], None]:
        plain, graded = _batches(ids, forward, size, model), _batches(ids, both, size, model)

        def run() -> None:
            with model.frozen():
                with torch.inference_mode():
                    for batch in plain:
                        model.hf(**batch)
                for batch in graded:
                    _forward_backward(model.hf, batch)

        return run

    timed = {size: _once(loop(size)) for size in SIZES}
    return loop(min(timed, key=lambda size: timed[size]))


def _once(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _batches(ids: list[list[int]], rows: list[int], size: int, model: Any) -> list[dict[str, torch.Tensor]]:
    order = sorted(rows, key=lambda i: len(ids[i]))
    chunks = [order[k : k + size] for k in range(0, len(order), size)]
    return [dict(model.tokenizer.pad({"input_ids": [ids[i] for i in c]}, return_tensors="pt")) for c in chunks]


def _forward_backward(hf: Any, batch: dict[str, torch.Tensor]) -> None:
    embeddings = hf.get_input_embeddings()(batch["input_ids"]).detach().requires_grad_()
    logits = hf(inputs_embeds=embeddings, attention_mask=batch["attention_mask"]).logits
    torch.autograd.grad(logits.amax(-1).sum(), embeddings)


# --- equal error -------------------------------------------------------------------------------------------------


def integrated_gradients_at_equal_error(model: Any, texts: list[str], runs: int) -> list[str]:
    """The fewest steps with a mean completeness error no larger than Captum's 50 have, and the time ratio."""
    some = texts[:32]
    documented = captum_side.run("integrated_gradients", model, some, "integrated_gradients(steps=50)", tuned=False)
    theirs = captum_side.completeness_error(model, some, 50)
    for steps in range(20, 51, 4):
        found = assay.explain(model, some, f"integrated_gradients(steps={steps})")
        ours = float(np.mean([a.extra["completeness_error"] for a in found]))
        if ours <= theirs:
            break
    sides = {"captum": documented, "assay": lambda: assay.explain(model, some, f"integrated_gradients(steps={steps})")}
    times = interleaved(sides, runs)
    return [
        "## Integrated gradients at equal completeness error",
        "",
        f"Captum's documented LayerIntegratedGradients, 50 steps: mean error {theirs:.1e}. "
        f"Assay, {steps} adaptive steps: {ours:.1e}. "
        f"Captum / Assay in time: **{times['captum'] / times['assay']:.2f}** (goal 1.5).",
        "",
    ]


def kernel_shap_at_equal_error(model: Any, texts: list[str], sentences: int = 12, seeds: int = 2) -> list[str]:
    """Model evaluations that Captum's KernelShap needs for the error that Assay has, on sentences of 10-12 tokens."""
    games = list(_games(model, texts, sentences))
    rows = ["| Assay's evaluations | error | Captum's evaluations for the same error | ratio |", "|---|---|---|---|"]
    for budget in (64, 128, 256):
        ours = _error(games, seeds, lambda v, n, seed, b=budget: _assay_shapley(v, n, b, seed))
        theirs = 2 * budget
        while _error(games, seeds, lambda v, n, seed, m=theirs: captum_side.shapley(v, n, m, seed)) > ours:
            theirs = int(theirs * 1.25)
        rows.append(f"| {budget} | {ours:.4f} | {theirs} | {theirs / budget:.1f} |")
        print(rows[-1], flush=True)
    head = [
        "## KernelSHAP at equal error",
        "",
        f"Root mean square error against exact Shapley values (all 2^n masks) on {sentences} SST sentences of 10-12",
        f"tokens, {seeds} seeds each; the samples of Captum's own KernelShap are raised by a quarter until its error",
        "is as small. Goal: a ratio of 5.",
        "",
    ]
    return [*head, *rows, ""]


def _games(model: Any, texts: list[str], count: int) -> Any:
    """Values (2^n,) of all masks of some sentences."""
    from assay.core.types import Example
    from assay.explainers.session import Session
    from assay.masking.game import Game

    session = Session.create(model, {})
    found = 0
    for text in texts:
        encoding = session.encode(Example(text), 0)
        if 10 <= encoding.players <= 12 and found < count:
            found += 1
            outputs = Game(model, [encoding], session.removal, session.budget).outputs(
                [(0, all_masks(encoding.players))]
            )[0]
            probabilities = torch.from_numpy(outputs).double().softmax(-1)
            yield probabilities[:, int(probabilities[-1].argmax())].numpy(), encoding.players


def _error(games: list[tuple[Any, int]], seeds: int, estimate: Callable[[Any, int, int], Any]) -> float:
    errors = []
    for values, n in games:
        exact = exact_shapley(all_masks(n), values)
        errors += [np.mean((estimate(values, n, seed) - exact) ** 2) for seed in range(seeds)]
    return float(np.sqrt(np.mean(errors)))


def _assay_shapley(values: Any, n: int, budget: int, seed: int) -> Any:
    from assay.explainers.perturbation.kernel_shap import KernelShap

    flow = KernelShap(samples=budget).flow(n, np.random.default_rng(seed))
    keep = next(flow)
    try:
        flow.send(values[(keep * (1 << np.arange(n))).sum(1)])
    except StopIteration as stop:
        return stop.value.scores
    raise RuntimeError("kernel_shap asks once")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of a BERT classifier")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=[*METHODS, "equal_error"], help="some of the rows")
    parser.add_argument("--write", help="also write the page to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
