"""The two MIMIC-III tasks of Jain and Wallace 2019: anemia (acute or chronic) and diabetes (or not). NOT RUN HERE.

The folder holds NOTEEVENTS.csv.gz and DIAGNOSES_ICD.csv.gz of MIMIC-III 1.4, which needs credentials, and for diabetes
the files {train,dev,test}_50_hadm_ids.csv with the admissions of each split.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..data import Row, Splits

ACUTE, CHRONIC, DIABETES = "2851", "2852", "25000"  # ICD-9 codes, which the files write without a dot
LONGEST = 4000  # words of a note on anemia
TEST, DEV = (0.2, 12939), (0.15, 13448)  # share and random state of Jain and Wallace's splits
Admissions = Mapping[str, str]  # by admission


def rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)  # notes are longer than the default
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def normalised(note: str) -> str:
    """Words separated by blanks: lower case, names as <DE>, numbers as [DIGITS], repeated punctuation once."""
    text = re.sub(r"\[\*\*.*?\*\*\]", " <DE> ", note, flags=re.DOTALL)
    text = re.sub(r"([^\w\s])\1+", r"\1", text)
    tokens = re.findall(r"<DE>|\w+|[^\w\s]", text)
    return " ".join(t if t == "<DE>" else "[DIGITS]" if any(c.isdigit() for c in t) else t.lower() for t in tokens)


def summaries(folder: Path, wanted: set[str]) -> dict[str, str]:
    """The discharge summaries of some admissions, those of one admission joined."""
    notes: dict[str, list[str]] = defaultdict(list)
    for row in rows(folder / "NOTEEVENTS.csv.gz"):
        if row["CATEGORY"] == "Discharge summary" and row["HADM_ID"] in wanted:
            notes[row["HADM_ID"]].append(row["TEXT"])
    return {admission: normalised("\n".join(texts)) for admission, texts in notes.items()}


def codes(folder: Path) -> dict[str, set[str]]:
    """The ICD-9 codes of every admission."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows(folder / "DIAGNOSES_ICD.csv.gz"):
        found[row["HADM_ID"]].add(row["ICD9_CODE"])
    return found


def anemia(folder: Path) -> Splits:
    """Acute or chronic, not both; 20 % are the test split and 15 % of the rest the validation split, stratified."""
    from sklearn.model_selection import train_test_split

    kinds = {a: [any(c.startswith(kind) for c in own) for kind in (ACUTE, CHRONIC)] for a, own in codes(folder).items()}
    labels = {a: "acute" if acute else "chronic" for a, (acute, chronic) in kinds.items() if acute != chronic}
    notes = summaries(folder, set(labels))
    short = sorted(a for a, text in notes.items() if len(text.split()) <= LONGEST)
    rest, test = train_test_split(short, test_size=TEST[0], random_state=TEST[1], stratify=[labels[a] for a in short])
    train, dev = train_test_split(rest, test_size=DEV[0], random_state=DEV[1], stratify=[labels[a] for a in rest])
    return _splits({"train": train, "dev": dev, "test": test}, notes, labels.__getitem__)


def diabetes(folder: Path) -> Splits:
    """Whether the admission has code 250.00, in the fixed splits of Jain and Wallace."""
    parts = {name: (folder / f"{name}_50_hadm_ids.csv").read_text().split() for name in ("train", "dev", "test")}
    with_code = {a for a, own in codes(folder).items() if any(code.startswith(DIABETES) for code in own)}
    notes = summaries(folder, {a for part in parts.values() for a in part})
    return _splits(parts, notes, lambda a: "diabetes" if a in with_code else "none")


def _splits(parts: Mapping[str, list[str]], notes: Admissions, label: Callable[[str], str]) -> Splits:
    def row(admission: str) -> Row:
        return {"id": admission, "text": notes[admission], "label": label(admission)}

    return {name: [row(a) for a in part if a in notes] for name, part in parts.items()}
