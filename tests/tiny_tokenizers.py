"""Tokenizers of every family, built offline from a small corpus; as the real ones, some lack mask, pad or unk."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers import models as algorithms
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "a modest pleasure that accomplishes its goals with ease and confidence",
    "the film is bright and funny but never finds its way home",
    "an old sailor tells a slow story about the cold green sea",
    "nobody in the village knew why the river had turned so quiet",
    "the plot is thin, the actors are good and the music is bad",
    "rain fell on the roofs while the children slept and dreamt of summer",
    "Review: the soup was good. Sentiment: good",
    "Review: the bread was bad. Sentiment: bad",
    "Is it good or bad? It is not bad, it is rather good.",
]


def _trained(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def _wrapped(tokenizer: Tokenizer, *, types: bool = False, **special: Any) -> Any:
    names = ["input_ids", *(["token_type_ids"] if types else []), "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=names, **special)


def _template(tokenizer: Tokenizer, single: str, pair: str, *tokens: str) -> None:
    ids = [(token, tokenizer.token_to_id(token)) for token in tokens]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)


def _pieces() -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Whole words of the corpus, words in two pieces, and characters: the vocabulary of WordPiece and Unigram.

    Not trained: those trainers break ties by hash order, so the tokens would differ between runs.
    """
    words = sorted({word for text in CORPUS for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    split = [word for i, word in enumerate(words) if i % 4 == 0 and len(word) > 4]
    return [w for w in words if w not in split], [(w[:3], w[3:]) for w in split], sorted(set("".join(words)))


def _wordpiece(special: list[str], unknown: str) -> Tokenizer:
    whole, halves, characters = _pieces()
    parts = [a for a, _ in halves] + [f"##{b}" for _, b in halves] + characters + [f"##{c}" for c in characters]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(special + whole + parts))}
    tokenizer = Tokenizer(algorithms.WordPiece(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _unigram(special: list[str], unknown: str) -> Tokenizer:
    whole, halves, characters = _pieces()
    likely = [f"▁{w}" for w in whole] + [f"▁{a}" for a, _ in halves] + [b for _, b in halves]
    scores = {**dict.fromkeys(special, 0.0), **dict.fromkeys([*characters, "▁"], -9.0), **dict.fromkeys(likely, -4.0)}
    tokenizer = Tokenizer(algorithms.Unigram(list(scores.items()), unk_id=special.index(unknown)))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


@cache
def wordpiece(*, types: bool = True, limit: int = 1_000_000) -> Any:
    """As BERT's: [CLS] a [SEP] b [SEP] with token types."""
    tokenizer = _wordpiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "[UNK]")
    _template(tokenizer, "[CLS] $A [SEP]", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS]", "[SEP]")
    return _wrapped(
        tokenizer,
        types=types,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=limit,
    )


ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def _roberta_like(tokenizer: Tokenizer) -> Any:
    """<s> a </s></s> b </s>, all token types 0."""
    _template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B:0 </s>", "<s>", "</s>")
    return _wrapped(
        tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True),
    )


def _byte_level(special: list[str], *, prefix_space: bool = False, size: int = 420) -> Tokenizer:
    tokenizer = Tokenizer(algorithms.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    return _trained(tokenizer, trainer)


@cache
def roberta_tokenizer() -> Any:
    return _roberta_like(_byte_level(ROBERTA))


@cache
def xlm_roberta_tokenizer() -> Any:
    return _roberta_like(_unigram(ROBERTA, "<unk>"))


@cache
def mpnet_tokenizer() -> Any:
    """BERT's pieces between RoBERTa's special tokens."""
    return _roberta_like(_wordpiece(ROBERTA, "<unk>"))


@cache
def deberta_tokenizer() -> Any:
    tokenizer = _unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]")
    _template(tokenizer, "[CLS] $A [SEP]", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS]", "[SEP]")
    names = {f"{n.lower()}_token": f"[{n}]" for n in ("PAD", "CLS", "SEP", "UNK", "MASK")}
    return _wrapped(tokenizer, types=True, **names)


@cache
def gpt2_tokenizer() -> Any:
    """One special token, also the unknown token; no pad, no mask, nothing added to a text."""
    end = "<|endoftext|>"
    tokenizer = _byte_level([end])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return _wrapped(tokenizer, bos_token=end, eos_token=end, unk_token=end)


@cache
def llama_tokenizer() -> Any:
    """As Llama 3's: a begin token, no unknown and no pad token."""
    tokenizer = _byte_level(["<|begin_of_text|>", "<|end_of_text|>"])
    _template(
        tokenizer,
        "<|begin_of_text|> $A",
        "<|begin_of_text|> $A <|begin_of_text|> $B",
        "<|begin_of_text|>",
        "<|end_of_text|>",
    )
    return _wrapped(tokenizer, bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>")


@cache
def mistral_tokenizer() -> Any:
    """SentencePiece BPE with a begin token and an unknown token, no pad token."""
    tokenizer = Tokenizer(algorithms.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    _trained(tokenizer, trainers.BpeTrainer(vocab_size=170, special_tokens=special, show_progress=False))
    _template(tokenizer, "<s> $A", "<s> $A <s> $B", "<s>")
    return _wrapped(tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


@cache
def t5_tokenizer() -> Any:
    tokenizer = _unigram(["<pad>", "</s>", "<unk>"], "<unk>")
    _template(tokenizer, "$A </s>", "$A </s> $B:0 </s>", "</s>")
    return _wrapped(tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
