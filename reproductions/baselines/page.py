"""Evaluate every method by the five metrics of the AML paper, beside the paper's BERT / SST-2 rows; writes results.md.

    python -m reproductions.baselines.page --model FOLDER
    python -m reproductions.baselines.page --model FOLDER --sentences 10 --output few.md

Each method is evaluated on its own, so rerunning the command resumes, and a new method costs only its own time. Beam
search is by far the slowest, with about beam x n^2 forward passes per sentence. All methods get the same sentences, so
differences are paired.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.core.errors import UnsupportedError
from assay.explainers import METHODS
from assay.faithfulness import FAITHFULNESS
from assay.statistics.bootstrap import intervals
from assay.statistics.verdict import Comparison, compare

HERE = Path(__file__).parent
DATA = HERE.parent / "data" / "sst2_sentences" / "dev.jsonl.gz"
METRICS = ("sufficiency", "log_odds", "comprehensiveness", "sufficiency(aopc=True)", "comprehensiveness(aopc=True)")

# Table 1 of the paper, BERT on SST-2: our name of the method, the paper's, and its five numbers in the order of METRICS
PAPER: dict[str, tuple[str, tuple[float, ...]]] = {
    "sequential_integrated_gradients": ("SIG", (0.083, -1.133, 0.378, 0.063, 0.208)),
    "alti": ("ALTI", (0.093, -0.816, 0.320, 0.064, 0.175)),
    "decompx": ("DCMP", (0.037, -1.450, 0.467, 0.030, 0.253)),
    "beam_search": ("SLVX", (0.125, -1.831, 0.517, 0.098, 0.282)),
    "deep_lift": ("LIFT", (0.289, -0.314, 0.118, 0.168, 0.071)),
    "globenc": ("GLOB", (0.233, -0.388, 0.153, 0.140, 0.104)),
    "gradient_shap": ("SHAP", (0.250, -0.534, 0.191, 0.145, 0.111)),
    "gradient_x_input": ("GXI", (0.237, -0.401, 0.153, 0.140, 0.094)),
    "integrated_gradients": ("IG", (0.110, -0.936, 0.334, 0.075, 0.187)),
    "lime": ("LIME", (0.134, -0.713, 0.273, 0.093, 0.149)),
}
# Methods not run with their defaults: a beam of 10 takes an hour on two cores for 100 sentences
SPECS = {
    "beam_search": "beam_search(beam=3)",
    "kernel_shap": "kernel_shap(samples=256)",
    "lime": "lime(samples=256)",
    "thesis_all": "ensemble(thesis_all, samples=256)",
    "thesis_top3": "ensemble(thesis_top3, samples=256)",
}
SHARED_PASSES = ("kernel_shap", "lime", "integrated_gradients", "thesis_all", "thesis_top3")  # evaluated together
PRESETS = ("thesis_all", "thesis_top3")  # of the ensemble
Values = Mapping[str, Mapping[str, Any]]  # metric -> method -> (N,)


def main() -> None:
    options = _options()
    values, unsupported = measure(options)
    text = page(values, unsupported, options.sentences)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(text)


def measure(options: argparse.Namespace) -> tuple[Values, dict[str, str]]:
    """The values of all methods on the same sentences, and why some methods do not support the model."""
    model, values, unsupported = assay.load_model(options.model), {metric: {} for metric in METRICS}, {}
    for group in _groups(options.methods or [*(name for name in METHODS.names if name != "ensemble"), *PRESETS]):
        specs = {method: SPECS.get(method, method) for method in group}
        settings = {"protocol": "aml", "limit": options.sentences, "store": options.store}
        try:
            evaluation = assay.evaluate(model, str(options.data), list(specs.values()), METRICS, **settings).evaluation
        except UnsupportedError as error:
            unsupported |= dict.fromkeys(group, str(error))
            continue
        for metric, columns in zip(METRICS, evaluation.values.values(), strict=True):
            values[metric] |= {method: columns[spec] for method, spec in specs.items()}
        print(f"{', '.join(group)}: {sum(evaluation.seconds[s].sum() for s in specs.values()):.0f} s", flush=True)
    return values, unsupported


def _groups(methods: Sequence[str]) -> list[list[str]]:
    together = [name for name in methods if name in SHARED_PASSES]
    return [group for group in (together, *([name] for name in methods if name not in SHARED_PASSES)) if group]


def page(values: Values, unsupported: Mapping[str, str], sentences: int) -> str:
    control = "random" if "random" in values[METRICS[0]] else None
    comparisons = {m: compare(values[m], FAITHFULNESS.make(m).facts.better, control=control) for m in METRICS}
    specs = ", ".join(SPECS.values())
    head = f"""# The AML paper's five metrics for every method: results

