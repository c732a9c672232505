"""Self-ranking on tiny random language models in float64, against whole sequences run without a cache."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

import assay
from assay.explainers.prompting._question import Question, question_prompt
from assay.explainers.prompting._rankings import constrained_rankings, first_token_scores, free_answers
from assay.explainers.trial import why_unsupported
from assay.models.decoding import Decoding, continuation
from families import WORDS, causal_lm
from tiny_tokenizers import gpt2_tokenizer, llama_tokenizer, mistral_tokenizer

MAKE = {
    "gpt2": (gpt2_tokenizer, {"max_position_embeddings": 256}),
    "llama": (llama_tokenizer, {"num_key_value_heads": 2, "max_position_embeddings": 256}),
    "mistral": (
        mistral_tokenizer,
        {"num_key_value_heads": 2, "sliding_window": 6, "max_position_embeddings": 256},
    ),
}
NAMES = {"gpt2": "GPT2", "llama": "Llama", "mistral": "Mistral"}
TEXT, LONGER = "good plot, bad plots", "the soup was good and the bread was bad again"


def language_model(family, prompt="Review: {text}\nSentiment:"):
    tokenizer, size = MAKE[family][0](), MAKE[family][1]
    return assay.load_model(
        causal_lm(NAMES[family], tokenizer, **size).double(), tokenizer, prompt=prompt, labels=WORDS
    )


def question_of(model, text, label="positive"):
    prompt = question_prompt(model.tokenizer, "{text} {label}", label, model.labels, pair=False, chat=False)
    return Question.of(prompt, model.tokenizer, model.encode(assay.Example(text)), model.encoder.limit, 64)


def whole(model, ids):
    """(V,) next-token logits of one sequence, without a cache or padding."""
    with torch.no_grad():
        return model.hf.eval()(input_ids=torch.tensor([ids])).logits[0, -1]


@pytest.mark.parametrize("family", MAKE)
def test_decoding_with_a_cache_and_padding_equals_whole_sequences(family):
    model = language_model(family)
    rows = [[5, 9, 11, 30, 7, 12, 40, 41, 42], [8, 3], [6, 6, 6, 9]]
    decoding = Decoding(model, rows)
    for step in range(4):
        for row, logits in zip(rows, decoding.logits, strict=True):
            assert torch.allclose(logits, whole(model, row), atol=1e-9)
        tokens = [10 + step, 20 + step, 30 + step]
        decoding.feed(tokens)
        rows = [[*row, token] for row, token in zip(rows, tokens, strict=True)]
    assert decoding.lengths == [13, 6, 8]


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize("family", MAKE)
def test_constrained_decoding_against_all_orders(family, compared):
    """Of all orders of the words, the one that is left when the likeliest next token is kept place by place."""
    model, question = language_model(family), question_of(language_model(family), TEXT)
    others = [question_of(model, TEXT, "negative"), question_of(model, TEXT, "dreary rain")] if compared else []
    assert list(question.words) == ["good", "plot", "bad", "plots"]
    orders = {order: [t for key in order for t in question.tokens[key]] for order in permutations(question.tokens)}
    left, place = dict(orders), 0
    while len(left) > 1:
        written = next(iter(left.values()))[:place]
        logits = whole(model, question.ids + written).log_softmax(-1)
        if others:
            logits = logits - torch.stack([whole(model, q.ids + written).log_softmax(-1) for q in others]).mean(0)
        best = max({tokens[place] for tokens in left.values()}, key=lambda token: float(logits[token]))
        left = {order: tokens for order, tokens in left.items() if tokens[place] == best}
        place += 1
    ((expected, _),) = left.items()
    longer = question_of(model, LONGER)
    alone, padded = (
        constrained_rankings(model, asked, 9)[0] for asked in ([[question, *others]], [[question, *others], [longer]])
    )
    assert tuple(alone) == tuple(padded) == expected
    assert constrained_rankings(model, [[question, *others]], 2) == [list(expected[:2])]


def test_one_pass_against_the_definition():
    model, question = language_model("llama"), question_of(language_model("llama"), LONGER)
    other = question_of(model, LONGER, "negative")
    (scores,) = first_token_scores(model, [[question]])
    p = whole(model, question.ids).softmax(-1)
    (compared,) = first_token_scores(model, [[question, other]])
    ratio = p / whole(model, other.ids).softmax(-1)
    firsts = {tokens[0] for tokens in question.tokens.values()}
    total = sum(float(p[t]) for t in firsts)
    for key, tokens in question.tokens.items():
        assert scores[key] == pytest.approx(float(p[tokens[0]]) / total, rel=1e-9)
        all_ratios = sum(float(ratio[t]) for t in firsts)
        assert compared[key] == pytest.approx(float(ratio[tokens[0]]) / all_ratios, rel=1e-9)


def test_free_answers_are_greedy():
    model, question = language_model("gpt2"), question_of(language_model("gpt2"), TEXT)
    (answer,) = free_answers(model, [question], 6)
    written = []
    for _ in range(6):
        written.append(int(whole(model, question.ids + written).argmax()))
    end = model.tokenizer.eos_token_id
    written = written[: written.index(end)] if end in written else written
    assert answer == model.tokenizer.decode(written)


def test_sampled_answers_follow_their_seeds():
    model, question = language_model("gpt2"), question_of(language_model("gpt2"), TEXT)
    first, again, other = (free_answers(model, [question] * 2, 8, seeds) for seeds in ([1, 2], [1, 2], [3, 2]))
    assert first == again
    assert first[0] != first[1] == other[1]


# --- scores ------------------------------------------------------------------------------------------------------


def explain(model, text, spec="self_ranking(question='{text} {label}')", **options):
    return assay.explain(model, text, spec, progress=False, removal="zero", **options)


def test_scores_are_ranks_of_words_for_any_units():
    """Every place of a word has its score, all pieces of a word too; words past `most` and punctuation have 0."""
    model, text = language_model("llama"), "zebra film, bad film"
    asked = [question_of(model, text, label) for label in ("negative", "positive")]
    (ranked,) = constrained_rankings(model, [asked], 20)
    expected = {key: 1 - r / 3 for r, key in enumerate(ranked)}
    words = explain(model, text, target="negative", units="word")
    assert [u.text for u in words.units] == ["zebra", "film", ",", "bad", "film"]
    assert words.scores == pytest.approx([expected.get(u.text, 0.0) for u in words.units], abs=1e-6)
    tokens = explain(model, text, target="negative")
    assert len(tokens) > len(words)
    for unit, score in zip(tokens.units, tokens.scores, strict=True):
        (word,) = [w for w in words.units if w.start <= unit.start < w.end]
        assert score == pytest.approx(expected.get(word.text, 0.0), abs=1e-6)
    (sentence,) = explain(model, text, target="negative", units="sentence").scores
    assert sentence == 1.0
    one = explain(model, text, "self_ranking(question='{text} {label}', most=1)", target="negative", units="word")
    assert np.sort(one.scores)[::-1][: text.count(ranked[0]) + 1].tolist() == [1.0] * text.count(ranked[0]) + [0.0]
    assert one.extra == {"words": 3, "ranked": 1, "named": 1, "dropped": 0}


def test_the_label_is_part_of_the_question():
    model = language_model("llama")
    prompts = [
        question_prompt(model.tokenizer, None, label, model.labels, pair=False, chat=False).template
        for label in model.labels
    ]
    assert [p.replace("Label: negative", "Label: positive") for p in prompts] == [prompts[1]] * 2
    assert prompts[0] != prompts[1]
    pair = question_prompt(model.tokenizer, None, "{odd}", ["{odd}", "b"], pair=True, chat=False)
    filled = "".join(text for _, text in pair.pieces(assay.Example("one", "two")))
    assert "Text 1: one\nText 2: two" in filled
    assert "{odd}, b" in filled


def test_chat_template():
    model = language_model("gpt2")
    model.tokenizer.chat_template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
    try:
        prompt = question_prompt(model.tokenizer, "{text} {label}", "good", model.labels, pair=False, chat=True)
        assert prompt.template.startswith("<user>{text} good<assistant>")
        with_chat = explain(model, LONGER, target="positive")
        plain = explain(model, LONGER, "self_ranking(question='{text} {label}', chat=False)", target="positive")
    finally:
        model.tokenizer.chat_template = None
    assert np.array_equal(plain.scores, explain(model, LONGER, target="positive").scores)
    assert not np.array_equal(with_chat.scores, plain.scores)
    with pytest.raises(assay.AssayError, match="no chat template"):
        explain(model, LONGER, "self_ranking(chat=True)")


def test_a_text_that_leaves_no_room_is_cut_and_its_end_not_ranked():
    model = language_model("gpt2", prompt="{text}:").limited(128)
    text = " ".join(["soup"] + ["bread"] * 60 + ["river"])
    a = explain(model, text, units="word")
    assert a.extra["words"] < 3
    assert a.scores[-1] == 0
    with pytest.raises(assay.InputError, match="leaves no room"):
        explain(model.limited(8), "soup bread", "self_ranking")


@pytest.mark.filterwarnings("ignore:self_ranking")
def test_every_kind_of_text_can_be_asked_about():
    model = language_model("gpt2")
    for text in ("!!! ...", "这部电影很好看。", "👨‍👩‍👧 👍🏽", "x", "good GOOD Good", "un cafe\u0301"):
        for mode in ("constrained", "one_pass", "free"):
            spec = f"self_ranking(question='{{text}} {{label}}', mode={mode}, answer_tokens=4, retries=1)"
            a = explain(model, text, spec)
            assert np.isfinite(a.scores).all()
            assert (a.scores.max() == 1.0) or mode != "constrained"
    assert set(explain(model, "good GOOD Good", units="word").scores) == {1.0}, "one word, whatever its case"


def test_what_free_answers_name_in_vain_is_counted_and_said(monkeypatch):
    model = language_model("gpt2")
    answers = iter([["wonderful, soup", "nothing"], ["bread"]])
    name = "assay.explainers.prompting.self_ranking.free_answers"
    monkeypatch.setattr(name, lambda model, questions, tokens, seeds=None: next(answers))
    texts = ["the soup was good", "the bread was bad"]
    with pytest.warns(UserWarning, match=r"1 of the words|up to 1 of the words") as caught:
        first, second = explain(model, texts, "self_ranking(mode=free, question='{text} {label}')", units="word")
    assert "do not occur in the text (2 inputs)" in str(caught[0].message)
    assert first.extra == {"words": 4, "ranked": 1, "named": 2, "dropped": 1}
    assert dict(first.top(1)) == {"soup": 1.0}
    assert second.extra == {"words": 4, "ranked": 1, "named": 2, "dropped": 1}, "the failed answer counts too"
    counts = {name: [a.extra[name] for a in (first, second)] for name in first.extra}
    remark = assay.explainers.METHODS.make("self_ranking").remark(counts)
    assert remark == (
        "ranked 25% of the different words of the texts; 50% of the words that it named do not occur in the text and "
        "were dropped"
    )


def test_nothing_is_said_where_every_word_was_ranked():
    counts = {"words": [3, 2], "ranked": [3, 2], "named": [3, 2], "dropped": [0, 0]}
    assert assay.explainers.METHODS.make("self_ranking").remark(counts) == ""


def test_an_evaluation_says_it_also_from_the_store(tmp_path):
    model = language_model("gpt2")
    spec = "self_ranking(mode=free, question='{text} {label}', answer_tokens=3, retries=0)"
    for _ in range(2):
        with pytest.warns(UserWarning, match="self_ranking.*ranked .* of the different words"):
            result = assay.evaluate(
                model,
                [assay.Example(t, id=str(i)) for i, t in enumerate([TEXT, LONGER, "the film is bright"])],
                methods=[spec, "random"],
                metrics=["comprehensiveness"],
                store=tmp_path,
                progress=False,
                removal="zero",
            )
    assert sum("of the different words of the texts" in w for w in result.warnings) == 1


def test_whether_it_works_is_known_before_anything_runs():
    assert why_unsupported("self_ranking", language_model("gpt2")) is None
    assert "asks a language model" in why_unsupported("self_ranking", assay.load_model("builtin"))


def test_refusals():
    model = language_model("gpt2")
    with pytest.raises(assay.SpecError, match="question lacks"):
        assay.explain(model, TEXT, "self_ranking(question='which words?')")
    with pytest.raises(assay.SpecError, match="answers about the labels cannot differ"):
        assay.explain(model, TEXT, "self_ranking(question='words of {text}')")
    with pytest.raises(assay.InputError, match="omit against"):
        explain(model, TEXT, "self_ranking(mode=free)", target=assay.Target("positive", against="negative"))
    for bad in ("most=0", "retries=-1", "answer_tokens=0", "mode=any"):
        with pytest.raises(assay.SpecError):
            assay.explain(model, TEXT, f"self_ranking({bad})")
    with pytest.raises(assay.UnsupportedError, match="asks a language model in words"):
        assay.explain("builtin", TEXT, "self_ranking")
    with pytest.raises(assay.AssayError, match="only the answers can be seen"):
        assay.explain(
            assay.load_model(lambda texts: [[0.1, 0.9]] * len(texts), labels=["a", "b"]), TEXT, "self_ranking"
        )


@pytest.mark.parametrize("family", MAKE)
def test_words_are_written_as_in_a_list(family):
    """The tokens of an item are those that the tokenizer gives the list itself."""
    tokenizer = MAKE[family][0]()
    listed = tokenizer("a, good, bad", add_special_tokens=False)["input_ids"]
    parts = [continuation(tokenizer, "", "a")]
    for word in ("good", "bad"):
        parts += [continuation(tokenizer, "a", ","), continuation(tokenizer, ",", f" {word}")]
    assert [t for part in parts for t in part] == listed
