"""Two one-thread processes of `assay run` against one, on a slice of the SST plan of reproductions/roar.

    python benchmarks/roar_workers.py [--limit 1500]

Two seeds of Recursive ROAR with input x gradient at 50 %, once one after the other and once side by side, in an empty
store each. Goal: at most 0.65 of the time. Run it on a machine that does nothing else. Starting Python and reading is
counted, as it is in a real run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

PLAN = Path(__file__).parents[1] / "reproductions" / "roar" / "sst.yaml"
SEEDS = (0, 1)


def slice_of(limit: int, folder: Path) -> Path:
    """The plan with fewer examples, one measure and one step."""
    content = yaml.safe_load(PLAN.read_text().replace("on: sst", '"on": sst'))  # YAML 1.1 takes `on` for true
    content["models"]["bilstm"] |= {"seeds": list(SEEDS), "limit": limit}
    study = {"kind": "roar", "data": "trained_on", "step": 50, "methods": ["input_x_gradient"], "test_limit": 500}
    content["studies"] = {"recursive": study}
    path = folder / "slice.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def begin(plan: Path, store: Path, seed: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "assay", "run", plan, "--store", store, "--threads", "1", "--only", f"seed={seed}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(word) for word in words], env={**os.environ, "OMP_NUM_THREADS": "1"}, **quiet)


def ended(processes: list[subprocess.Popen[bytes]]) -> None:
    if any(process.wait() for process in processes):
        raise SystemExit("a worker failed; run its command by hand to see why")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=1500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = slice_of(given.limit, folder)
        start = time.monotonic()
        for seed in SEEDS:
            ended([begin(plan, folder / "one", seed)])
        one = time.monotonic() - start
        ended([begin(plan, folder / "two", seed) for seed in SEEDS])
        two = time.monotonic() - start - one
    print(f"one worker {one:.1f} s, two workers {two:.1f} s, ratio {two / one:.2f} (goal 0.65)")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
