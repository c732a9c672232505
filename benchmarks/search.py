"""Speed of the searches and of sequential integrated gradients, in one run. Prints ratios of times.

    python benchmarks/search.py --write search.md      # about ten minutes on one core

The floor of a beam search is a bare batched loop over exactly the distinct masks it asked for, tokenised beforehand, at
the best of several batch sizes. `one mask at a time` is the paper's search written out: a beam of orders, every
distinct set of a step evaluated once, a bare pass for each. A third ratio tells its two reasons apart: the same
distinct masks, one bare pass each, against the floor, is all that batches can be worth on the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speed import MODEL, interleaved, setting

import assay
from assay.core.progress import Progress
from assay.core.types import Example
from assay.explainers.methods import named_methods
from assay.explainers.round import Round
from assay.explainers.session import Session

SIZES = (16, 32, 64, 128)  # sequences per batch tried for the floor
# The time one waits, on an idle machine; or that of all threads of this process, where others are at work
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
Value = Callable[[Any], float]  # of one mask
NOTE = (
    "One mask at a time loses by its batches: a pass of a dozen positions reads all weights for them and has no work "
    "for a second core. In processor time of one thread (`--clock processor`) it loses less on an idle machine, and "
    "more on a busy one, where others take the cache."
)
SIG = "sequential_integrated_gradients"


def main() -> None:
    options = _options()
    model, texts, about = setting(options.model)
    session = Session.create(model, {})
    low, high = options.tokens
    some = [t for t in texts if low <= session.encode(Example(t), 0).players <= high][: options.sentences]
    head = [
        "# Speed of searches",
        "",
        f"Printed by `python benchmarks/search.py`: {about} (of {low} to {high} tokens for searches); "
        f"{torch.get_num_threads()} thread(s), medians of {options.runs} interleaved runs, {options.clock} time.",
        "",
        "| what | ratio | goal |",
        "|---|---|---|",
    ]
    rows = [*searches(model, some, options), *sequential(model, texts[: options.sig_sentences], options)]
    text = "\n".join([*head, *rows, "", NOTE]) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


def searches(model: Any, texts: list[str], options: argparse.Namespace) -> list[str]:
    """Beam search beside the bare passes of its masks, and beside one mask at a time."""
    spec = f"beam_search(beam={options.beam})"
    played = Played.of(model, texts, spec)
    bare = {size: _loop(model, played.batches(size)) for size in SIZES}
    once = {size: _taken(run, CLOCKS[options.clock]) for size, run in bare.items()}
    best = min(once, key=lambda size: once[size])
    print(
        f"{played.count} distinct masks; floor by batch size: { {k: round(v, 2) for k, v in once.items()} }", flush=True
    )
    sides = {
        "search": lambda: assay.explain(model, texts, spec, progress=False),
        "floor": bare[best],
        "single": _loop(model, played.batches(1)),
        "paper": lambda: [solvex(value, n, options.beam) for value, n in played.values()],
    }
    times = interleaved(sides, options.runs, CLOCKS[options.clock], warm=False)
    passes = sum(solvex_passes(n, options.beam) for n in played.players)
    return [
        f"| `{spec}`, {len(texts)} sentences / bare passes of its {played.count} distinct masks "
        f"| {times['search'] / times['floor']:.2f} | at most 1.2 |",
        f"| the paper's search, one mask at a time (about {passes} passes) / `{spec}` "
        f"| {times['paper'] / times['search']:.1f} | at least 4 |",
        f"| of which batches: one bare pass for each distinct mask / the same in batches of {best} "
        f"| {times['single'] / times['floor']:.1f} | – |",
    ]


def sequential(model: Any, texts: list[str], options: argparse.Namespace) -> list[str]:
    """The exact form beside the path with the paper's 50 nodes, and how far a path is from it."""
    path = f"{SIG}(exact=False)"
    found = {
        spec: assay.explain(model, texts, spec, progress=False)
        for spec in (SIG, path, f"{SIG}(exact=False, steps=100)")
    }
    gaps = [_gap(found[SIG], walked) for walked in list(found.values())[1:]]
    sides = {spec: partial(assay.explain, model, texts, spec, progress=False) for spec in (SIG, path)}
    times = interleaved(sides, options.runs, CLOCKS[options.clock], warm=False)
    return [
        f"| `{path}` / `{SIG}`, {len(texts)} sentences | {times[path] / times[SIG]:.0f} | at least 50 |",
        f"| largest difference of their scores, the paper's 50 nodes | {gaps[0]:.1e} | – |",
        f"| largest difference of their scores, 100 nodes | {gaps[1]:.1e} | at most 1e-4 |",
    ]


