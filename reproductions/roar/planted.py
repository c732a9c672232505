"""Planted redundancy and a planted leak: what ROAR misses, and what the leak warning catches.

    python -m reproductions.roar.planted --folder /tmp/planted [--seeds 2]

Long texts of meaningless words contain the cue of their label three times. Redundancy: when the predicted class is
explained, ROAR ranks words once and leaves cues that replace the masked ones; Recursive ROAR finds one after the other.
Leak: when the gold label is explained, a retrained model that knows nothing still ranks words by the gold label, so the
next mask reveals it and the curve rises. Prints the output of `assay roar`, then both curves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

SIZES = {"train": 600, "dev": 200, "test": 300}
WORDS, VOCABULARY = range(30, 50), 200
RECIPE = (
    "recipe(epochs=12, batch_size=32, learning_rate=0.01, optimiser=adam, schedule=constant, warmup=0, clip=None, "
    "selection=accuracy, patience=5)"
)


def write(folder: Path) -> None:
    """Texts of meaningless words with frequencies proportional to 1 / rank, as in natural language."""
    rng = np.random.default_rng(0)
    names, weights = [f"w{i}" for i in range(VOCABULARY)], 1 / np.arange(1, VOCABULARY + 1)
    folder.mkdir(parents=True, exist_ok=True)
    for split, n in SIZES.items():
        texts = [" ".join(rng.choice(names, rng.choice(WORDS), p=weights / weights.sum())) for _ in range(n)]
        rows = [{"id": f"{split}{i}", "text": text, "label": "ab"[i % 2]} for i, text in enumerate(texts)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def roar(folder: Path, target: str, seeds: int) -> list[dict]:
    """Run `assay roar` with both forms and return its JSON output."""
    out = folder / f"{target}.json"
    options = {
        "--data": f"repeated('{folder / 'filler'}', times=3)",
        "--base": "bilstm_attention(hidden=12, width=16, cut=spaces)",
        "--methods": "input_x_gradient",
        "--forms": "recursive,roar",
        "--seeds": str(seeds),
        "--step": "20",
        "--score": "accuracy",
        "--target": target,
        "--recipe": RECIPE,
        "--store": str(folder / "store"),
        "--threads": "1",
        "--report": str(folder / f"{target}.html"),
        "--json": str(out),
    }
    pairs = [word for pair in options.items() for word in pair]
    subprocess.run([sys.executable, "-m", "assay", "roar", *pairs], check=True)
    results: list[dict] = json.loads(out.read_text())
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    write(options.folder / "filler")
    for target in ("predicted", "gold"):
        for study in roar(options.folder, target, options.seeds):
            result = study["methods"]["input_x_gradient"]
            curve = " ".join(f"{value:.2f}" for value in result["curve"])
            leak = "leak" if result["leak"] else "no leak"
            print(
                f"{target} {study['study']}: {curve}; area {100 * result['value']:.1f} %; {result['verdict']}; {leak}"
            )


if __name__ == "__main__":
    main()
