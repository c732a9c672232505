"""A WordPiece tokenizer trained on the data, deterministic across processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from assay.core.errors import SpecError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")


def train_wordpiece(texts: Iterable[str], size: int, limit: int, *, causal: bool = False) -> PreTrainedTokenizerFast:
    """Learn a lower-case vocabulary of about `size` pieces. Encodes as [CLS] a [SEP] b [SEP]; causal: bare pieces.

    There are fewer pieces once every word that occurs twice is one, and more only if there are more characters. The
    end-of-text token of a causal tokenizer is [SEP], which separates the texts of a pair.
    """
    tokenizer = _wordpiece({})
    words = [word for text in texts for word in _words(tokenizer, text)]
    if not words:
        raise SpecError("the data contains no words to train a tokenizer on")
    tokenizer = _wordpiece(_learn_pieces(tokenizer, words, size))
    if not causal:
        ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ids
        )
    roles: dict[str, Any] = dict(zip(ROLES, SPECIAL, strict=True))
    more = {"eos_token": "[SEP]"} if causal else {}
    types = [] if causal else ["token_type_ids"]  # GPT-2 would add the embedding of token 0 to each
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=limit,
        model_input_names=["input_ids", *types, "attention_mask"],
        **roles,
        **more,
    )


def _wordpiece(pieces: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    normalised = tokenizer.normalizer.normalize_str(text)
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normalised)]


def _learn_pieces(tokenizer: Tokenizer, words: list[str], size: int) -> dict[str, int]:
    """Number the ##characters first: the trainer would number them in hash order and break ties by number."""
    characters = sorted({c for word in words for c in word})
    fixed = [*SPECIAL, *characters, *(f"##{c}" for c in characters)]  # so that no training word is unknown
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(size, len(fixed)), special_tokens=fixed, show_progress=False, min_frequency=2
    )
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    numbers = tokenizer.get_vocab()
    return {piece: i for i, piece in enumerate(sorted(numbers, key=numbers.__getitem__))}
