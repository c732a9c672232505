"""Prepare the data of Madsen et al. 2022 as the paper did: one folder of splits per task.

    python -m reproductions.roar.data [--source reproductions/data] [--output ~/.cache/assay-roar/data]

`--source` holds the folders sst5, babi, snli and imdb (see reproductions/README.md). Words are separated by blanks, so
that a masked word is one word of the LSTM's vocabulary. The paper's MIMIC tasks are not public, and bAbI-3 has too
little training data here.
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
SST = {"train": 6579, "dev": 848, "test": 1776}  # the paper's counts after filtering
BABI_TRAIN = 8500  # of 10,000
IMDB_WORDS = range(7, 400)
Row = dict[str, Any]
Splits = dict[str, list[Row]]


def read(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def words(text: str) -> str:
    """Lower-case letters and digits, separated by blanks."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sst(source: Path) -> Splits:
    """Two classes, without neutral sentences and sentences of at most five tokens."""
    splits = {}
    for split, expected in SST.items():
        rows = [
            r for r in read(source / "sst5" / f"{split}.jsonl.gz") if r["label"] in SENTIMENT and len(r["tokens"]) > 5
        ]
        if len(rows) != expected:
            raise SystemExit(f"SST {split} has {len(rows)} sentences after filtering, but the paper has {expected}.")
        splits[split] = [{"id": r["id"], "text": words(r["text"]), "label": SENTIMENT[r["label"]]} for r in rows]
    return splits


def babi(source: Path, task: int) -> Splits:
    """Train and dev, shuffled and split again at 8,500; sentences joined by ' . ', the question without '?'."""
    files = {split: source / "babi" / f"task{task}_{split}.jsonl.gz" for split in ("train", "dev", "test")}
    parts = {split: list(read(path)) if path.exists() else [] for split, path in files.items()}
    rest = [*parts["train"], *parts["dev"]]
    if len(rest) <= BABI_TRAIN or not parts["test"]:
        raise SystemExit(
            f"{source / 'babi'} has {len(rest):,} training and {len(parts['test']):,} test questions of task {task}; "
            "the paper has 10,000 and 1,000 (en-10k)."
        )
    random.Random(0).shuffle(rest)
    splits = {"train": rest[:BABI_TRAIN], "dev": rest[BABI_TRAIN:], "test": parts["test"]}
    return {split: [_question(row) for row in rows] for split, rows in splits.items()}


def _question(row: Row) -> Row:
    story = row["context"].lower().rstrip(". ").replace(". ", " . ")
    return {"id": row["id"], "text": story, "text_pair": row["question"].lower().rstrip("? "), "label": row["label"]}


def snli(source: Path) -> Splits:
    """All pairs of the source; punctuation marks are words, and every number is the word 0."""
    return {
        split: [
            {"id": r["id"], "text": _tokens(r["premise"]), "text_pair": _tokens(r["hypothesis"]), "label": r["label"]}
            for r in read(source / "snli" / f"{split}.jsonl.gz")
        ]
        for split in ("train", "dev", "test")
    }


def _tokens(text: str) -> str:
    tokens = re.findall(r"\w+|[^\w\s]", text.lower())
    return " ".join("0" if any(c.isdigit() for c in token) else token for token in tokens)


def imdb(source: Path) -> Splits:
    """Reviews of 7 to 399 words ("don't" is one word, as in Keras); a fifth of train becomes dev."""
    reviews = {}
    for split in ("train", "test"):
        rows = [
            {"id": r["id"], "text": " ".join(re.findall(r"[\w']+", r["text"].lower())), "label": r["label"]}
            for r in read(source / f"imdb/{split}.jsonl.gz")
        ]
        reviews[split] = [r for r in rows if len(r["text"].split()) in IMDB_WORDS]
    random.Random(0).shuffle(reviews["train"])
    held_out = len(reviews["train"]) // 5
    return {"train": reviews["train"][held_out:], "dev": reviews["train"][:held_out], "test": reviews["test"]}


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
        print(f"{folder.name} {split}: {len(rows)} texts of {mean:.1f} words on average; {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path("reproductions/data"), help="folder of the data sets")
    parser.add_argument("--output", type=Path, default=Path("~/.cache/assay-roar/data"))
    options = parser.parse_args()
    missing = [name for name in ("sst5", "babi", "snli", "imdb") if not (options.source / name).is_dir()]
    if missing:
        raise SystemExit(
            f"{options.source} has no folder {', '.join(missing)}. reproductions/README.md says what it must hold; "
            "link it with reproductions/link.sh or name it with --source."
        )
    for name, task in TASKS.items():
        write(options.output.expanduser() / name, task(options.source))


if __name__ == "__main__":
    main()
