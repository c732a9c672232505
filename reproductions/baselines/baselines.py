"""The five metrics of the AML paper for every method, beside the paper's BERT / SST-2 rows: docs/results/baselines.md.

    python papers/baselines/baselines.py --store runs/baselines                # 100 sentences, resumes
    python papers/baselines/baselines.py --sentences 10 --write few.md     # a look

Every method is an evaluation with slices of its own in the store: a run that was stopped goes on, and a method that is
added later costs only itself. The search is by far the slowest, about beam x n^2 forward passes per sentence.
All methods see the same sentences, so they are compared pair by pair.
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
from assay.studies.evaluate.result import evaluate

DATA = Path("../shared/data/sst2_sentences/dev.jsonl.gz")
MODEL = Path("~/.cache/assay-teacher/minilm-sst2").expanduser()
METRICS = ("sufficiency", "log_odds", "comprehensiveness", "aopc_sufficiency", "aopc_comprehensiveness")

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
# What is not run with its defaults: a beam of 10 takes an hour of two cores on 100 sentences
SPECS = {
    "beam_search": "beam_search(beam=3)",
    "kernel_shap": "kernel_shap(samples=256)",
    "lime": "lime(samples=256)",
    "thesis_all": "thesis_all(samples=256)",
    "thesis_top3": "thesis_top3(samples=256)",
}
TOGETHER = ("kernel_shap", "lime", "integrated_gradients", "thesis_all", "thesis_top3")  # they share their passes
TWICE = ("ensemble",)  # by default thesis_top3
Values = Mapping[str, Mapping[str, Any]]  # metric -> method -> (N,)


def main() -> None:
    options = _options()
    values, refused = measured(options)
    text = page(values, refused, options.sentences)
    Path(options.write).parent.mkdir(parents=True, exist_ok=True)
    Path(options.write).write_text(text, encoding="utf-8")
    print(text)


def measured(options: argparse.Namespace) -> tuple[Values, dict[str, str]]:
    """The values of all methods on the same sentences, and the methods that refuse the model, with their reason."""
    model, values, refused = assay.load_model(options.model), {metric: {} for metric in METRICS}, {}
    for group in _groups(options.methods or [name for name in METHODS.names if name not in TWICE]):
        specs = {method: SPECS.get(method, method) for method in group}
        settings = {"protocol": "aml", "limit": options.sentences, "store": options.store}
        try:
            found = evaluate(model, str(options.data), list(specs.values()), METRICS, **settings).evaluation
        except UnsupportedError as error:
            refused |= dict.fromkeys(group, str(error))
            continue
        for metric, columns in zip(METRICS, found.values.values(), strict=True):
            values[metric] |= {method: columns[spec] for method, spec in specs.items()}
        print(f"{', '.join(group)}: {sum(found.seconds[s].sum() for s in specs.values()):.0f} s", flush=True)
    return values, refused


def _groups(methods: Sequence[str]) -> list[list[str]]:
    together = [name for name in methods if name in TOGETHER]
    return [group for group in (together, *([name] for name in methods if name not in TOGETHER)) if group]


def page(values: Values, refused: Mapping[str, str], sentences: int) -> str:
    control = "random" if "random" in values[METRICS[0]] else None
    comparisons = {m: compare(values[m], FAITHFULNESS.get(m).better, control=control) for m in METRICS}
    others = ", ".join(SPECS.values())
    head = f"""# The AML paper's five metrics for every method

Made by `python papers/baselines/baselines.py`: a fine-tuned MiniLM classifier (6 layers x 384) on {sentences} SST
dev sentences, protocol `aml` (the paper's: one fifth of the tokens, deleted; log odds by the mask token), every method
with its defaults but {others}.
95 % bootstrap intervals; **bold** = not told apart from the best; * = does not beat random.
Rows in brackets are the paper's: BERT base on all of SST-2's test sentences. Another model and other sentences, so
compare orders, not numbers.
"""
    lines = [head, *table(comparisons), "", "## Where the order agrees with the paper's", "", *agreement(values), ""]
    if refused:
        lines += ["## Refused", "", *(f"- {method}: {why}" for method, why in refused.items()), ""]
    return "\n".join(lines)


def table(comparisons: Mapping[str, Comparison]) -> list[str]:
    """A row per method, best comprehensiveness first, with the paper's row below it."""
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
    """Every two methods that both have: same order, not told apart here, or the other way round."""
    lines = []
    for k, metric in enumerate(METRICS):
        sign = 1 if FAITHFULNESS.get(metric).better == "higher" else -1
        same, open_, other = sort_pairs(values[metric], {m: row[k] for m, (_, row) in PAPER.items()}, sign)
        total = len(same) + len(open_) + len(other)
        reversed_ = ", ".join(f"{a} over {b}" for a, b in other) or "none"
        lines.append(
            f"- **{metric}**: of {total} pairs of methods {len(same)} stand as in the paper, {len(open_)} cannot be "
            f"told apart here, {len(other)} stand the other way round (here {reversed_})."
        )
    return lines


def sort_pairs(
    ours: Mapping[str, Any], paper: Mapping[str, float], sign: int
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs (better, worse) by whether the 95 % interval of their paired difference agrees with the paper's order.

    Without a correction for many pairs: this describes an agreement, it claims no winner.
    """
    same, open_, other = [], [], []
    pairs = [(a, b) for a, b in combinations([m for m in ours if m in paper], 2) if paper[a] != paper[b]]
    gaps = np.array([sign * (ours[a] - ours[b]) for a, b in pairs])
    for (a, b), interval in zip(pairs, intervals(gaps) if pairs else (), strict=True):
        if interval.low <= 0 <= interval.high:
            open_.append((a, b))
        else:
            here = (a, b) if interval.low > 0 else (b, a)
            as_there = (interval.low > 0) == (sign * (paper[a] - paper[b]) > 0)
            (same if as_there else other).append(here)
    return same, open_, other


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of a sentiment classifier")
    parser.add_argument("--data", type=Path, default=DATA, help="sentences, one JSON object per line")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--methods", nargs="*", help="some of the methods; all without it")
    parser.add_argument("--store", type=Path, default=Path("runs/baselines"), help="folder of finished slices")
    parser.add_argument("--write", default="docs/results/baselines.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
