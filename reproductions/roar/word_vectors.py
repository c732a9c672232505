"""Which word vectors the BiLSTM should start from: macro-F1 on the validation split, from the store of embeddings.yaml.

assay run papers/roar/embeddings.yaml --store ~/.cache/assay-roar/store --threads 1
python papers/roar/vectors.py --store ~/.cache/assay-roar/store
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from files import HERE, planned

from assay.experiments.store import Store

PLAN = HERE / "embeddings.yaml"
NAMES = {"granite": "granite-embedding-30m", "smollm2": "SmolLM2-135M", "gte": "gte-small", "minilm": "MiniLM"}


def vectors(store: Store, plan: Path = PLAN) -> list[tuple[str, float, list[float]]]:
    """(source, mean, each seed), best first; the test split is not looked at."""
    found: dict[str, list[float]] = defaultdict(list)
    for job in planned(plan, store).trainings:
        record = store.get(job.key)
        if record is not None:
            found[NAMES.get(job.at["grid"], job.at["grid"])].append(record.rows["validation"]["macro_f1"])
    rows = [(source, sum(scores) / len(scores), scores) for source, scores in found.items()]
    return sorted(rows, key=lambda row: -row[1])


def lines(store: Store, plan: Path = PLAN) -> list[str]:
    """A Markdown table; nothing trained yet: no rows."""
    out = ["| word vectors of | validation macro-F1 | seeds |", "|---|---|---|"]
    for source, mean, scores in vectors(store, plan):
        out.append(f"| {source} | {100 * mean:.1f} | {', '.join(f'{100 * score:.1f}' for score in scores)} |")
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="folder that `assay run --store` wrote")
    print("\n".join(lines(Store(parser.parse_args().store.expanduser()))))