A fine-tuned MiniLM classifier (6 layers x 384) on {sentences} SST dev sentences, with the paper's protocol (`aml`: one
fifth of the tokens deleted; log odds with the mask token). All methods have their defaults, except {specs}.
[README.md](README.md) has the command, the data and the model.

95 % bootstrap intervals; **bold** = not significantly different from the best; * = not significantly better than
random. Rows in brackets are from the paper: BERT base on all test sentences of SST-2. Model and sentences differ, so
compare orders and not numbers.
"""
    lines = [head, *table(comparisons), "", "## Agreement with the order in the paper", "", *agreement(values), ""]
    if unsupported:
        lines += ["## Not supported", "", *(f"- {method}: {why}" for method, why in unsupported.items()), ""]
    return "\n".join(lines)


def table(comparisons: Mapping[str, Comparison]) -> list[str]:
    """A row per method, best comprehensiveness first, each followed by the paper's row."""
    arrows = {metric: "↑" if c.better == "higher" else "↓" for metric, c in comparisons.items()}
    lines = [f"| method | {' | '.join(f'{m} {arrows[m]}' for m in METRICS)} |", f"|---|{'---|' * len(METRICS)}"]
    for name in [s.method for s in comparisons["comprehensiveness"].standings]:
        lines.append(f"| {name} | {' | '.join(_cell(comparisons[m][name]) for m in METRICS)} |")
        if name in PAPER:
            short, numbers = PAPER[name]
            lines.append(f"| [{short} in the paper] | {' | '.join(f'[{x:.3f}]' for x in numbers)} |")
    return lines


def _cell(standing: Any) -> str:
    number = f"{standing.value:.3f}"
    shown = f"**{number}**" if standing.best_group else number
    star = "*" if standing.beats_random is False else ""
    return f"{shown}{star} [{standing.low:.3f}, {standing.high:.3f}]"


def agreement(values: Values) -> list[str]:
    """Per metric, the pairs of methods in the paper: same order, no significant difference, or reversed."""
    lines = []
    for k, metric in enumerate(METRICS):
        sign = 1 if FAITHFULNESS.make(metric).facts.better == "higher" else -1
        same, undecided, reversed_pairs = sort_pairs(values[metric], {m: row[k] for m, (_, row) in PAPER.items()}, sign)
        total = len(same) + len(undecided) + len(reversed_pairs)
        names = ", ".join(f"{a} over {b}" for a, b in reversed_pairs) or "none"
        lines.append(
            f"- **{metric}**: of {total} pairs of methods {len(same)} have the same order as in the paper, "
            f"{len(undecided)} do not differ significantly here, {len(reversed_pairs)} are reversed (here {names})."
        )
    return lines


def sort_pairs(
    ours: Mapping[str, Any], paper: Mapping[str, float], sign: int
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs (better, worse) by whether the 95 % interval of their paired difference agrees with the paper's order.

    Not corrected for multiple comparisons, because no method is declared best.
    """
    same, undecided, reversed_pairs = [], [], []
    pairs = [(a, b) for a, b in combinations([m for m in ours if m in paper], 2) if paper[a] != paper[b]]
    gaps = np.array([sign * (ours[a] - ours[b]) for a, b in pairs])
    for (a, b), interval in zip(pairs, intervals(gaps) if pairs else (), strict=True):
        if interval.low <= 0 <= interval.high:
            undecided.append((a, b))
        else:
            here = (a, b) if interval.low > 0 else (b, a)
            agrees = (interval.low > 0) == (sign * (paper[a] - paper[b]) > 0)
            (same if agrees else reversed_pairs).append(here)
    return same, undecided, reversed_pairs


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a sentiment classifier (see README.md)")
    parser.add_argument("--data", type=Path, default=DATA, help="SST sentences (default: reproductions/data)")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--methods", nargs="*", help="methods to evaluate (default: all)")
    parser.add_argument("--store", type=Path, default=Path("~/.cache/assay-baselines"), help="store folder")
    parser.add_argument("--output", type=Path, default=HERE / "results.md")
    options = parser.parse_args()
    if not options.data.exists():
        parser.error(f"{options.data} does not exist; name the SST sentences with --data or run reproductions/link.sh")
    options.model, options.store = options.model.expanduser(), options.store.expanduser()
    return options


if __name__ == "__main__":
    main()
