"""The table of methods and families in the docs is generated from what the methods do.

Update it with: ASSAY_WRITE_DOCS=1 pytest tests/contracts/test_table.py
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from assay import UnsupportedError
from assay.explainers import METHODS
from families import CASES, FAMILIES, model_of
from runs import UNSUPPORTED, declared, explain

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods_by_family.md"
DATA = ROOT / "src" / "assay" / "explainers" / "supported.json"  # what `assay list methods --long` reads
HINT = "run: ASSAY_WRITE_DOCS=1 pytest tests/contracts/test_table.py"
TITLE = """# Methods by family

✓ means that the method passes all tests of `tests/contracts` on the family: finite scores of the right shape, the same
scores in a batch as one by one, seeds and targets respected, the model left unchanged, declared properties true.

Black-box methods see only a model's outputs on masked inputs, and an ensemble combines other methods. Each of them runs
on every family; its other tests run on bert, t5, vit and a prompted llama, those of `occlusion` on all.

"""

PROPERTIES = """
## Properties of each method

Per input: f forward pass, b backward pass, n units, T positions, D width, L layers, H heads. Memory is what a method
needs in addition to a forward pass; `batch_tokens` limits how much runs at once.

| method | kind | per class | complete | signed | passes | memory | families |
|---|---|:-:|:-:|:-:|---|---|---|
"""


@cache
def outcome(method: str, family: str) -> str:
    """✓, or the reason that the method gives."""
    try:
        attribution = explain(model_of(family), CASES[family].inputs[1], method)
    except UnsupportedError as error:
        return str(error)
    assert np.isfinite(attribution.scores).all()
    assert np.abs(attribution.scores).max() > 0
    return "✓"


def table() -> str:
    """Methods as rows, families as columns; reasons are numbered below."""
    notes: list[str] = []
    lines = [f"| method | {' | '.join(FAMILIES)} |", f"|---|{':-:|' * len(FAMILIES)}"]
    for method in METHODS.names:
        cells = [outcome(method, family) for family in FAMILIES]
        notes += [cell for cell in dict.fromkeys(cells) if cell != "✓" and cell not in notes]
        shown = [cell if cell == "✓" else f"({notes.index(cell) + 1})" for cell in cells]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    reasons = "".join(f"\n({i}) {note}.\n" for i, note in enumerate(notes, 1))
    return "\n".join(lines) + "\n" + reasons


def properties() -> str:
    """What each method declares, and the number of families on which it works."""

    def row(name: str) -> str:
        facts = declared(name)
        flags = ["yes" if flag else "no" for flag in (facts.class_dependent, facts.complete, facts.signed)]
        works = sum(outcome(name, family) == "✓" for family in FAMILIES)
        families = f"{works} of {len(FAMILIES)}" if works else "prompted language models"
        cells = [name, METHODS.group(name), *flags, facts.passes, facts.memory, families]
        return f"| {' | '.join(cells)} |\n"

    return PROPERTIES + "".join(map(row, METHODS.names))


def data() -> str:
    """One line per method, so that two branches that add methods merge."""
    reasons = {m: {f: outcome(m, f).replace("✓", "") for f in FAMILIES} for m in METHODS.names}
    return "{\n" + ",\n".join(f"{json.dumps(m)}: {json.dumps(row)}" for m, row in reasons.items()) + "\n}\n"


@pytest.fixture(scope="module")
def page() -> str:
    text = TITLE + table() + properties()
    if os.environ.get("ASSAY_WRITE_DOCS") == "1":
        PAGE.write_text(text, encoding="utf-8")
        DATA.write_text(data(), encoding="utf-8")
    return text


def test_the_docs_show_what_the_methods_do(page):
    assert PAGE.read_text(encoding="utf-8") == page, HINT


def test_the_command_line_shows_what_the_methods_do(page):
    assert DATA.read_text(encoding="utf-8") == data(), HINT


def test_every_refusal_is_expected():
    refused = {(method, family) for method in METHODS.names for family in FAMILIES if outcome(method, family) != "✓"}
    assert refused == set(UNSUPPORTED)
