"""Golden values: what the public verbs give for the built-in model, so that a refactoring can show it changed nothing.

    python scripts/golden.py record     # after a default was changed on purpose; say why in the commit
    python scripts/golden.py check      # every number within 5e-6, every verdict word for word

Only public verbs are called, so that the script outlives what is behind them.
"""

from __future__ import annotations

import json
import lzma
import math
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

import assay

FILE = Path(__file__).parent.parent / "tests" / "golden.json.xz"
TOLERANCE = 5e-6  # threads and processors add in different orders: 2e-6 between two machines
METHODS = {  # name in the file: spec; a renamed method keeps its name in the file
    "alti": "alti",
    "attention_rollout": "attention_rollout",
    "attention_x_gradient": "attention_x_gradient",
    "average_attention": "average_attention",
    "beam_search": "beam_search",
    "decompx": "decompx",
    "deep_lift": "deep_lift",
    "ensemble": "ensemble([lime, occlusion])",
    "globenc": "globenc",
    "gradient": "gradient",
    "gradient_shap": "gradient_shap",
    "gradient_x_input": "gradient_x_input",
    "greedy": "greedy",
    "integrated_gradients": "integrated_gradients",
    "kernel_shap": "kernel_shap(samples=128)",
    "lime": "lime(samples=128)",
    "occlusion": "occlusion",
    "random": "random",
    "sequential_integrated_gradients": "sequential_integrated_gradients",
    "smooth_grad": "smooth_grad",
    "thesis_all": "ensemble(thesis_all, samples=128)",
    "thesis_top3": "ensemble(thesis_top3, samples=128)",
    "value_norm_attention": "value_norm_attention",
    "value_zeroing": "value_zeroing",
    "weighted_integrated_gradients": "weighted_integrated_gradients",
}
METRICS = {
    "aopc_comprehensiveness": "comprehensiveness(aopc=True)",
    "aopc_sufficiency": "sufficiency(aopc=True)",
    "comprehensiveness": "comprehensiveness",
    "deletion": "deletion",
    "insertion": "insertion",
    "log_odds": "log_odds",
    "sufficiency": "sufficiency",
    "ground_truth_overlap": "ground_truth_overlap",
    "mean_rank": "mean_rank",
    "mean_rank_percentage": "mean_rank_percentage",
    "auc": "auc",
    "auprc": "auprc",
    "iou_f1": "iou_f1",
    "token_f1": "token_f1",
    "top_k_f1": "top_k_f1",
    "top_k_mass": "top_k_mass",
    "top_share_mass": "top_k_mass(share=0.1)",
}
EVALUATED = ("integrated_gradients", "kernel_shap", "lime", "occlusion", "gradient_x_input", "attention_rollout",
             "average_attention", "ensemble", "thesis_all", "random")  # fmt: skip
PROTOCOLS = ("eraser", "thesis", "aml", "aml_code")
LIMIT = 12  # examples


def values() -> dict[str, Any]:
    """Scores, metric tables and verdicts, all of plain numbers and words."""
    model = assay.load_model("builtin")
    data = assay.load_dataset("builtin").take(LIMIT, 0)
    with tempfile.TemporaryDirectory() as folder:
        out = {"scores": _scores(model, data), "tables": {}, "verdicts": {}}
        for protocol in PROTOCOLS:
            metrics = list(METRICS.values()) if protocol == "eraser" else list(METRICS.values())[:7]
            methods = [METHODS[name] for name in EVALUATED]
            result = assay.evaluate(model, data, methods, metrics, protocol=protocol, store=folder, progress=False)
            out["tables"][protocol] = _table(result)
        default = assay.evaluate(model, "builtin", store=folder, progress=False)
        out["tables"]["default"] = _table(default)
        out["verdicts"]["default"] = default.verdict.splitlines()
    randomised = assay.randomise(model, data, ["gradient", "average_attention"], limit=3, progress=False)
    out["randomise"] = _numbers(randomised.summary)
    for step in ("gradient", "sign", "adam"):
        attacked = assay.attack(model, data, ["gradient"], limit=2, steps=5, step=step, progress=False)
        out[f"attack_{step}"] = _numbers(attacked.summary)
    return out


def _scores(model: Any, data: Any) -> dict[str, Any]:
    found = assay.explain(model, data, list(METHODS.values()), progress=False)
    return {name: [[float(s) for s in a.scores] for a in found[spec]] for name, spec in METHODS.items()}


def _table(result: Any) -> dict[str, list[float]]:
    method = {spec: name for name, spec in METHODS.items()}
    rows = result.table()
    return {
        f"{_metric_name(row['metric'])} {method.get(row['method'], row['method'])}": [
            row["value"], row["low"], row["high"], row["n"], float(bool(row["beats_random"])), float(row["best_group"])
        ]
        for row in sorted(rows, key=lambda row: (row["metric"], row["method"]))
    }  # fmt: skip


def _metric_name(spec: str) -> str:
    """The name in the file: with the protocol where it is not the default, whatever other parameters the spec has."""
    protocol = re.search(r"protocol=\w+", spec)
    plain = re.sub(r"protocol=\w+(, )?", "", spec).replace("()", "")
    name = {spec: name for name, spec in METRICS.items()}[plain]
    return f"{name}({protocol[0]})" if protocol else name


def _numbers(rows: list[dict[str, Any]]) -> list[list[float]]:
    """The numbers of each row in the order of its columns; words may be renamed."""
    return [_flat([row[key] for key in row if key not in ("rows", "label")]) for row in rows]


def _flat(value: Any) -> list[float]:
    if isinstance(value, bool | int | float):
        return [float(value)]
    if isinstance(value, list | tuple):
        return [x for item in value for x in _flat(item)]
    return []


def differences(old: Any, new: Any, where: str = "") -> list[str]:
    """Every place where the two differ by more than the tolerance."""
    if isinstance(old, dict) and isinstance(new, dict):
        missing = [f"{where}.{key}: only in one of the two" for key in old.keys() ^ new.keys()]
        return missing + [
            line for key in old.keys() & new.keys() for line in differences(old[key], new[key], f"{where}.{key}")
        ]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where}: {len(old)} values, now {len(new)}"]
        return [
            line for i, pair in enumerate(zip(old, new, strict=True)) for line in differences(*pair, f"{where}[{i}]")
        ]
    if isinstance(old, float | int) and isinstance(new, float | int):
        same = (math.isnan(old) and math.isnan(new)) or abs(old - new) <= TOLERANCE * max(1.0, abs(old))
        return [] if same else [f"{where}: {old!r}, now {new!r}"]
    return [] if old == new else [f"{where}: {old!r}, now {new!r}"]


def main() -> None:
    torch.set_num_threads(1)
    if sys.argv[1:] == ["record"]:
        FILE.write_bytes(lzma.compress(json.dumps(values(), sort_keys=True).encode(), preset=9))
        print(f"wrote {FILE.name}, {FILE.stat().st_size} bytes")
    elif sys.argv[1:] == ["check"]:
        old, new = json.loads(lzma.decompress(FILE.read_bytes())), values()
        found = differences(old, new)
        words = [line for line in found if line.startswith(".verdicts")]
        numbers = [line for line in found if line not in words]
        print("\n".join(found))
        exact = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
        print(f"{len(numbers)} numbers and {len(words)} sentences differ" + ("; bit for bit equal" if exact else ""))
        sys.exit(bool(numbers))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
