"""Speed of this checkout against another one, e.g. `git worktree add ../old COMMIT`. Prints ratios of processor times.

    python benchmarks/versions.py ../old
    python benchmarks/versions.py ../old --only lime --runs 40 --model FOLDER --sentences 8

One process per checkout and start; they take turns, so a slow moment of the machine hits both. A ratio compares the
least processor times of one start; the table shows the median over the starts and how far they lie apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]

WORKER = """
import json, sys, time, warnings
import torch
torch.set_num_threads(1)
warnings.simplefilter("ignore")
import assay
import speed
name, sentences = sys.argv[1:]
model, texts, _ = speed.setting(speed.Path(name))
if speed.Path(name).is_dir():
    model = assay.load_model(name)
for line in sys.stdin:
    spec = json.loads(line)
    began = time.process_time()
    assay.explain(model, texts[:int(sentences)], spec)
    print("time", time.process_time() - began, flush=True)
"""


class Checkout:
    """A process that explains with the code of one checkout, one method at a time."""

    def __init__(self, root: Path, options: argparse.Namespace) -> None:
        paths = os.pathsep.join(str(path) for path in (root / "src", root / "benchmarks"))
        command = [sys.executable, "-c", WORKER, options.model, str(options.sentences)]
        environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
        self.process: Any = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=HERE
        )

    def seconds(self, spec: str) -> float:
        """Processor time of one `explain`."""
        self.process.stdin.write(json.dumps(spec) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("time "):
                return float(line.split()[1])
        raise SystemExit(f"the process of a checkout ended at {spec}")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    options = _options()
    from speed import METHODS

    specs = [METHODS[name][0] for name in METHODS if not options.only or name in options.only]
    ratios: dict[str, list[float]] = {spec: [] for spec in specs}
    least: dict[str, float] = dict.fromkeys(specs, float("inf"))
    for start in range(options.starts):
        for spec, (old, new) in _one_start(specs, options, swap=bool(start % 2)).items():
            ratios[spec].append(new / old)
            least[spec] = min(least[spec], new)
    print("| method | new / old | of single starts | new, ms per sentence |")
    print("|---|---|---|---|")
    for spec, values in ratios.items():
        single = f"{min(values):.3f}-{max(values):.3f}"
        print(
            f"| `{spec}` | {statistics.median(values):.3f} | {single} | {1000 * least[spec] / options.sentences:.1f} |"
        )


def _one_start(specs: list[str], options: argparse.Namespace, *, swap: bool) -> dict[str, tuple[float, float]]:
    """The least processor time of each method in the old and the new checkout."""
    sides = {"old": Checkout(options.other, options), "new": Checkout(HERE, options)}
    order = ["new", "old"] if swap else ["old", "new"]
    found = {}
    for spec in specs:
        times: dict[str, list[float]] = {"old": [], "new": []}
        for _ in range(options.runs + 1):  # the first warms up; the least time drops it
            for side in order:
                times[side].append(sides[side].seconds(spec))
        found[spec] = (min(times["old"]), min(times["new"]))
    for side in sides.values():
        side.close()
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the other checkout, whose times are the denominator")
    parser.add_argument("--model", default="builtin", help="folder of a classifier, or builtin")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--runs", type=int, default=20, help="calls of each method and checkout in one start")
    parser.add_argument("--starts", type=int, default=3, help="processes of each checkout, one after another")
    parser.add_argument("--only", nargs="*", help="some of the methods")
    return parser.parse_args()


if __name__ == "__main__":
    main()
