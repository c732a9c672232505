"""A word-level tokenizer built from the data, and word vectors from a file or a pretrained encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, PreTrainedTokenizerFast

from assay.core.errors import ModelError, SpecError
from assay.models.source import Source

Cut = Literal["words", "letters", "spaces"]
SPECIAL = ("[PAD]", "[CLS]", "[EOS]", "[MASK]", "[UNK]")  # in the order of the published vocabulary
Vectors = NDArray[np.float32]


def word_tokenizer(texts: Iterable[str], min_count: int, max_words: int | None, limit: int, cut: Cut) -> Any:
    """A lower-case tokenizer of words in at least `min_count` texts, by first occurrence: [CLS] a [EOS] [CLS] b [EOS].

    cut: "words" splits off punctuation marks, "letters" drops them, "spaces" splits at whitespace only.
    """
    splitter = _word_level({}, cut)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(list(dict.fromkeys(_words(splitter, text))))  # count texts, keep the order
    words = [word for word, count in counts.items() if count >= min_count]
    if not words:
        raise SpecError(f"no word occurs in {min_count} or more texts; lower min_count")
    if max_words is not None and max_words < len(words):
        frequent = set(sorted(words, key=lambda word: -counts[word])[:max_words])
        words = [word for word in words if word in frequent]
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    return _pretrained_tokenizer(_word_level(numbers, cut), limit)


def _word_level(numbers: dict[str, int], cut: Cut) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    spaces = pre_tokenizers.WhitespaceSplit()
    letters = pre_tokenizers.Split(Regex(r"\w+"), behavior="removed", invert=True)
    tokenizer.pre_tokenizer = {"spaces": spaces, "letters": letters, "words": pre_tokenizers.BertPreTokenizer()}[cut]
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]


def _pretrained_tokenizer(tokenizer: Tokenizer, limit: int) -> Any:
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[EOS]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [EOS]", pair="[CLS]:0 $A:0 [EOS]:0 [CLS]:1 $B:1 [EOS]:1", special_tokens=ids
    )
    roles: dict[str, Any] = dict(
        zip(("pad_token", "cls_token", "eos_token", "mask_token", "unk_token"), SPECIAL, strict=True)
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=limit, model_input_names=["input_ids", "attention_mask"], **roles
    )


# --- vectors -----------------------------------------------------------------------------------------------------


def word_vectors(source: str, words: Sequence[str], width: int | None) -> Vectors:
    """(V,D) word vectors; zeros for special tokens and unknown words, as in the paper.

    source: a text file of `word v1 v2 ...` lines (fastText, GloVe, word2vec), or the folder or hub id of a pretrained
    encoder, where a word gets the mean embedding of its pieces.
    """
    path = Path(source).expanduser()
    folder = str(path) if path.is_dir() else source  # otherwise a hub id
    vectors = _from_file(path, set(words) - set(SPECIAL)) if path.is_file() else _from_encoder(folder, words)
    widths = {len(vector) for vector in vectors.values()}
    if not widths:
        raise SpecError(f"{source} has no vectors for the words of the data; give another file")
    if len(widths) > 1:
        raise SpecError(f"{source} has vectors of different lengths ({sorted(widths)}); give a file with one length")
    if width is not None and widths != {width}:
        raise SpecError(f"width={width}, but the vectors of {source} have length {widths.pop()}; leave width out")
    zeros = np.zeros(widths.pop(), np.float32)
    return np.stack([vectors.get(word, zeros) for word in words]).astype(np.float32)


def _from_file(path: Path, wanted: set[str]) -> dict[str, Vectors]:
    vectors: dict[str, Vectors] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            word, _, rest = line.rstrip().partition(" ")
            if word in wanted and word not in vectors and rest.count(" "):  # a header has only two numbers
                vectors[word] = _parse_vector(rest, path, word)
    return vectors


def _parse_vector(text: str, path: Path, word: str) -> Vectors:
    try:
        return np.array(text.split(), np.float32)
    except ValueError as error:
        raise SpecError(f"{path}: the vector of {word!r} contains something that is not a number") from error


def _from_encoder(source: str, words: Sequence[str]) -> dict[str, Vectors]:
    encoder = Source(source)
    try:
        with encoder.readable_errors():
            tokenizer = encoder.tokenizer()
            hf, _ = encoder.open(AutoModel, encoder.config(), torch.float32)
    except ModelError as error:
        raise SpecError(f"embeddings={source!r} is neither a file of vectors nor a pretrained encoder") from error
    lookup: Any = hf.get_input_embeddings()
    table = lookup.weight.detach().float().cpu().numpy()
    pieces = {word: tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in words}
    unknown = tokenizer.unk_token_id
    return {w: table[p].mean(0) for w, p in pieces.items() if w not in SPECIAL and p and unknown not in p}
