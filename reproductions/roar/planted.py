"""A planted redundancy and a planted leak, through `assay roar`: ROAR is blind to one, a warning sees the other.

    python papers/roar/planted.py --folder /tmp/planted [--seeds 2]

Long texts of meaningless words hold the cue of their label three times. Redundancy: with the predicted class explained,
ROAR ranks words once and leaves cues that stand in for the masked ones; Recursive ROAR finds them one after the other.
Leak: with the gold label explained, a retrained model that knows nothing still ranks words by the label that it is
asked about, so that the next mask tells it, and the curve rises. Prints what `assay roar` prints, then both curves.
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
    """Texts whose words say nothing: drawn as rank^-1, like those of a language."""
    rng = np.random.default_rng(0)
    names, weights = [f"w{i}" for i in range(VOCABULARY)], 1 / np.arange(1, VOCABULARY + 1)
    folder.mkdir(parents=True, exist_ok=True)
    for split, n in SIZES.items():
        texts = [" ".join(rng.choice(names, rng.choice(WORDS), p=weights / weights.sum())) for _ in range(n)]
        rows = [{"id": f"{split}{i}", "text": text, "label": "ab"[i % 2]} for i, text in enumerate(texts)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def roar(folder: Path, target: str, seeds: int) -> list[dict]:
    """`assay roar` with both forms; what it wrote as JSON."""
    out = folder / f"{target}.json"
    options = {
        "--data": f"repeated('{folder / 'filler'}', times=3)",
        "--model-family": "bilstm_attention(hidden=12, width=16, cut=spaces)",
        "--methods": "input_x_gradient",
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
    subprocess.run([sys.executable, "-m", "assay", "roar", "--both", *pairs], check=True)
    found: list[dict] = json.loads(out.read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    write(given.folder / "filler")
    for target in ("predicted", "gold"):
        for part in roar(given.folder, target, given.seeds):
            found = part["methods"]["input_x_gradient"]
            curve = " ".join(f"{value:.2f}" for value in found["curve"])
            leak = "leak" if found["leak"] else "no leak"
            print(f"{target} {part['study']}: {curve}; area {100 * found['value']:.1f} %; {found['verdict']}; {leak}")


if __name__ == "__main__":
    main()
