"""The data of "Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking Allegedly Important
Tokens and Retraining" (Madsen et al. 2022) as it was prepared there: one folder of splits per task.

    python papers/roar/data.py [--source ../shared/data] [--output ~/.cache/assay-roar/data]

Texts are written as words between blanks, so that a word of the LSTM's vocabulary is a word that is masked. The
paper's MIMIC tasks cannot be had; bAbI-3 has too little to train on here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SENTIMENT = {"very negative": "negative", "negative": "negative", "positive": "positive", "very positive": "positive"}
SST = {"train": 6579, "dev": 848, "test": 1776}  # the paper's counts, which its filters must give
BABI_TRAIN = 8500  # of 10,000
IMDB_WORDS = range(7, 400)
Row = dict[str, Any]
Splits = dict[str, list[Row]]


def read(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def words(text: str) -> str:
    """Lower case, and nothing but letters and digits between blanks."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sst(source: Path) -> Splits:
    """Two classes, neutral sentences and those of at most five tokens left out."""
    out = {}
    for split, expected in SST.items():
        rows = [
            r for r in read(source / "sst5" / f"{split}.jsonl.gz") if r["label"] in SENTIMENT and len(r["tokens"]) > 5
        ]
        if len(rows) != expected:
            raise SystemExit(f"SST {split}: {len(rows)} sentences after the filters, but the paper has {expected}")
        out[split] = [{"id": r["id"], "text": words(r["text"]), "label": SENTIMENT[r["label"]]} for r in rows]
    return out


def babi(source: Path, task: int) -> Splits:
    """Train and dev joined and cut again at 8,500; sentences joined by ' . ', the question without its mark."""
    parts = {split: list(read(source / "babi" / f"task{task}_{split}.jsonl.gz")) for split in ("train", "dev", "test")}
    rest = [*parts["train"], *parts["dev"]]
    random.Random(0).shuffle(rest)
    cut = {"train": rest[:BABI_TRAIN], "dev": rest[BABI_TRAIN:], "test": parts["test"]}
    return {split: [_question(row) for row in rows] for split, rows in cut.items()}


def _question(row: Row) -> Row:
    story = row["context"].lower().rstrip(". ").replace(". ", " . ")
    return {"id": row["id"], "text": story, "text_pair": row["question"].lower().rstrip("? "), "label": row["label"]}


def snli(source: Path) -> Splits:
    """All pairs that are here; words and single marks, numbers as one word."""
    return {
        split: [
            {"id": r["id"], "text": _tokens(r["premise"]), "text_pair": _tokens(r["hypothesis"]), "label": r["label"]}
            for r in read(source / "snli" / f"{split}.jsonl.gz")
        ]
        for split in ("train", "dev", "test")
    }


def _tokens(text: str) -> str:
    found = re.findall(r"\w+|[^\w\s]", text.lower())
    return " ".join("0" if any(c.isdigit() for c in token) else token for token in found)


def imdb(source: Path) -> Splits:
    """Reviews of 7 to 399 words ("don't" is one, as in the word index of Keras); a fifth of train is held out."""
    made = {}
    for split in ("train", "test"):
        rows = [
            {"id": r["id"], "text": " ".join(re.findall(r"[\w']+", r["text"].lower())), "label": r["label"]}
            for r in read(source / f"imdb/{split}.jsonl.gz")
        ]
        made[split] = [r for r in rows if len(r["text"].split()) in IMDB_WORDS]
    random.Random(0).shuffle(made["train"])
    held = len(made["train"]) // 5
    return {"train": made["train"][held:], "dev": made["train"][:held], "test": made["test"]}


TASKS: dict[str, Callable[[Path], Splits]] = {
    "sst": sst,
    "babi1": lambda source: babi(source, 1),
    "babi2": lambda source: babi(source, 2),
    "snli": snli,
    "imdb": imdb,
}


def write(folder: Path, splits: Splits) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in splits.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
        mean = sum(len(row["text"].split()) for row in rows) / len(rows)
        counts = ", ".join(f"{label} {n}" for label, n in sorted(Counter(r["label"] for r in rows).items()))
        print(f"{folder.name} {split}: {len(rows)} texts of {mean:.1f} words; {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path("~/.cache/assay-roar/data"))
    given = parser.parse_args()
    for name, task in TASKS.items():
        write(given.output.expanduser() / name, task(given.source))


if __name__ == "__main__":
    main()
