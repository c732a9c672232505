"""A vocabulary of whole words built from the data, and vectors for it: from a file, a pretrained table, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast

from assay.core.errors import SpecError
from assay.models import hooks
from assay.training.pretrained import silent

Cut = Literal["words", "letters", "spaces"]
SPECIAL = ("[PAD]", "[CLS]", "[EOS]", "[MASK]", "[UNK]")  # in the order of the published vocabulary
Vectors = NDArray[np.float32]


def word_tokenizer(texts: Iterable[str], min_count: int, most: int | None, limit: int, cut: Cut) -> Any:
    """Words by first occurrence that are in at least `min_count` texts, lower case: [CLS] a [EOS], [CLS] b [EOS].

    cut: "words" are letters or single marks, "letters" drops the marks, "spaces" cuts at white space alone.
    """
    bare = _bare({}, cut)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(list(dict.fromkeys(_words(bare, text))))  # each once per text, in order
    kept = [word for word, count in counts.items() if count >= min_count]
    if not kept:
        raise SpecError(f"no word is in {min_count} or more of the texts; lower min_count")
    if most is not None and most < len(kept):
        often = set(sorted(kept, key=lambda word: -counts[word])[:most])
        kept = [word for word in kept if word in often]
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*SPECIAL, *kept)))}
    return _wrapped(_bare(numbers, cut), limit)


def _bare(numbers: dict[str, int], cut: Cut) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    spaces = pre_tokenizers.WhitespaceSplit()
    letters = pre_tokenizers.Split(Regex(r"\w+"), behavior="removed", invert=True)
    tokenizer.pre_tokenizer = {"spaces": spaces, "letters": letters, "words": pre_tokenizers.BertPreTokenizer()}[cut]
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]


def _wrapped(tokenizer: Tokenizer, limit: int) -> Any:
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
    """(V,D) vectors of the words: special symbols and words that the source does not know have zeros (the paper).

    source: a text file of `word v1 v2 ...` lines (fastText, GloVe, word2vec), or the folder or hub id of a pretrained
    encoder, in whose table a word has the mean of the rows of its pieces.
    """
    path = Path(source).expanduser()
    folder = str(path) if path.is_dir() else source  # else a hub id
    found = _from_file(path, set(words) - set(SPECIAL)) if path.is_file() else _from_table(folder, words)
    wide = {len(vector) for vector in found.values()}
    if len(wide) != 1:
        raise SpecError(f"{source}: vectors of {sorted(wide) or 'no'} lengths for these words; give a file with one")
    if width is not None and wide != {width}:
        raise SpecError(f"width={width}, but the vectors of {source} are {wide.pop()} wide; leave width out")
    zeros = np.zeros(wide.pop(), np.float32)
    return np.stack([found.get(word, zeros) for word in words]).astype(np.float32)


def _from_file(path: Path, wanted: set[str]) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            word, _, rest = line.rstrip().partition(" ")
            if word in wanted and word not in found and rest.count(" "):  # a header has two numbers alone
                found[word] = _numbers(rest, path, word)
    return found


def _numbers(text: str, path: Path, word: str) -> Vectors:
    try:
        return np.array(text.split(), np.float32)
    except ValueError as error:
        raise SpecError(f"{path}: the line of {word!r} holds something that is no number") from error


def _from_table(source: str, words: Sequence[str]) -> dict[str, Vectors]:
    try:
        with hooks.quiet(), silent():
            tokenizer = AutoTokenizer.from_pretrained(source)
            hf = AutoModel.from_pretrained(source, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise SpecError(f"embeddings={source!r} is neither a file of vectors nor a pretrained encoder") from error
    table = hf.get_input_embeddings().weight.detach().float().cpu().numpy()
    pieces = {word: tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in words}
    unknown = tokenizer.unk_token_id
    return {w: table[p].mean(0) for w, p in pieces.items() if w not in SPECIAL and p and unknown not in p}
