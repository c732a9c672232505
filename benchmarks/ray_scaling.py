"""How two Ray workers of one thread compare with one: `python benchmarks/ray_scaling.py [--jobs 30]`.

The plan is cut into equal jobs on the built-in model, at least two minutes of them for one worker. Start-up of Ray and
of the workers (imports) is not counted: time runs from the start of the first job to the end of the last, as the
records' provenance has them. The rows of both runs and of the local engine are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from assay.experiments.runner import run

PLAN = """
name: ray scaling
data:
{data}
models: [builtin]
studies:
  evaluate:
    data: [{names}]
    methods: [lime(samples={samples}), kernel_shap(samples={samples}), integrated_gradients, occlusion]
    metrics: [sufficiency, comprehensiveness, comprehensiveness(aopc=True), deletion]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=30)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--examples", type=int, default=20, help="per job")
    parser.add_argument("--local", action="store_true", help="run the local engine too and compare its rows")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(_plan(options))
        one = _timed(plan, Path(folder) / "one", 1)
        two = _timed(plan, Path(folder) / "two", 2)
        same = _rows(Path(folder) / "one") == _rows(Path(folder) / "two")
        if options.local:
            run(plan, store=Path(folder) / "local", threads=1, progress=False)
            same = same and _rows(Path(folder) / "local") == _rows(Path(folder) / "one")
    print(f"one worker {one:.1f} s, two workers {two:.1f} s, ratio {two / one:.3f}; rows equal: {same}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; the limit is 0.65")


def _plan(options: argparse.Namespace) -> str:
    """Every job has other examples: the random subsets of different seeds."""
    names = [f"part{i}" for i in range(options.jobs)]
    data = [f"  {n}: {{source: builtin, limit: {options.examples}, seed: {i}}}" for i, n in enumerate(names)]
    return PLAN.format(data="\n".join(data), names=", ".join(names), samples=options.samples)


def _timed(plan: Path, store: Path, workers: int) -> float:
    found = run(plan, store=store, engine="ray", workers=workers, threads=1, progress=False)
    assert found.ok, found.reasons
    spans = [_provenance(path) for path in store.glob("??/*.json")]
    return max(s["created"] for s in spans) - min(s["created"] - s["took"] for s in spans)


def _provenance(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["provenance"]
    return found


def _rows(store: Path) -> dict[str, Any]:
    return {path.name: json.loads(path.read_text())["rows"] for path in store.glob("??/*.json")}


if __name__ == "__main__":
    main()
