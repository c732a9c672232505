"""An evaluation against the same numbers by hand: tokens deleted from the ids, Hugging Face called directly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import assay
from assay.datasets.builtin import builtin
from assay.datasets.load import load_dataset

TEXTS = [example.text or "" for example in builtin()[:5]]


def probability(model: assay.models.model.Model, ids: list[int], label: int) -> float:
    with torch.no_grad():
        return float(model.hf.eval()(input_ids=torch.tensor([ids])).logits.double().softmax(-1)[0, label])


def test_sufficiency_and_comprehensiveness_by_hand(tmp_path: Path) -> None:
    model = assay.load_model("builtin")
    found = assay.evaluate(
        model,
        load_dataset([{"text": text} for text in TEXTS]),
        ["occlusion", "random"],
        ["sufficiency", "comprehensiveness", "log_odds(protocol=thesis)"],
        protocol="eraser",
        draws=1,
        store=tmp_path,
    ).evaluation
    for method in ("occlusion", "random"):
        for i, attribution in enumerate(assay.explain(model, TEXTS, method)):
            ids = model.tokenizer(TEXTS[i])["input_ids"]
            n, label = len(ids) - 2, int(attribution.target.label)
            order = np.argsort(-attribution.scores, kind="stable")
            full = probability(model, ids, label)
            keep, drop, masked = [], [], []
            for fraction in (0.01, 0.05, 0.1, 0.2, 0.5):
                count = max(1, int(np.ceil(round(fraction * n, 9))))
                top = {int(k) + 1 for k in order[:count]}
                keep.append(full - probability(model, [t for k, t in enumerate(ids) if k in top | {0, n + 1}], label))
                drop.append(full - probability(model, [t for k, t in enumerate(ids) if k not in top], label))
                if fraction > 0.01:
                    hidden = [model.tokenizer.mask_token_id if k in top else t for k, t in enumerate(ids)]
                    masked.append(np.log(probability(model, hidden, label)) - np.log(full))
            assert found.values["sufficiency"][method][i] == pytest.approx(np.mean(keep), abs=1e-5)
            assert found.values["comprehensiveness"][method][i] == pytest.approx(np.mean(drop), abs=1e-5)
            assert found.values["log_odds(protocol=thesis)"][method][i] == pytest.approx(np.mean(masked), abs=1e-4)


def test_a_second_run_takes_everything_from_the_store(tmp_path: Path) -> None:
    from assay.api.evaluate import evaluate

    model = assay.load_model("builtin")
    settings = {"limit": 6, "methods": ["occlusion", "random"], "store": tmp_path}
    first = evaluate(model, "builtin", **settings)
    before = model.passes.forwards
    second = evaluate(model, "builtin", **settings)
    assert model.passes.forwards == before
    assert first.table() == second.table()
    third = evaluate(model, "builtin", **{**settings, "seed": 1})
    assert model.passes.forwards > before, "another seed is another result"
    assert third.table() != first.table()


def test_micro_top_k_f1_pools_hits_over_examples() -> None:
    from assay.api.evaluate import evaluate
    from assay.evaluation.attribution_metric import descending_order, rationale_units

    model, data = assay.load_model("builtin"), builtin()[:8]
    specs = ["top_k_f1(k=3)", "top_k_f1(k=3, average=micro)"]
    result = evaluate(model, data, ["occlusion", "random"], specs, progress=False)
    counts = []
    for attribution, example in zip(assay.explain(model, list(data), "occlusion"), data, strict=True):
        truth = rationale_units(attribution.units, example)
        counts.append([truth[descending_order(attribution.scores)[:3]].sum(), 3, truth.sum()])
    hits, chosen, true = np.array(counts, float).T
    found = {row["metric"]: row["value"] for row in result.table() if row["method"] == "occlusion"}
    assert found[specs[0]] == pytest.approx((2 * hits / (chosen + true)).mean())
    assert found[specs[1]] == pytest.approx(2 * hits.sum() / (chosen.sum() + true.sum()))


def test_curves_of_short_and_long_texts_have_the_same_points(tmp_path: Path) -> None:
    data = load_dataset([{"text": "dull"}, {"text": "a warm, funny and beautifully filmed story about two sisters"}])
    metrics = ["deletion", "insertion", "sufficiency"]
    found = assay.evaluate("builtin", data, ["occlusion"], metrics, store=tmp_path, progress=False).evaluation
    assert {name: rows["occlusion"].shape for name, rows in found.curves.items()} == {
        "deletion": (2, 21),
        "insertion": (2, 21),
        "sufficiency": (2, 5),
    }
