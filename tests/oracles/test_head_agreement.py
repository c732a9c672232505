"""Plausibility of heads: one pass for all of them equals explaining by each; words, segments and AUC by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import assay
import toys
from assay.core.errors import SpecError
from assay.core.types import Example, Span
from assay.evaluation.plausibility._oracle import head_agreement
from assay.evaluation.plausibility.auc import Auc

PAIR = ("good film", "a bad unbelievable film")
MARKED = (Span(0, 0, 4), Span(1, 2, 5))  # good; bad


def pairs() -> list[Example]:
    words = toys.WHOLE
    more = [Example(f"{words[i]} {words[i + 1]}", f"{words[i + 2]} {words[i]}", rationales=(MARKED,)) for i in range(4)]
    return [Example(*PAIR, rationales=(MARKED,)), *more]


@pytest.mark.parametrize("part", ["all", "text", "text_pair"])
def test_every_layer_and_head_in_one_pass_is_each_of_them_explained(part: str) -> None:
    model, metric = toys.bert(seed=2), Auc(words="sum", part=part)
    examples = pairs()
    found = head_agreement(model, examples, metric)
    for layer in range(2):
        explained = assay.explain(model, examples, f"attention_logits(layer={layer})")
        truth = [metric.measure(a, e) for a, e in zip(explained, examples, strict=True)]
        assert np.allclose(found.layers[:, layer], [value for value in truth if value is not None])
        for head in range(4):
            explained = assay.explain(model, examples, f"attention_logits(layer={layer}, head={head})")
            truth = [metric.measure(a, e) for a, e in zip(explained, examples, strict=True)]
            assert np.allclose(found.heads[:, layer, head], [value for value in truth if value is not None])
    (layer, head), values = found.best_head
    assert values.mean() == found.heads.mean(0).max() == found.heads[:, layer, head].mean()
    assert found.best_layer[1].mean() == found.layers.mean(0).max()


def test_the_two_texts_of_a_pair_are_measured_apart_by_sums_of_pieces() -> None:
    example = pairs()[0]
    (found,) = assay.explain(toys.bert(seed=2), [example], "attention_logits")
    for segment, part in enumerate(("text", "text_pair")):
        words, start = PAIR[segment].split(), 0
        sums, gold = [], []
        for word in words:
            place = PAIR[segment].index(word, start)
            inside = [u.segment == segment and place <= u.start < place + len(word) for u in found.units]
            sums.append(found.scores[inside].sum())
            gold.append(place == MARKED[segment].start)
            start = place + len(word)
        assert Auc(words="sum", part=part).measure(found, example) == pytest.approx(roc_auc_score(gold, sums))


def test_texts_without_rationales_are_refused() -> None:
    with pytest.raises(SpecError, match="none of the texts has a rationale"):
        head_agreement(toys.bert(), [Example("good film")], Auc())
