"""Compare the thesis's attack on integrated gradients with the cheaper one of the plans; writes full_attack.csv.

python -m reproductions.thesis.full_attack --store ~/.cache/assay-thesis/store
500 steps with 50 integration points cost hours per model, so the plans use 150 steps with 8 Gauss-Legendre points. Here
both attack the sentences of the plan on the smallest model, and both are measured by IG with enough points to converge,
as in the plans.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError
from assay.core.types import Example
from assay.evaluation.adversarial.top_k_attack import TopKAttack
from assay.experiments.plan import Plan, read_plan
from assay.experiments.store import Store
from assay.masking.units import divide
from assay.models.load import load_model
from assay.models.model import Model

HERE = Path(__file__).parent
SMALLEST = "t5_1"
SETTINGS = {"reproduction": (150, 8), "thesis": (500, 50)}  # steps of the attack, integration points of IG
MEASURED = "integrated_gradients(tolerance=0.05)"
SHOWN = ("rank_change", "top_k_sum_change", "probability_change", "succeeded")


def attack(steps: int, nodes: int) -> TopKAttack:
    method = f"integrated_gradients(steps={nodes}, rule=gauss_legendre)"
    return TopKAttack((method,), (MEASURED,), epsilon=2.0, relative=False, step="gradient", steps=steps)


def trained_model(plan: Plan, store: Store, name: str = SMALLEST) -> Model:
    """A trained model of the plan, from the store."""
    job = next(job for job in plan.trainings if job.tags["model"] == name)
    if not store.artifacts.has(job.key):
        raise AssayError(f"The weights of {name} are not in {store.folder}. Run the plan with --keep first.")
    return load_model(store.artifacts.path(job.key))


def sentences(plan: Plan, model: Model, count: int | None) -> list[Example]:
    """The examples that the plan attacks, shortest first."""
    data = next(cell.data for cell in plan.cells if cell.name == "attack").load()
    return sorted(data, key=lambda e: len(divide(model.encode(e), "token").units))[:count]


def compare(model: Model, examples: Sequence[Example]) -> Iterator[dict[str, Any]]:
    """One row per setting, objective and sentence."""
    text = {e.id: e.text for e in examples}
    for name, (steps, nodes) in SETTINGS.items():
        start = time.process_time()
        rows = attack(steps, nodes).run(model, examples)
        seconds = (time.process_time() - start) / len(rows)
        for row in rows:
            numbers = {key: round(row[key], 4) if isinstance(row[key], float) else row[key] for key in SHOWN}
            tags = {"setting": name, "steps": row["steps"], "nodes": nodes, "objective": row["objective"]}
            yield {"text": text[row["example"]], **tags, **numbers, "seconds": round(seconds, 1)}


def side_by_side(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line per sentence and objective, the reproduction's number first."""
    yield f"{'sentence':44s} {'objective':20s} " + " ".join(f"{name:>24s}" for name in SHOWN)
    pairs: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        pairs.setdefault((row["text"], row["objective"]), {})[row["setting"]] = row
    for (text, objective), pair in pairs.items():
        numbers = (f"{pair['reproduction'][key]!s:>10s} -> {pair['thesis'][key]!s:>10s}" for key in SHOWN)
        yield f"{text[:44]:44s} {objective:20s} " + " ".join(numbers)


def write(rows: Sequence[dict[str, Any]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="store folder of `assay run`")
    parser.add_argument("--plan", type=Path, default=HERE / "augmented_sst.yaml")
    parser.add_argument("--output", type=Path, default=HERE / "full_attack.csv")
    parser.add_argument("--model", default=SMALLEST, help="a model of the plan")
    parser.add_argument("--sentences", type=int, help="number of sentences, shortest first (default: all of the plan)")
    options = parser.parse_args()
    store = Store(options.store.expanduser())
    plan = read_plan(options.plan, store)
    model = trained_model(plan, store, options.model)
    rows = list(compare(model, sentences(plan, model, options.sentences)))
    write(rows, options.output)
    print("\n".join(side_by_side(rows)))


if __name__ == "__main__":
    main()
