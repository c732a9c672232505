"""Compare rules and numbers of points of integrated gradients with 500 right Riemann points, on one trained model.

    python -m reproductions.roar.integration_points --store ~/.cache/assay-roar/store [--model sst] [--examples 200]

For right Riemann sums (the paper uses 50), Gauss-Legendre and adaptive points it prints Spearman's correlation of the
absolute scores with those of 500 right points, and the shared fraction of the top 10, 30 and 50 % of words, which
determine the masks. Adaptive points cost seven extra forward passes. Zero baseline, gold label, unmasked texts; for the
formula and, with an LSTM, for the weighted variant.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from assay.models.load import load_model
from assay.studies.roar.tasks import RankTask

from .plans import HERE

REFERENCE, SHARES = (500, "right"), (10, 30, 50)
SETTINGS = [
    *((steps, "right") for steps in (10, 20, 50)),
    *((steps, "gauss_legendre") for steps in (4, 6, 8, 10, 12)),
    *((steps, "adaptive") for steps in (8, 12)),
]
FORMULA, WEIGHTED = "integrated_gradients", "weighted_integrated_gradients"
LSTMS = {data: (f"{data.rstrip('12')}.yaml", data) for data in ("sst", "babi1", "babi2", "snli", "imdb")}
MODELS = LSTMS | {f"minilm_{data}": ("minilm.yaml", data) for data in ("sst", "snli", "babi1")}  # plan and data


def first_ranking(store: Store, name: str, seed: int) -> RankTask:
    """The job that ranks the words of unmasked texts."""
    file, data = MODELS[name]
    plan = read_plan(HERE / file, store)
    jobs = [job for cell in plan.cells for job in cell.jobs if isinstance(job.task, RankTask)]
    return next(job.task for job in jobs if (job.tags["data"], job.tags["seed"]) == (data, seed))


def top_overlap(a: np.ndarray, b: np.ndarray, share: int) -> float | None:
    k = len(a) * share // 100
    return None if not k else len(set(np.argsort(-a)[:k]) & set(np.argsort(-b)[:k])) / k


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="store folder of `assay run`")
    parser.add_argument("--model", choices=MODELS, default="sst", help="an LSTM by its data, or a MiniLM")
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    store = Store(options.store.expanduser())
    rank = first_ranking(store, options.model, options.seed)
    model = load_model(store.artifacts.path(rank.model))
    examples = rank.source.test_split().take(options.examples, 0)

    def scores(name: str, steps: int, rule: str) -> list[np.ndarray]:
        method = f"{name}(steps={steps}, baseline=zero, rule={rule})"
        return replace(rank, method=method).ranked(model, examples, None)[1]

    for name in (FORMULA, WEIGHTED) if options.model in LSTMS else (FORMULA,):
        reference = scores(name, *REFERENCE)
        for steps, rule in SETTINGS if name == FORMULA else [s for s in SETTINGS if s[1] != "adaptive"]:
            pairs = list(zip(scores(name, steps, rule), reference, strict=True))
            rho = np.mean([spearmanr(a, b).statistic for a, b in pairs])
            tops = {s: np.mean([v for a, b in pairs if (v := top_overlap(a, b, s)) is not None]) for s in SHARES}
            overlaps = ", ".join(f"{s} %: {v:.3f}" for s, v in tops.items())
            print(f"{name}, {steps} points, {rule}: Spearman {rho:.4f}; shared top {overlaps}")


if __name__ == "__main__":
    main()
