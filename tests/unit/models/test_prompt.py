"""Prompts: what fills the slot is scored and removed, the template never; label words are what really comes next."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import assay
import toys
from assay import Example, InputError, ModelError
from assay.masking.game import Game
from assay.masking.removal import REMOVALS
from assay.masking.units import divide
from assay.models.chat import filled_in
from assay.models.encoding import SPECIAL
from assay.models.load import load_model
from assay.models.prompt import Prompt, label_tokens
from tiny_tokenizers import llama_tokenizer

REVIEW = "Review: {text}\nSentiment:"
LABELS = {"negative": " negative", "positive": " positive"}


def tokens(prompt, text, pair=None, limit=500, tokenizer=None):
    """Ids, spans, prefix, unseen, and the text that each slot token stands for."""
    tokenizer = tokenizer or toys.byte_bpe()
    ids, spans, prefix, unseen = prompt.tokens(tokenizer, Example(text, pair), limit)
    sources = {0: text, 1: pair}
    slot = [sources[s.segment][s.start : s.end] for s in spans if s != SPECIAL]
    return ids, spans, prefix, unseen, slot


@pytest.mark.parametrize(
    "template", ["no slot", "{text} {text}", "{review}", "{text} {other}", "{}", "{text} {text_pair} {text_pair}"]
)
def test_slots(template):
    with pytest.raises(ModelError, match=r"it needs \{text\} exactly once and may have \{text_pair\}"):
        Prompt(template)


def test_the_slot_and_only_the_slot_has_spans():
    tokenizer = toys.byte_bpe()
    ids, spans, _, unseen, slot = tokens(Prompt(REVIEW), "the film is good")
    assert tokenizer.decode(ids) == "Review: the film is good\nSentiment:"
    assert ids == tokenizer("Review: the film is good\nSentiment:")["input_ids"]  # as the model would see it
    assert unseen == ()
    assert "".join(slot).replace(" ", "") == "thefilmisgood"
    inside = [i for i, span in enumerate(spans) if span != SPECIAL]
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert tokenizer.decode(ids[: inside[0]]).strip() == "Review:"


def test_pairs():
    prompt = Prompt("Premise: {text}\nHypothesis: {text_pair}\nAnswer:")
    ids, spans, _, _, slot = tokens(prompt, "a film", "bad plot")
    assert toys.byte_bpe().decode(ids) == "Premise: a film\nHypothesis: bad plot\nAnswer:"
    assert "".join(slot).replace(" ", "") == "afilmbadplot"
    assert {s.segment for s in spans} == {-1, 0, 1}
    other = Prompt("{text_pair} then {text}:")
    ids, spans, _, _, _ = tokens(other, "a film", "bad plot")
    assert toys.byte_bpe().decode(ids) == "bad plot then a film:"
    assert next(s.segment for s in spans if s != SPECIAL) == 1


def test_a_pair_fits_the_prompt_or_is_refused():
    with pytest.raises(InputError, match="this prompt needs a pair of texts"):
        tokens(Prompt("{text} {text_pair}"), "a film")
    with pytest.raises(InputError, match=r"this prompt needs one text: it has no \{text_pair\}"):
        tokens(Prompt(REVIEW), "a film", "silently dropped otherwise")


def test_few_shot_examples():
    prompt = Prompt(REVIEW, (("so good", " positive"), ("so bad", " negative")))
    ids, _, prefix, _, slot = tokens(prompt, "so slow")
    expected = (
        "Review: so good\nSentiment: positive\n\nReview: so bad\nSentiment: negative\n\nReview: so slow\nSentiment:"
    )
    assert toys.byte_bpe().decode(ids) == expected
    assert "".join(slot).replace(" ", "") == "soslow"  # of the shots nothing is scored
    assert prefix > 20
    pairs = Prompt("{text} | {text_pair} =", ((("a", "b"), " yes"),), separator=" ; ")
    assert toys.byte_bpe().decode(tokens(pairs, "c", "d")[0]) == "a | b = yes ; c | d ="


def test_few_shot_examples_must_fit():
    with pytest.raises(ModelError, match="few-shot examples do not fit the prompt, whose inputs are pairs"):
        Prompt("{text} | {text_pair} =", (("a", " yes"),))
    with pytest.raises(ModelError, match="whose inputs are single texts"):
        Prompt(REVIEW, ((("a", "b"), " yes"),))


def test_doubled_braces_are_literal():
    prompt = Prompt('{{"review": "{text}"}} ->', (("x", " y"),))
    assert toys.byte_bpe().decode(tokens(prompt, "a film")[0]) == '{"review": "x"} -> y\n\n{"review": "a film"} ->'
    assert [segment for segment, _ in prompt.pieces(Example("a"))] == [-1, 0, -1]
    assert "".join(slot for slot in tokens(prompt, "a {film}")[4]).strip() == "a {film}"


# --- straddling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", toys.TOKENIZERS)
@pytest.mark.parametrize(
    "template", ["Re{text}", "({text})", "a{text}s:", "good{text}bad", "Review:{text}\n\nSay:", "{text}"]
)
@pytest.mark.parametrize("text", ["view", "film", "s film.", " spaced ", "\n\nlines\n\n", "😀é中", ".", "good"])
def test_no_token_straddles_the_slot(name, template, text):
    """Every token is the template's or the slot's; the slot's cover its text, and the whole still says the same."""
    tokenizer = toys.TOKENIZERS[name]()
    ids, spans, *_ = tokens(Prompt(template), text, tokenizer=tokenizer)
    covered = {i for s in spans if s != SPECIAL for i in range(s.start, s.end)}
    assert {i for i, c in enumerate(text) if not c.isspace()} <= covered
    for token, span in zip(ids, spans, strict=True):
        shown = tokenizer.decode([token]).strip()
        if span == SPECIAL or "bpe" not in name or "\ufffd" in shown:
            continue
        assert shown in text
    if "bpe" in name:
        assert tokenizer.decode(ids) == template.replace("{text}", text)
    outside = [token for token, span in zip(ids, spans, strict=True) if span == SPECIAL]
    if "bpe" in name:  # what is left without the slot is the template
        assert "".join(tokenizer.decode(outside).split()) == "".join(template.replace("{text}", "").split())


