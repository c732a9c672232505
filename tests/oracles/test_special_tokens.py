"""Special tokens as units: attention in closed form, masks by brute force, and everything that reads spans."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

import assay
from assay.core.display import terminal
from assay.core.errors import SpecError, UnsupportedError
from assay.core.spec import Spec
from assay.core.types import Example, Span
from assay.datasets.examples import as_examples
from assay.evaluation.attribution_metric import rationale_units
from assay.explainers.methods import named_methods
from assay.explainers.session import Session
from assay.reports.heat_maps import heat_map, shown_units
from assay.studies.attack.study import Attack
from assay.studies.evaluate.reproduce import settings_words
from assay.studies.evaluate.study import Evaluate
from assay.studies.randomise.study import Randomise
from families import CASES, model_of, precise
from runs import quiet
from tiny_tokenizers import wordpiece

WIDTH = 8
PULL = {"[CLS]": 3.0, "bright": 2.0}  # on the attention logit of every query; other tokens: 0


def known_attention():
    """A BERT of one head whose attention logits depend on the key's token alone, as PULL says."""
    tokenizer = wordpiece()
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertForSequenceClassification(config).double()
    table = torch.zeros(len(tokenizer), WIDTH, dtype=torch.float64)
    table[:, 2] = 1.0
    for dimension, token in enumerate(PULL):
        table[tokenizer.convert_tokens_to_ids(token)] = torch.eye(WIDTH, dtype=torch.float64)[dimension]
    with torch.no_grad():
        embeddings, attention = model.bert.embeddings, model.bert.encoder.layer[0].attention.self
        embeddings.word_embeddings.weight.copy_(table)
        for other in (embeddings.position_embeddings, embeddings.token_type_embeddings):
            other.weight.zero_()
        one, rest = (embeddings.LayerNorm(torch.eye(WIDTH, dtype=torch.float64)[0])[i] for i in (0, 1))
        attention.query.weight.zero_()
        attention.query.bias.copy_(torch.eye(WIDTH, dtype=torch.float64)[0])  # every query is e_0
        attention.key.weight.zero_()
        attention.key.bias.zero_()
        for dimension, pull in enumerate(PULL.values()):  # (x - rest) / (one - rest) is 1 for the token, else 0
            attention.key.weight[0, dimension] = pull * WIDTH**0.5 / (one - rest)
            attention.key.bias[0] -= pull * WIDTH**0.5 * rest / (one - rest)
    return assay.load_model(model.eval(), tokenizer)


def test_the_cue_is_second_where_special_tokens_are_ranked_and_first_where_not():
    """Average attention is the softmax of PULL: e^3 for [CLS], e^2 for the cue, 1 for every other token."""
    model, text = known_attention(), "the film is bright and funny"
    weights = {"[CLS]": np.exp(3.0), "bright": np.exp(2.0)}
    for special_tokens, best in (("protected", ["bright"]), ("ranked", ["[CLS]", "bright"])):
        a = assay.explain(model, text, "average_attention", special_tokens=special_tokens)
        names = [u.text for u in a.units]
        words = ["the", "film", "is", "bright", "and", "funny"]
        assert names == (words if special_tokens == "protected" else ["[CLS]", *words, "[SEP]"])
        logits = np.array([weights.get(name, 1.0) for name in names])
        np.testing.assert_allclose(a.scores, logits / (np.exp(3.0) + np.exp(2.0) + 6), rtol=1e-6)
        assert [names[i] for i in np.argsort(-a.scores)[: len(best)]] == best


def test_the_rank_of_the_cue_in_an_evaluation():
    """Overlap 1 and rank 1/6 where special tokens are protected; 0 and 2/8 where they are ranked."""
    model, text = known_attention(), "the film is bright and funny"
    data = [Example(text, id="one", label=0, rationales=((Span(0, 12, 18),),))]
    found = {}
    for special_tokens in ("protected", "ranked"):
        result = assay.evaluate(
            model, data, ["average_attention"], ["ground_truth_overlap", "mean_rank_percentage"],
            special_tokens=special_tokens, target="predicted", progress=False,
        )  # fmt: skip
        found[special_tokens] = {row["metric"]: row["value"] for row in result.table()}
        assert ("special tokens are ranked too" in settings_words(result.evaluation)["units"]) == (
            special_tokens == "ranked"
        )
    assert found["protected"] == pytest.approx({"ground_truth_overlap": 1.0, "mean_rank_percentage": 1 / 6})
    assert found["ranked"] == pytest.approx({"ground_truth_overlap": 0.0, "mean_rank_percentage": 2 / 8})


# --- masks -----------------------------------------------------------------------------------------------------------


def opened(case, text, removal=None):
    with quiet():
        session = Session.create(precise(case), named_methods(["occlusion"]), removal=removal, special_tokens="ranked")
    return session, session.open([(0, next(as_examples([text])))], [None])


@pytest.mark.parametrize(("case", "removal"), [("bert", "mask_token"), ("roberta", "mask_token"), ("t5", "pad")])
def test_every_mask_by_brute_force(case, removal):
    """All keep-masks of a short text: the ids of removed positions replaced by hand, special tokens too."""
    session, inputs = opened(case, "the soup", removal)
    model, encoding = session.model, inputs.encodings[0]
    assert encoding.players == len(encoding.ids)  # one unit per position
    other = getattr(model.tokenizer, "mask_token_id" if removal == "mask_token" else "pad_token_id")
    masks = np.array(list(itertools.product([False, True], repeat=encoding.players)))
    found = inputs.game.outputs([(0, masks)])[0]
    for keep, output in zip(masks, found, strict=True):
        batch = replace(model.batch([encoding]), ids=torch.as_tensor(np.where(keep, encoding.ids, other)[None]))
        with model.frozen(), torch.no_grad():
            direct = model.full_logits(batch)
        np.testing.assert_allclose(output, direct[0].numpy(), atol=1e-8)


