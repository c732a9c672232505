"""How often the intervals hold the true mean, how often the tests cry wolf, and what they find: by simulation.

OMP_NUM_THREADS=1 python benchmarks/coverage.py [--repetitions 4000] [--write docs/statistics.md]

Exits with 1 if an interval at n = 100 or 200 covers less than 93 % or more than 97 % where it must not, or if "beats
random" is claimed significantly more often than in 5 % of the comparisons of random with random.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, t

from assay.core.rng import generator
from assay.statistics.bootstrap import intervals
from assay.statistics.power import detectable
from assay.statistics.verdict import Comparison, compare

Draw = Callable[[np.random.Generator, Any], np.ndarray]  # the second argument: a shape, or n
SIZES = (5, 10, 20, 30, 50, 100, 200, 500)
DATA: dict[str, tuple[Draw, float]] = {  # how to draw, and the true mean
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "beta(.3, 1)": (lambda rng, shape: rng.beta(0.3, 1, shape), 0.3 / 1.3),
    "Bernoulli .3": (lambda rng, shape: (rng.random(shape) < 0.3) * 1.0, 0.3),
    "Bernoulli .05": (lambda rng, shape: (rng.random(shape) < 0.05) * 1.0, 0.05),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0),
    "lognormal(0, 1)": (lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5))),
}
MUST = ("normal", "beta(.3, 1)", "Bernoulli .3")  # 93 to 97 % at n = 100 and 200
TOGETHER = 100  # repetitions that share one set of resamples: each still has its own data
MARKED = re.compile(r"(<!-- tables:begin -->\n)(.*?)(<!-- tables:end -->)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=4_000, help="of each coverage cell; the tests take 2,000")
    parser.add_argument("--write", type=Path, help="put the tables between the marks of this page")
    options = parser.parse_args()
    start = time.process_time()
    failures: list[str] = []
    tables = [coverage_table(options.repetitions, failures), error_table(2000, failures), power_table(2000)]
    command = " ".join(["OMP_NUM_THREADS=1 python benchmarks/coverage.py", *sys.argv[1:]])
    page = "\n\n".join([f"Printed by `{command}` ({time.process_time() - start:.0f} s of one core).", *tables]) + "\n"
    print(page)
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        options.write.write_text(MARKED.sub(lambda m: f"{m[1]}\n{page}\n{m[3]}", text), encoding="utf-8")
    sys.exit("\n".join(failures) or 0)


def coverage_table(repetitions: int, failures: list[str]) -> str:
    rows = []
    for name in DATA:
        for n in SIZES:
            found = coverage(name, n, repetitions)
            rows.append([name, str(n), *(f"{100 * share:.1f}" for share in found.values())])
            for kind in ("bca", "percentile"):
                if name in MUST and n in (100, 200) and not 0.93 <= found[kind] <= 0.97:
                    failures.append(f"{kind} covers {found[kind]:.3f} of {name}, n = {n}")
            print(rows[-1], file=sys.stderr)
    half = 196 * np.sqrt(0.05 * 0.95 / repetitions)
    title = f"### Coverage of the 95 % interval of the mean, in % ({repetitions:,} repetitions, ± {half:.1f})"
    return title + "\n\n" + markdown(["data", "n", "BCa (default)", "percentile", "Student's t, for reference"], rows)


def coverage(name: str, n: int, repetitions: int) -> dict[str, float]:
    """The share of intervals that hold the true mean."""
    draw, mean = DATA[name]
    hits: dict[str, list[bool]] = {"bca": [], "percentile": [], "t": []}
    for batch in range(repetitions // TOGETHER):
        rows = draw(generator("coverage", name, n, batch), (TOGETHER, n))
        for kind in ("bca", "percentile"):
            hits[kind] += [i.low <= mean <= i.high for i in intervals(rows, kind=kind, seed=batch)]  # type: ignore[arg-type]
        half = t.ppf(0.975, n - 1) * rows.std(1, ddof=1) / np.sqrt(n)
        hits["t"] += (np.abs(rows.mean(1) - mean) <= half).tolist()
    return {kind: float(np.mean(hit)) for kind, hit in hits.items()}


def error_table(repetitions: int, failures: list[str]) -> str:
    """False claims among methods whose means are equal: random ones, and one whose differences are skewed."""
    head = ["n", "one method beats random", "any of 5 beats random", "any of 8 outside the best group", "(skewed)"]
    rows = []
    for n in (10, 20, 30, 50, 100, 200):
        counts = [
            sum(beats(compared(alike(1), n, r)) for r in range(repetitions)),
            sum(beats(compared(alike(5), n, r)) for r in range(repetitions)),
            sum(outside(compared(alike(7), n, r, control=None)) for r in range(repetitions)),
            sum(beats(compared(skewed, n, r)) for r in range(repetitions)),
        ]
        rows.append([str(n), *(percent(count, repetitions) for count in counts)])
        for count, what in zip(counts[:3], head[1:], strict=False):
            if binomtest(count, repetitions, 0.05, alternative="greater").pvalue < 0.01:
                failures.append(f"{what}: {count} of {repetitions} at n = {n}")
        print(rows[-1], file=sys.stderr)
    title = f"### False claims among methods of equal mean, in % ({repetitions:,} repetitions; goal: at most 5)"
    return title + "\n\n" + markdown(head, rows)


def alike(methods: int) -> Draw:
    """Random attributions: every method draws its values of beta(.3, 1) by itself; the last is the control."""
    return lambda rng, n: rng.beta(0.3, 1, (methods + 1, n))


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """A method as good as the control on average, a little better on most examples and far worse on a few."""
    return np.stack([1 - rng.exponential(size=n), np.zeros(n)])


def compared(draw: Draw, n: int, repetition: int, control: str | None = "random") -> Comparison:
    rows = draw(generator("equal means", n, repetition), n)
    names = [*(f"method {i}" for i in range(len(rows) - 1)), "random"]
    values = dict(zip(names, rows, strict=True))
    return compare(values, "higher", control=control, seed=repetition, resamples=1)  # intervals are not looked at


def beats(found: Comparison) -> bool:
    return any(s.beats_random for s in found.standings)


def outside(found: Comparison) -> bool:
    return not all(s.best_group for s in found.standings)


def power_table(repetitions: int) -> str:
    """Two methods whose true difference is the one that the power note calls detectable: 80 % must be found."""
    rows = []
    for n in (10, 20, 30, 50, 100, 200):
        least, found = detectable(1.0, n), 0
        for repetition in range(repetitions):
            d = generator("power", n, repetition).normal(least, 1.0, n)
            found += not compare({"a": d, "b": 0 * d}, "higher", seed=repetition, resamples=1)["b"].best_group
        rows.append([str(n), f"{least:.2f}", percent(found, repetitions)])
        print(rows[-1], file=sys.stderr)
    title = f"### What is found of a difference as large as the power note says ({repetitions:,} repetitions)"
    head = ["n", "detectable difference (in sd of the differences)", "found, in % (goal 80)"]
    return title + "\n\n" + markdown(head, rows)


def percent(count: int, repetitions: int) -> str:
    return f"{100 * count / repetitions:.1f}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