def test_white_space_inside_the_slot_is_the_slots():
    _, spans, _, _, _ = tokens(Prompt("Review:{text} Sentiment:"), "good\n\n\n\nfilm")
    inside = [i for i, s in enumerate(spans) if s != SPECIAL]
    assert inside == list(range(inside[0], inside[-1] + 1))  # no hole where the lines are


# --- the constant prefix ------------------------------------------------------------------------------------------


def prompted(template=REVIEW, tokenizer=None):
    pair = (toys.gpt2_hf(lm=True), tokenizer or toys.byte_bpe())
    return load_model(pair, prompt=Prompt(template), labels=LABELS)


TWO = pytest.mark.parametrize("tokenizer", [toys.byte_bpe, toys.greedy_bpe])


@TWO
def test_the_prefix_is_the_same_for_every_input(tokenizer):
    """Also for inputs that begin with white space, which may change how the template's end is cut."""
    prompt = Prompt("Here is a film review, please read it:\n{text}\nSentiment:")
    texts = ["good", "\n\ngood", "\n good", " \tgood", "...", ": good", "\n\n\n\nbad", "😀"]
    found = [tokens(prompt, text, tokenizer=tokenizer())[:3] for text in texts]
    shortest = min(prefix for _, _, prefix in found)
    assert shortest >= 8
    for ids, spans, prefix in found:
        assert all(span == SPECIAL for span in spans[:prefix])
        assert ids[:shortest] == found[0][0][:shortest]


@TWO
def test_the_cached_prefix_changes_no_number(tokenizer):
    """Batched through the cache = each alone without it, whatever the inputs begin with."""
    model = prompted("Here is a film review, please read it:\n{text}\nSentiment:", tokenizer())
    texts = ["good film", "\n\nbad film", "\t a  slow film", "it is not good", "so", "\n \nsad"]
    encodings = [divide(model.encode(Example(text))) for text in texts]
    assert all(e.prefix >= 8 for e in encodings)
    full = Game(model, encodings, REMOVALS.make("zero"), 4096).full()  # zero has weights: no cache
    cached = Game(model, encodings, REMOVALS.make("pad"), 4096).full()
    assert np.allclose(full, cached, atol=1e-4)
    for text, row in zip(texts, cached, strict=True):
        ids = torch.from_numpy(model.encode(Example(text)).ids)[None]
        with torch.no_grad():
            logits = model.hf(ids).logits[0, -1]
        truth = logits[[model.tokenizer(word)["input_ids"][0] for word in LABELS.values()]]
        assert np.allclose(row, truth, atol=1e-4)


# --- length -------------------------------------------------------------------------------------------------------


def test_only_the_slot_is_cut():
    prompt = Prompt(REVIEW)
    whole = tokens(prompt, "a film " * 20)
    ids, spans, _, unseen, _ = tokens(prompt, "a film " * 20, limit=30)
    assert len(ids) == 30
    assert len(unseen) == len(whole[0]) - 30
    outside = [i for i, s in zip(ids, spans, strict=True) if s == SPECIAL]
    assert outside == [i for i, s in zip(whole[0], whole[1], strict=True) if s == SPECIAL]
    assert max(s.end for s in spans) <= min(s.start for s in unseen) + 1
    room = len(whole[0]) - sum(s != SPECIAL for s in whole[1])
    for limit in (1, room - 1, room):
        with pytest.raises(InputError, match=f"leaves no room for the text in the model's {limit} positions; shorten"):
            tokens(prompt, "a film", limit=limit)
    assert len(tokens(prompt, "a film", limit=room + 1)[0]) == room + 1


