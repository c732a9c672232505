"""Units point at the right characters, for every kind of tokenizer and every script."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

import assay
import toys
from assay import Example, InputError, SpecError, UnsupportedError
from assay.masking.units import divide, pad_unseen, to_units
from assay.models.encode import TextEncoder
from assay.models.encoding import SPECIAL, Encoding, Span

CACHE = Path.home() / ".cache/assay-models/hf"
REAL = [
    "bert-tiny-toxicity",
    "distilbert-cased-quire-grammar",
    "granite-embedding-30m-english",
    "smollm2-135m-instruct",
    "flan-t5-small-traceforge",
    "stories15M",
]
WORDS = {
    "arabic": ["هذا", "فيلم", "جميل", "جدا", ".", "هل", "أعجبك", "؟", "نعم"],
    "hebrew": ["שָׁלוֹם", "עולם", ",", "הסרט", "טוב"],
    "persian": ["من", "می‌خواهم", "این", "فیلم", "را", "ببینم"],
    "hindi": ["यह", "हिन्दी", "फ़िल्म", "अच्छी", "है", "।", "बहुत", "अच्छी"],
    "chinese": ["这", "部", "电", "影", "很", "好", "看", "。", "我", "喜", "欢", "它", "！"],
    "korean": ["이", "영화는", "정말", "좋았어요", "."],
    "emoji": ["loved", "it", "👨‍👩‍👧‍👦", "👍🏽", "👍", "❤️", "🇩🇪", "🇫🇷", "1️⃣", "ok", "😀", "😀"],
    "combining": ["un", "cafe\u0301", "tre\u0300s", "naïve", ",", "Zu\u0308rich", "e\u0301t\u0323e\u0301"],
    "mixed": ["a", "tab", "here", ",", "new", "line", "and", "spaces"],
}
SENTENCES = {
    "arabic": ["هذا فيلم جميل جدا.", "هل أعجبك؟", "نعم"],
    "hindi": ["यह हिन्दी फ़िल्म अच्छी है।", "बहुत अच्छी"],
    "chinese": ["这部电影很好看。", "我喜欢它！"],
    "mixed": ["a  tab\there,", "new line", "and   spaces"],
}

unknown = pytest.mark.filterwarnings("ignore:the tokenizer does not know any character")


@pytest.fixture(scope="module", params=[*toys.TOKENIZERS, *REAL])
def tokenizer(request):
    if request.param in toys.TOKENIZERS:
        return toys.TOKENIZERS[request.param]()
    if not (CACHE / request.param).is_dir():
        pytest.skip(f"no {request.param} on this machine; run ../shared/models/get_models.sh")
    return AutoTokenizer.from_pretrained(CACHE / request.param)


def divided(tokenizer, text, kind="token", pair=None, scope=None, limit=512, causal=False):
    return divide(TextEncoder(tokenizer, limit, causal=causal)(Example(text, pair)), kind, scope)


def texts(encoding):
    return [unit.text for unit in encoding.units]


def check(encoding):
    """What holds for any text, tokenizer and kind of unit."""
    sources = [encoding.example.text, encoding.example.text_pair or ""]
    for unit in encoding.units:
        assert unit.text == sources[unit.segment][unit.start : unit.end]
        assert unit.text == unit.text.strip() != ""
    seen = [u for u in encoding.units if u.seen]
    assert list(encoding.units) == seen + [u for u in encoding.units if not u.seen]  # players first
    assert encoding.players == len(seen)
    order = [(u.segment, u.start, u.end) for u in seen]
    assert order == sorted(order)
    assert all(a[0] < b[0] or a[2] <= b[1] for a, b in pairwise(order))  # no overlap
    assert len(encoding.unit_of) == len(encoding)
    for span, owner in zip(encoding.spans, encoding.unit_of, strict=True):
        assert (owner < 0) == (span == SPECIAL)
        token = "" if span == SPECIAL else sources[span.segment][span.start : span.end]
        if token.strip():  # a token lies inside its unit but for white space
            unit = encoding.units[owner]
            assert unit.segment == span.segment
            assert unit.start <= span.start + len(token) - len(token.lstrip())
            assert span.start + len(token.rstrip()) <= unit.end
    assert set(encoding.unit_of.tolist()) - {-1} == set(range(encoding.players))


@unknown
@pytest.mark.parametrize("script", toys.SCRIPTS)
@pytest.mark.parametrize("kind", ["token", "word", "sentence"])
def test_spans_cut_the_units_out_of_the_text(tokenizer, script, kind):
    encoding = divided(tokenizer, toys.SCRIPTS[script], kind)
    check(encoding)
    pair = divided(tokenizer, toys.SCRIPTS[script], kind, pair=toys.SCRIPTS["mixed"])
    check(pair)
    assert texts(pair)[: len(encoding.units)] == texts(encoding)
    assert {u.segment for u in pair.units} == {0, 1}


@pytest.mark.parametrize("script", toys.SCRIPTS)
def test_byte_tokens_cover_every_visible_character(script):
    text = toys.SCRIPTS[script]
    for kind in ("token", "word", "sentence"):
        covered = set()
        for unit in divided(toys.byte_bpe(), text, kind).units:
            covered |= set(range(unit.start, unit.end))
        assert {i for i, c in enumerate(text) if not c.isspace()} <= covered


@pytest.mark.parametrize("script", WORDS)
@pytest.mark.parametrize("name", ["byte_bpe", "wordpiece"])
def test_words(script, name):
    """Words as people see them: marks, joiners, skin tones and flags stay with what they belong to."""
    found = texts(divided(toys.TOKENIZERS[name](), toys.SCRIPTS[script], "word"))
    if (script, name) == ("emoji", "wordpiece"):  # BERT joins neighbouring emoji into one unknown token: one unit
        assert found == ["loved", "it", "👨‍👩‍👧‍👦", "👍🏽👍", "❤️", "🇩🇪🇫🇷", "1️⃣", "ok😀😀"]
    else:
        assert found == WORDS[script]


@unknown
def test_no_word_begins_inside_a_character(tokenizer):
    """Not with a combining mark, a joiner or a skin tone: whatever the tokenizer does."""
    for text in toys.SCRIPTS.values():
        for unit in divided(tokenizer, text, "word").units:
            first = unit.text[0]
            assert unicodedata.category(first)[0] != "M"
            assert first not in "\u200c\u200d\ufe0f"
            assert not "\U0001f3fb" <= first <= "\U0001f3ff"


@pytest.mark.parametrize("script", SENTENCES)
def test_sentences(script):
    assert texts(divided(toys.byte_bpe(), toys.SCRIPTS[script], "sentence")) == SENTENCES[script]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." Then left...', ['He said "no."', "Then left..."]),
        ("3.5 is a number", ["3.5 is a number"]),
        ("line one\nline two", ["line one", "line two"]),
        ("  spaced.  ", ["spaced."]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
    ],
)
def test_where_sentences_end(text, sentences):
    assert texts(divided(toys.byte_bpe(), text, "sentence")) == sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't it’s e-mail", ["don't", "it’s", "e", "-", "mail"]),
        ("a,b", ["a", ",", "b"]),
        ("snake_case x2", ["snake_case", "x2"]),
        ("!!", ["!", "!"]),
    ],
)
def test_where_words_end(text, words):
    found = texts(divided(toys.metaspace(), text, "word"))
    assert found == words


def test_pieces_of_a_word_are_its_tokens():
    encoding = divided(toys.wordpiece(), "accomplishes confidence", "token")
    assert texts(encoding) == ["accom", "plish", "es", "confi", "dence"]
    words = divided(toys.wordpiece(), "accomplishes confidence", "word")
    assert texts(words) == ["accomplishes", "confidence"]
    assert words.unit_of.tolist() == [-1, 0, 0, 0, 1, 1, -1]


def test_tokens_of_one_character_are_one_unit():
    encoding = divided(toys.byte_bpe(), "a 😀 b", "token")
    assert texts(encoding) == ["a", "😀", "b"]
    assert encoding.unit_of.tolist().count(1) >= 4  # four bytes


def test_white_space_goes_with_what_follows():
    encoding = divided(toys.byte_bpe(), "\n\n good \t film  \n", "token")
    check(encoding)
    assert encoding.unit_of[0] == 0  # the new lines, with the first word
    assert encoding.unit_of[-1] == encoding.players - 1  # at the end, with the last word
    text, spans, owner = encoding.example.text, encoding.spans, encoding.unit_of.tolist()
    blank = [i for i, s in enumerate(spans) if not text[s.start : s.end].strip()]
    between = [i for i in blank if text.index("good") < spans[i].start < text.index("film")]
    assert between
    assert all(owner[i] == owner[i + 1] for i in between)
    assert "".join(texts(encoding)) == "goodfilm"


def test_special_tokens_written_in_the_text_are_text():
    encoding = divided(toys.wordpiece(), "a [MASK] film [SEP]", "token")
    check(encoding)
    assert texts(encoding) == ["a", "[MASK]", "film", "[SEP]"]


# --- pairs, scope, truncation ---------------------------------------------------------------------------------------


def test_scope_makes_the_rest_context():
    both = divided(toys.wordpiece(), "a film", pair="a bad plot")
    first = divided(toys.wordpiece(), "a film", pair="a bad plot", scope="text")
    second = divided(toys.wordpiece(), "a film", pair="a bad plot", scope=1)
    assert texts(both) == ["a", "film", "a", "bad", "plot"]
    assert texts(first) == ["a", "film"]
    assert texts(second) == ["a", "bad", "plot"]
    assert second.unit_of.tolist() == [-1, -1, -1, -1, 0, 1, 2, -1]
    assert np.array_equal(second.ids, both.ids)
    assert divided(toys.wordpiece(), "a film", pair="a bad plot", scope="text_pair").units == second.units


def test_a_causal_pair_is_joined_by_the_end_token():
    encoding = divided(toys.byte_bpe(), "a film", pair="bad plot", causal=True)
    check(encoding)
    end = toys.byte_bpe().eos_token_id
    (place,) = np.flatnonzero(encoding.ids == end)
    assert encoding.spans[place] == SPECIAL
    assert encoding.readout == len(encoding) - 1
    assert [u.segment for u in encoding.units] == sorted(u.segment for u in encoding.units)


@pytest.mark.parametrize("kind", ["token", "word"])
def test_truncation_marks_what_was_not_read(tokenizer, kind):
    text = "a modest pleasure that accomplishes its goals with ease and confidence and more"
    with pytest.warns(UserWarning, match=r"longer than the model's 9 positions: \d+ tokens were not read.*seen=False"):
        encoding = divided(tokenizer, text, kind, limit=9)
    whole = divided(tokenizer, text, kind)
    assert len(encoding) == 9 < len(whole)
    check(encoding)
    assert texts(encoding) == texts(whole)  # nothing is lost from view
    assert [u.seen for u in encoding.units] == [i < encoding.players for i in range(len(encoding.units))]
    assert 0 < encoding.players < len(encoding.units)


@pytest.mark.parametrize("causal", [True, False])
def test_truncation_of_a_pair_cuts_the_longer_first(causal):
    tokenizer = toys.byte_bpe() if causal else toys.wordpiece()
    with pytest.warns(UserWarning, match="not read"):
        encoding = divided(tokenizer, "a " * 30 + "film", pair="bad plot", limit=12, causal=causal)
    check(encoding)
    assert len(encoding) == 12
    late = [u for u in encoding.units if not u.seen]
    assert late
    assert {u.segment for u in late} == {0}
    assert "".join(u.text for u in encoding.units if u.segment == 1 and u.seen) == "badplot"


def test_unseen_units_score_zero_end_to_end():
    model = toys.bert(positions=10)
    text = "a modest pleasure that accomplishes its goals with ease and confidence"
    for method in (
        "occlusion",
        "integrated_gradients(steps=4)",
        "kernel_shap(samples=600)",
        "average_attention",
        "random",
    ):
        with pytest.warns(UserWarning, match="longer than the model's 10 positions"):
            a = assay.explain(model, text, method)
        late = [score for unit, score in zip(a.units, a.scores, strict=True) if not unit.seen]
        assert late
        assert set(late) == {0.0}
        assert np.abs(a.scores[: len(a) - len(late)]).min() > 0
        assert a.units[-1].text == "dence"


# --- reductions -----------------------------------------------------------------------------------------------------


def test_sums_and_norms_within_units():
    spans = (SPECIAL, Span(0, 0, 2), Span(0, 2, 4), Span(0, 5, 6), SPECIAL)
    ids = np.zeros(5, np.int64)
    encoding = divide(Encoding(Example("abcd e"), ids, ids, ids, spans), "word")
    unit_of = torch.from_numpy(encoding.unit_of)[None]
    assert unit_of.tolist() == [[-1, 0, 0, 1, -1]]
    scores = torch.tensor([[100.0, 1.0, -3.0, 4.0, 100.0]])
    assert to_units(scores, [encoding], unit_of)[0].tolist() == [-2.0, 4.0]
    vectors = torch.zeros(1, 5, 2)
    vectors[0, 1:4] = torch.tensor([[3.0, 1.0], [0.0, 3.0], [5.0, 12.0]])
    assert to_units(vectors, [encoding], unit_of)[0].tolist() == [5.0, 13.0]  # the norm of (3, 4), not 3.16 + 3


def test_a_batch_of_different_lengths():
    short, long = divided(toys.wordpiece(), "a film"), divided(toys.wordpiece(), "a bad plot is sad")
    unit_of = torch.full((2, len(long)), -1)
    unit_of[0, : len(short)], unit_of[1] = torch.from_numpy(short.unit_of), torch.from_numpy(long.unit_of)
    scores = torch.arange(2 * len(long)).view(2, -1).float()
    first, second = to_units(scores, [short, long], unit_of)
    assert first.tolist() == [1, 2]
    assert second.tolist() == [8, 9, 10, 11, 12]
    assert first.dtype == np.float32


def test_unseen_units_are_padded_with_zeros():
    with pytest.warns(UserWarning, match="not read"):
        encoding = divided(toys.wordpiece(), "a bad plot is sad", limit=4)
    assert pad_unseen(np.array([1.5, 2.5]), encoding).tolist() == [1.5, 2.5, 0, 0, 0]


# --- what cannot be ---------------------------------------------------------------------------------------------------


def test_refusals():
    encoding = TextEncoder(toys.wordpiece(), 64)(Example("a film"))
    with pytest.raises(SpecError, match="unknown unit 'wrod'; did you mean 'word'"):
        divide(encoding, "wrod")
    with pytest.raises(UnsupportedError, match="a text has no patches; use token, word or sentence"):
        divide(encoding, "patch")
    with pytest.raises(SpecError, match=r"unknown scope 'pair'; allowed: text \(0\), text_pair \(1\)"):
        divide(encoding, "token", "pair")
    with pytest.raises(SpecError, match="unknown scope 2"):
        divide(encoding, "token", 2)
    with pytest.raises(InputError, match="nothing to explain in scope 'text_pair'"):
        divide(encoding, "token", "text_pair")
    with pytest.raises(InputError, match="nothing to explain: the tokenizer gives no tokens; give at least one word"):
        divide(TextEncoder(toys.wordpiece(), 64)(Example("\u200b\u200b")), "token")


def test_unknown_characters_are_still_units():
    """Only unknown characters: one [UNK], which can be removed like any other token."""
    with pytest.warns(UserWarning, match="does not know any character of 1 input; scores there mean little"):
        encoding = divided(toys.wordpiece(), "𓀀𓀁 𓁐", "token")
    assert texts(encoding) == ["𓀀𓀁", "𓁐"]
    assert set(encoding.ids[1:-1].tolist()) == {toys.wordpiece().unk_token_id}
