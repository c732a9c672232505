"""The numbers of the paper: Tables 1 and 2 (published.csv), 3, 4 and 5."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

METRICS = {  # of the paper, by ours
    "sufficiency": "sufficiency",
    "log_odds": "log_odds",
    "comprehensiveness": "comprehensiveness",
    "sufficiency(aopc=True)": "aopc_sufficiency",
    "comprehensiveness(aopc=True)": "aopc_comprehensiveness",
}
DATA = {"sst": "SST2", "rotten": "RTN", "emotion": "EMR", "language": "SST2"}
MODELS = {"minilm": "BERT", "roberta": "RoBERTa", "distilbert": "DistilBERT", "smollm": "Llama2"}
ENCODERS, LANGUAGE_MODELS = ("BERT", "RoBERTa", "DistilBERT"), ("Llama2", "Mistral")
METHODS = {  # of the paper, by ours
    "sequential_integrated_gradients": "SIG",
    "alti": "ALTI",
    "decompx": "DCMP",
    "beam_search": "SLVX",
    "deep_lift": "LIFT",
    "globenc": "GLOB",
    "gradient_shap": "SHAP",
    "gradient_x_input": "GXI",
    "integrated_gradients": "IG",
    "lime": "LIME",
    "self_ranking": "LLM",
    "paml": "pAML",
    "paml_sufficiency": "pAML",
    "paml(steps=10, tune=all, selection=oracle)": "fAML",
    "paml_sufficiency(steps=10, tune=all, selection=oracle)": "fAML",
}
RATIONALES = {"fAML": (0.118, 0.096), "pAML": (0.110, 0.092), "DCMP": (0.102, 0.088), "SIG": (0.094, 0.082)}  # Table 3
ABLATION = {  # Table 4: the paper's value of a metric, for the row that is fitted for that metric
    ("full", "comprehensiveness"): 0.57,
    ("without_preservation", "comprehensiveness"): 0.59,
    ("without_inverse", "comprehensiveness"): 0.55,
    ("full_sufficiency", "sufficiency"): 0.07,
    ("without_preservation_sufficiency", "sufficiency"): 0.09,
    ("without_inverse_sufficiency", "sufficiency"): 0.06,
}
SECONDS = {  # Table 5: SST2 and IMDB
    "fAML": (1.5, 1.6),
    "pAML": (0.01, 0.01),
    "SIG": (6.5, 84.0),
    "DCMP": (0.14, 1.6),
    "SLVX, beam 10": (1.2, 2100.0),
}


@cache
def published() -> dict[tuple[str, str, str, str], float]:
    """The value of each (model, data, method, metric) in the paper's names."""
    with (Path(__file__).parent / "published.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(r["model"], r["data"], r["method"], r["metric"]): float(r["value"]) for r in rows}


def paper_value(model: str, data: str, method: str, metric: str) -> float | None:
    """The paper's number for ours: its nearest model, the same data, method and metric.

    The paper fits AML for each metric. A fit for sufficiency has numbers beside sufficiency only, and one for
    comprehensiveness beside the other metrics.
    """
    name = method.partition("(")[0]
    if name.startswith("paml") and (name == "paml_sufficiency") != metric.startswith("sufficiency"):
        return None
    fitted = method.startswith("paml")  # whose parameters matter; those of other methods differ from the paper's
    short = METHODS.get(method if fitted else name)
    return published().get((MODELS.get(model, model), DATA.get(data, data), short or "", METRICS.get(metric, "")))


def places(method: str, models: tuple[str, ...]) -> Counter[int]:
    """How often a method comes first, second, ... among the methods of the paper's tables, over data and metrics."""
    found: defaultdict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for (model, data, other, metric), value in published().items():
        if model in models:
            found[model, data, metric][other] = value if "comprehensiveness" in metric else -value
    return Counter(1 + sum(v > by[method] for v in by.values()) for by in found.values())