# --- label words --------------------------------------------------------------------------------------------------


def test_label_words_are_the_next_token():
    tokenizer = toys.byte_bpe()
    found = label_tokens(tokenizer, Prompt(REVIEW), LABELS)
    assert [tokenizer.decode([t]) for t in found] == [" negative", " positive"]


def test_label_words_that_melt():
    """After a space the space belongs to the word, so "positive" alone is another token than the one that comes."""
    with pytest.raises(ModelError, match=r"'positive' merges with the end of the prompt.*begin the word with one"):
        label_tokens(toys.byte_bpe(), Prompt("Review: {text}\nSentiment: "), {"positive": "positive", "b": " bad"})
    with pytest.raises(ModelError, match="'positive!!!' merges"):  # more tokens than the prompt alone, but other ones
        label_tokens(toys.byte_bpe(), Prompt("Sentiment of {text}: "), {"positive": "positive!!!", "b": " bad"})
    with pytest.raises(ModelError, match="merges"):
        label_tokens(toys.byte_bpe(), Prompt(REVIEW), {"nothing": ""})


def test_label_words_with_the_same_first_token():
    words = {"one": " positive", "two": " positive!"}
    with (
        pytest.warns(UserWarning, match="' positive!' has 2 tokens; only the first, ' positive', is scored"),
        pytest.raises(ModelError, match=r"two labels begin with the same token.*choose other words"),
    ):
        label_tokens(toys.byte_bpe(), Prompt(REVIEW), words)


def test_label_words_of_several_tokens_warn():
    with pytest.warns(UserWarning, match=r"label 'x': ' pozzo' has \d+ tokens; only the first, ' po', is scored"):
        label_tokens(toys.byte_bpe(), Prompt(REVIEW), {"x": " pozzo", "good": " good"})


def test_a_prompt_needs_labels():
    with pytest.raises(ModelError, match=r"a prompt needs labels="):
        load_model((toys.gpt2_hf(lm=True), toys.byte_bpe()), prompt=REVIEW)


# --- end to end ---------------------------------------------------------------------------------------------------


def test_explained_end_to_end():
    """Only the slot is attributed; occlusion is the drop of the label's share among the label words."""
    model = prompted()
    a = assay.explain(model, "the film is good", "occlusion", target="positive", removal="pad", units="word")
    assert [u.text for u in a.units] == ["the", "film", "is", "good"]
    words = [model.tokenizer(word)["input_ids"][0] for word in LABELS.values()]
    ids = model.tokenizer("Review: the film is good\nSentiment:")["input_ids"]
    spans = model.encode(Example("the film is good")).spans

    def probability(gone):
        kept = [
            model.tokenizer.pad_token_id if s != SPECIAL and s.start >= gone[0] and s.end <= gone[1] else t
            for t, s in zip(ids, spans, strict=True)
        ]
        with torch.no_grad():
            return model.hf(torch.tensor([kept])).logits[0, -1, words].softmax(-1)[1].item()

    assert np.isclose(a.value_full, probability((0, 0)), atol=1e-6)
    truth = [probability((0, 0)) - probability((max(0, u.start - 1), u.end)) for u in a.units]
    assert np.allclose(a.scores, truth, atol=1e-5)


CHATML = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


@pytest.mark.parametrize(
    "prompt", ["chat: Good or {{bad}}? {text}", [{"role": "user", "content": "Good or {{bad}}? {text}"}]]
)
def test_a_chat_prompt_is_filled_into_the_model_s_template(prompt):
    tokenizer = llama_tokenizer()
    tokenizer.chat_template = CHATML
    filled = filled_in(prompt, tokenizer)
    assert filled == Prompt("<|user|>\nGood or {{bad}}? {text}\n<|assistant|>\n")
    ids, spans, _, _ = filled.tokens(tokenizer, Example("rain fell"), 200)
    assert ids.count(tokenizer.bos_token_id) == 1
    assert "".join("rain fell"[s.start : s.end] for s in spans if s.segment == 0).replace(" ", "") == "rainfell"


def test_a_chat_template_that_refuses_a_role_is_a_sentence():
    tokenizer = llama_tokenizer()
    tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(ModelError, match="does not take these messages: roles must alternate"):
        filled_in("chat: {text}", tokenizer)
