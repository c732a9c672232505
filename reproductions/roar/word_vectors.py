"""Compare word vectors for the BiLSTM: macro-F1 on the validation split, from the store of embeddings.yaml.

assay run reproductions/roar/embeddings.yaml --store ~/.cache/assay-roar/store --threads 1
python -m reproductions.roar.word_vectors --store ~/.cache/assay-roar/store
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from assay.experiments.store import Store

from .plans import HERE, load_plan

PLAN = HERE / "embeddings.yaml"
NAMES = {"granite": "granite-embedding-30m", "smollm2": "SmolLM2-135M", "gte": "gte-small", "minilm": "MiniLM"}


def validation_scores(store: Store, plan: Path = PLAN) -> list[tuple[str, float, list[float]]]:
    """(source, mean, score per seed), best first. The test split is not used."""
    scores: dict[str, list[float]] = defaultdict(list)
    for job in load_plan(plan, store).trainings:
        record = store.get(job.key)
        if record is not None:
            scores[NAMES.get(job.tags["grid"], job.tags["grid"])].append(record.rows["validation"]["macro_f1"])
    rows = [(source, sum(values) / len(values), values) for source, values in scores.items()]
    return sorted(rows, key=lambda row: -row[1])


def word_vector_table(store: Store, plan: Path = PLAN) -> list[str]:
    """The lines of a Markdown table, without rows if nothing has been trained yet."""
    lines = ["| word vectors of | validation macro-F1 | seeds |", "|---|---|---|"]
    for source, mean, values in validation_scores(store, plan):
        lines.append(f"| {source} | {100 * mean:.1f} | {', '.join(f'{100 * value:.1f}' for value in values)} |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="store folder of `assay run`")
    print("\n".join(word_vector_table(Store(parser.parse_args().store.expanduser()))))
