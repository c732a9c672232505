"""Speed of the searches and of sequential integrated gradients, in one run. Prints ratios of times.

    python benchmarks/search.py --write docs/speed_search.md      # about five minutes on one core

The floor of a beam search is a bare batched loop over exactly the distinct masks it asked for, tokenised beforehand, at
the best of several batch sizes; `one mask at a time` is the same search with batches of one sequence.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speed import MODEL, setting

import assay
from assay.core.types import Example
from assay.explainers.explain import Job, named_methods
from assay.masking.game import Game

SIZES = (16, 32, 64, 128)  # sequences per batch tried for the floor
SIG = "sequential_integrated_gradients"


def main() -> None:
    options = _options()
    model, texts, about = setting(options.model)
    job = Job.make(model, named_methods([options.search]))
    low, high = options.tokens
    some = [t for t in texts if low <= job.encode(Example(t), 0).players <= high][: options.sentences]
    head = [
        "# Speed of searches",
        "",
        f"Printed by `python benchmarks/search.py`: {about} of {low} to {high} tokens; {torch.get_num_threads()} "
        f"thread(s), medians of {options.runs} interleaved runs, processor time.",
        "",
        "| what | ratio | goal |",
        "|---|---|---|",
    ]
    rows = [*searches(model, some, options), *sequential(model, some[: options.sig_sentences], options.runs)]
    text = "\n".join([*head, *rows]) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


def searches(model: Any, texts: list[str], options: argparse.Namespace) -> list[str]:
    """Beam search beside the bare passes of its masks, and beside one mask at a time."""
    batches, count = distinct_batches(model, texts, options.search)
    bare = {size: _loop(model, batches(size)) for size in SIZES}
    once = {size: _taken(run) for size, run in bare.items()}
    best = min(once, key=lambda size: once[size])
    print(f"{count} distinct masks; floor by batch size: { {k: round(v, 2) for k, v in once.items()} }", flush=True)
    sides = {
        "search": lambda: assay.explain(model, texts, options.search, progress=False),
        "floor": bare[best],
        "alone": lambda: assay.explain(model, texts, options.search, batch_tokens=1, progress=False),
    }
    times = interleaved(sides, options.runs)
    return [
        f"| `{options.search}`, {len(texts)} sentences / bare passes of its {count} distinct masks "
        f"| {times['search'] / times['floor']:.2f} | at most 1.2 |",
        f"| one mask at a time / `{options.search}` | {times['alone'] / times['search']:.1f} | at least 4 |",
    ]


def sequential(model: Any, texts: list[str], runs: int) -> list[str]:
    exact, path = f"{SIG}", f"{SIG}(exact=False)"
    sides = {spec: lambda spec=spec: assay.explain(model, texts, spec, progress=False) for spec in (exact, path)}
    gap = max(
        float(np.abs(a.scores - b.scores).max()) for a, b in zip(*(side() for side in sides.values()), strict=True)
    )
    times = interleaved(sides, runs)
    return [
        f"| `{path}` / `{exact}`, {len(texts)} sentences | {times[path] / times[exact]:.0f} | at least 50 |",
        f"| largest difference of their scores | {gap:.1e} | at most 1e-4 |",
    ]


def distinct_batches(model: Any, texts: list[str], spec: str) -> tuple[Callable[[int], list[dict[str, Any]]], int]:
    """Ready tensors of every distinct mask that the search asks for, by batch size; like lengths together."""
    job = Job.make(model, named_methods([spec]))
    encodings = [job.encode(Example(text), i) for i, text in enumerate(texts)]
    asked = _asked(job, encodings)
    rows = sorted((row for i, keep in asked for row in _ids(job, encodings[i], keep)), key=len)

    def batches(size: int) -> list[dict[str, Any]]:
        chunks = [rows[k : k + size] for k in range(0, len(rows), size)]
        return [dict(model.tokenizer.pad({"input_ids": chunk}, return_tensors="pt")) for chunk in chunks]

    return batches, len(rows)


def _asked(job: Job, encodings: list[Any]) -> list[tuple[int, Any]]:
    """Run the search once and read from the Game's memory which masks it took."""
    game = Game(job.model, encodings, job.removal, job.budget)
    (method,) = job.methods.values()
    with job.model.frozen():
        job._one(method, encodings, [job._target(None, i) for i in range(len(encodings))], game)
    masks = []
    for i, encoding in enumerate(encodings):
        packed = np.stack([np.frombuffer(key, np.uint8) for key in game.memo[i]])
        masks.append((i, np.unpackbits(packed, axis=1)[:, : encoding.players].astype(bool)))
    return masks


def _ids(job: Job, encoding: Any, keep: Any) -> list[list[int]]:
    kept = np.concatenate([keep, np.ones((len(keep), 1), bool)], 1)[:, encoding.unit_of]
    rows = job.removal.rows(job.model, encoding, kept)
    return [ids[:length].tolist() for ids, length in zip(rows.ids, rows.lengths, strict=True)]


def _loop(model: Any, batches: list[dict[str, Any]]) -> Callable[[], None]:
    def run() -> None:
        with model.frozen(), torch.inference_mode():
            for batch in batches:
                model.hf(**batch)

    return run


def _taken(run: Callable[[], Any]) -> float:
    began = time.process_time()  # of all threads of this process: others on the machine do not count
    run()
    return time.process_time() - began


def interleaved(sides: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Median time of each side, taken in turns so that a slow moment of the machine hits all."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(runs):
        for name, side in sides.items():
            taken[name].append(_taken(side))
    return {name: statistics.median(times) for name, times in taken.items()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of a BERT classifier")
    parser.add_argument("--search", default="beam_search(beam=10)", help="spec of the search")
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--sig-sentences", type=int, default=4, help="sentences for the path form, which is slow")
    parser.add_argument("--tokens", type=int, nargs=2, default=(5, 9), help="shortest and longest sentence")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", help="also write the page to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