def test_delete_keeps_special_tokens():
    """A model may not bear an input without them: with delete they are ranked, and their removal changes nothing."""
    with quiet():
        a = assay.explain(model_of("bert"), "the soup was good", "occlusion", removal="delete", special_tokens="ranked")
    scores = {u.text: s for u, s in zip(a.units, a.scores, strict=True)}
    assert abs(scores["[CLS]"]) < 1e-6
    assert abs(scores["[SEP]"]) < 1e-6
    assert abs(scores["soup"]) > 1e-3


# --- what reads spans ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", ["token", "word", "sentence"])
@pytest.mark.parametrize("case", ["bert", "roberta", "t5", "gpt2"])
def test_units_of_texts_and_pairs(case, units):
    """Each special position is a unit of its own, no two are equal, and the others are those of protected."""
    for given in ("the soup was good", ("the old sailor slept", "rain fell")):
        with quiet():
            plain, ranked = (
                assay.explain(model_of(case), given, "gradient", units=units, special_tokens=special_tokens)
                for special_tokens in ("protected", "ranked")
            )
        assert [u for u in ranked.units if not u.is_special] == list(plain.units)
        specials = [u.text for u in ranked.units if u.is_special]
        ids = model_of(case).encode(next(as_examples([given])))
        tokens = [model_of(case).tokenizer.convert_ids_to_tokens(int(i)) for i in ids.ids]
        assert specials == [t for t, span in zip(tokens, ids.spans, strict=True) if span.segment < 0]
        assert len(set(ranked.units)) == len(ranked.units)
        of_words = [s for u, s in zip(ranked.units, ranked.scores, strict=True) if not u.is_special]
        np.testing.assert_allclose(of_words, plain.scores, rtol=1e-5, atol=1e-7)  # a gradient has no removal


def test_scope_rationales_and_heat_maps():
    pair = ("the old sailor slept", "rain fell")
    with quiet():
        first = assay.explain(model_of("bert"), pair, "gradient", scope="text", special_tokens="ranked")
        whole = assay.explain(model_of("bert"), pair, "gradient", special_tokens="ranked")
    assert [u.text for u in first.units] == ["[CLS]", "the", "old", "sailor", "slept", "[SEP]"]
    everything = Example(*pair, rationales=((Span(0, 0, 20), Span(1, 0, 9)),))
    marked = rationale_units(whole.units, everything)
    assert [u.text for u, m in zip(whole.units, marked, strict=True) if not m] == ["[CLS]", "[SEP]", "[SEP]"]
    runs = heat_map(whole, everything, shown_units([whole])).runs
    assert "".join(u.gap + u.text for run in runs for u in run.units).startswith("[CLS] the old sailor slept [SEP]")
    assert "[CLS] the old" in terminal(whole, color=False)
    assert next(iter(assay.Attributions([whole]).to_pandas()["text"])) == "[CLS]"


def test_scores_of_special_tokens_come_back(tmp_path):
    """`assay explain --output` and `evaluate --scores`: every score returns to its own unit."""
    texts, model = ["the soup was good", "a modest pleasure"], model_of("roberta")
    source, file = tmp_path / "in.txt", tmp_path / "mine.jsonl"
    source.write_text("\n".join(texts))
    with quiet():
        assay.explain_file(model, source, file, "gradient", special_tokens="ranked", progress=False)
        own = assay.explain(model, texts, "gradient", special_tokens="ranked")
        result = assay.evaluate(
            model, texts, ["gradient"], ["sufficiency"], scores=(str(file),), special_tokens="ranked", progress=False
        )
    values = {row["method"]: row["value"] for row in result.table()}
    assert len(set(values.values())) == 1
    assert any(u.is_special for a in own for u in a.units)


# --- settings --------------------------------------------------------------------------------------------------------


def test_only_ranked_is_in_a_key():
    for study in (Attack, Randomise):
        assert "special_tokens" not in str(Spec.in_key(study()))
        assert "special_tokens=ranked" in str(Spec.in_key(study(special_tokens="ranked")))
    data = assay.load_dataset("builtin")[:2]
    plain, ranked = (Evaluate(special_tokens=s).task(data, None).spec({}, None) for s in ("protected", "ranked"))
    assert ranked == {**plain, "special_tokens": "ranked"}
    assert "special_tokens" not in plain


@pytest.mark.parametrize(
    ("case", "words"), [("vit", "class token of an image"), ("bilstm_attention", "finds its texts by them")]
)
def test_models_that_cannot_rank_them_say_why(case, words):
    with quiet(), pytest.raises(UnsupportedError, match=words):
        assay.explain(model_of(case), list(CASES[case].inputs[:1]), "random", special_tokens="ranked")
    with pytest.raises(SpecError, match="did you mean 'ranked'"):
        assay.explain("builtin", "a film", "random", special_tokens="rank")


def test_functions_and_prompts_say_why():
    function = assay.load_model(lambda texts: [[0.5, 0.5]] * len(texts), labels=["a", "b"])
    with pytest.raises(UnsupportedError, match="without special tokens"):
        assay.explain(function, "a film", "occlusion", special_tokens="ranked")
    prompted = next(case for case in CASES if model_of(case).prompted)
    with quiet(), pytest.raises(UnsupportedError, match="belong to the prompt"):
        assay.explain(model_of(prompted), list(CASES[prompted].inputs[:1]), "random", special_tokens="ranked")
