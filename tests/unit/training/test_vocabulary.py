"""A tokenizer trained on the data: the same in every process, and one that load_model can read offsets from."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

from assay.training.vocabulary import train_wordpiece

TEXTS = [
    "The plot is thin, the acting unbelievable!",
    "believable acting makes the thinnest plots good",
    "Café 东京",
] * 3
SCRIPT = """
from assay.training.vocabulary import train_wordpiece
print(sorted(train_wordpiece({texts!r}, 70, 64).get_vocab().items(), key=lambda p: p[1]))
"""


def test_the_same_in_every_process() -> None:
    """Another order of sets, which follows from the seed of hashes, changes nothing."""
    command = [sys.executable, "-c", SCRIPT.format(texts=TEXTS)]
    other = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True)
    assert other.returncode == 0, other.stderr
    here = train_wordpiece(TEXTS, 70, 64).get_vocab()
    assert ast.literal_eval(other.stdout) == sorted(here.items(), key=lambda pair: pair[1])


def test_pieces_and_special_tokens() -> None:
    tokenizer = train_wordpiece(TEXTS, 88, 64)
    assert len(tokenizer) == 88
    assert tokenizer.convert_ids_to_tokens([0, 1, 2, 3, 4]) == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert tokenizer.tokenize("the ACTING") == ["the", "acting"]
    assert tokenizer.tokenize("nothing")[0] == "n", "a new word is cut into pieces"
    assert tokenizer.convert_ids_to_tokens(tokenizer("the plot", "good")["input_ids"]) == [
        "[CLS]", "the", "plot", "[SEP]", "good", "[SEP]",
    ]  # fmt: skip
    assert tokenizer("the plot", "good")["token_type_ids"] == [0, 0, 0, 0, 1, 1]
    assert tokenizer.decode(tokenizer("unbelievable")["input_ids"], skip_special_tokens=True) == "unbelievable"


def test_fewer_pieces_than_allowed_if_no_word_is_left_to_join() -> None:
    words = {
        "the",
        "plot",
        "is",
        "thin",
        ",",
        "acting",
        "unbelievable",
        "!",
        "believable",
        "makes",
        "thinnest",
        "plots",
    }
    tokenizer = train_wordpiece(TEXTS, 8000, 64)
    assert words | {"good", "cafe", "东", "京"} <= set(tokenizer.get_vocab())
    assert len(tokenizer) == len(train_wordpiece(TEXTS, 110, 64)) < 110


def test_every_character_is_a_piece_even_beyond_the_size() -> None:
    tokenizer = train_wordpiece(TEXTS, 10, 64)
    characters = {c for text in ("the plot is thin , acting unbelievable !", "makes good cafe东京") for c in text} - {
        " "
    }
    assert {*characters, *(f"##{c}" for c in characters)} <= set(tokenizer.get_vocab())
    assert len(tokenizer) == 5 + 2 * len(characters)
    assert tokenizer.tokenize("plot") == ["p", "##l", "##o", "##t"]


def test_characters_are_ordinary_pieces() -> None:
    tokenizer = train_wordpiece(TEXTS, 110, 64)
    assert "[UNK]" not in tokenizer.tokenize("tip")
    assert set(tokenizer.all_special_tokens) == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    assert tokenizer.tokenize("a##b") != ["a", "##b"], "a written ## is text"


def test_a_causal_tokenizer_adds_nothing() -> None:
    tokenizer = train_wordpiece(TEXTS, 110, 64, causal=True)
    assert tokenizer.convert_ids_to_tokens(tokenizer("the plot")["input_ids"]) == ["the", "plot"]
    assert tokenizer.eos_token == "[SEP]"
