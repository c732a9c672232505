"""Peak memory of explaining 1,000 and 5,000 sentences, each in a process of its own. Goal: within 5 %.

python benchmarks/memory.py [--method "occlusion"]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import assay
from assay.datasets.builtin import builtin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="occlusion")
    parser.add_argument("--count", type=int, help="explain this many and print the peak in MB (used by itself)")
    options = parser.parse_args()
    if options.count:
        print(peak(options.method, options.count))
        return
    command = [sys.executable, __file__, "--method", options.method, "--count"]
    small, large = (float(subprocess.check_output([*command, str(n)])) for n in (1000, 5000))
    print(f"`{options.method}`: peak memory of 5,000 sentences is {large / small:.3f} x that of 1,000 (goal 1.05)")


def peak(method: str, count: int) -> float:
    sentences = [example.text or "" for example in builtin()]
    texts = [f"{sentences[i % len(sentences)]} {i}" for i in range(count)]
    found = assay.explain(assay.load_model("builtin"), texts, method)
    assert len(found) == count
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