def _gap(exact: Any, walked: Any) -> float:
    return max(float(np.abs(a.scores - b.scores).max()) for a, b in zip(exact, walked, strict=True))


@dataclass(frozen=True)
class Played:
    """What a search did: for each text the distinct masks that it asked for."""

    session: Session
    on: Round

    @staticmethod
    def of(model: Any, texts: list[str], spec: str) -> Played:
        session = Session.create(model, named_methods([spec]))
        on = session.open(list(enumerate(map(Example, texts))), [None] * len(texts))
        session.explain(on, Progress("", None, show=False))
        return Played(session, on)

    @property
    def players(self) -> list[int]:
        return [e.players for e in self.on.encodings]

    @property
    def count(self) -> int:
        return sum(len(memo) for memo in self.on.game.memo)

    def batches(self, size: int) -> list[dict[str, Any]]:
        """Ready tensors of every distinct mask; like lengths together."""
        rows = []
        for encoding, memo in zip(self.on.encodings, self.on.game.memo, strict=True):
            packed = np.stack([np.frombuffer(key, np.uint8) for key in memo])
            rows += self.ids(encoding, np.unpackbits(packed, axis=1)[:, : encoding.players].astype(bool))
        rows.sort(key=len)
        chunks = [rows[k : k + size] for k in range(0, len(rows), size)]
        return [dict(self.session.model.tokenizer.pad({"input_ids": chunk}, return_tensors="pt")) for chunk in chunks]

    def ids(self, encoding: Any, keep: Any) -> list[list[int]]:
        kept = np.concatenate([keep, np.ones((len(keep), 1), bool)], 1)[:, encoding.unit_of]
        rows = self.session.removal.rows(self.session.model, encoding, kept)
        return [ids[:length].tolist() for ids, length in zip(rows.ids, rows.lengths, strict=True)]

    def values(self) -> Iterator[tuple[Value, int]]:
        """For each text the probability of its predicted class as a function of one mask, by a bare pass."""
        for encoding in self.on.encodings:

            def probabilities(keep: Any, encoding: Any = encoding) -> Any:
                with self.session.model.frozen(), torch.inference_mode():
                    ids = torch.tensor(self.ids(encoding, keep[None]))
                    return self.session.model.hf(input_ids=ids).logits[0].softmax(-1)

            label = int(probabilities(np.ones(encoding.players, bool)).argmax())
            yield (lambda keep, p=probabilities, label=label: float(p(keep)[label])), encoding.players


def solvex(value: Value, n: int, beam: int) -> tuple[int, ...]:
    """Zhou & Shah's search as they describe it: the best orders of each length, and the effect of each unit alone."""
    every = np.arange(n)
    orders: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(n):
        longer = [(total, (*order, i)) for total, order in orders for i in range(n) if i not in order]
        sets = {frozenset(order) for _, order in longer}
        masks = {s: np.isin(every, list(s)) for s in sets}
        gain = {s: value(mask) - value(~mask) for s, mask in masks.items()}
        orders = sorted(((total + gain[frozenset(order)], order) for total, order in longer), reverse=True)[:beam]
    full = value(every >= 0)
    [full - value(every != i) for i in range(n)]  # for the signs
    return orders[0][1]


def solvex_passes(n: int, beam: int) -> int:
    """How often `solvex` asks; for an additive game, since the number hardly depends on the values."""
    asked = 0

    def additive(keep: Any) -> float:
        nonlocal asked
        asked += 1
        return float(keep @ np.arange(n))

    solvex(additive, n, beam)
    return asked


def _loop(model: Any, batches: list[dict[str, Any]]) -> Callable[[], None]:
    def run() -> None:
        with model.frozen(), torch.inference_mode():
            for batch in batches:
                model.hf(**batch)

    return run


def _taken(run: Callable[[], Any], clock: Callable[[], float]) -> float:
    began = clock()
    run()
    return clock() - began


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of a BERT classifier")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--sig-sentences", type=int, default=4, help="sentences for the path form, which is slow")
    parser.add_argument("--tokens", type=int, nargs=2, default=(5, 9), help="shortest and longest sentence")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--write", help="also write the page to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
