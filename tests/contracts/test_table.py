"""The table of methods x families in the docs is what the tests find, never what someone believes.

Write it with: ASSAY_WRITE_DOCS=1 pytest tests/contracts/test_table.py
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from assay import UnsupportedError
from assay.explainers import METHODS
from families import CASES, FAMILIES, model_of
from runs import UNSUPPORTED, explain, explained

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods_by_family.md"
README = ROOT / "README.md"
DATA = ROOT / "src" / "assay" / "explainers" / "supported.json"  # what `assay list methods --long` reads
HINT = "run: ASSAY_WRITE_DOCS=1 pytest tests/contracts/test_table.py"
MARKED = re.compile(r"(<!-- table:begin -->\n)(.*?)(<!-- table:end -->)", re.DOTALL)
TITLE = """# Methods by family

✓ = every contract of `tests/contracts` holds for the method on the family: finite scores of the right shape, batch =
one by one, seeds and targets respected, the model left as it was, declared properties true.

"""

PROPERTIES = """
## What each method is

Per input: f forward pass, b backward pass, n units, T positions, D width, L layers, H heads. Memory is what a method
holds on top of a plain forward pass; how much runs at once is bounded by `batch_tokens`.

| method | kind | per class | complete | signed | passes | memory | families |
|---|---|:-:|:-:|:-:|---|---|---|
"""


def found(method: str, family: str) -> str:
    """✓, or the reason the method gives."""
    try:
        if (method, family) in UNSUPPORTED:
            explain(model_of(family), CASES[family].inputs[0], method)
        scores = [a.scores for a in explained(family, method)]
    except UnsupportedError as error:
        return str(error)
    assert all(np.isfinite(s).all() and np.abs(s).max() > 0 for s in scores)
    return "✓"


def table() -> str:
    """Methods as rows, families as columns; reasons are numbered below."""
    notes: list[str] = []
    lines = [f"| method | {' | '.join(FAMILIES)} |", f"|---|{':-:|' * len(FAMILIES)}"]
    for method in METHODS.names:
        cells = [found(method, family) for family in FAMILIES]
        notes += [cell for cell in cells if cell != "✓" and cell not in notes]
        shown = [cell if cell == "✓" else f"({notes.index(cell) + 1})" for cell in cells]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    reasons = "".join(f"\n({i}) {note}.\n" for i, note in enumerate(notes, 1))
    return "\n".join(lines) + "\n" + reasons


def properties() -> str:
    """What each method declares, and on how many families it works."""

    def row(name: str) -> str:
        facts = METHODS.make(name).facts
        flags = ["yes" if flag else "no" for flag in (facts.class_dependent, facts.complete, facts.signed)]
        works = sum(found(name, family) == "✓" for family in FAMILIES)
        cells = [name, METHODS.group(name), *flags, facts.passes, facts.memory, f"{works} of {len(FAMILIES)}"]
        return f"| {' | '.join(cells)} |\n"

    return PROPERTIES + "".join(map(row, METHODS.names))


def data() -> str:
    """One line per method, so that two branches that add methods merge."""
    reasons = {m: {f: found(m, f).replace("✓", "") for f in FAMILIES} for m in METHODS.names}
    return "{\n" + ",\n".join(f"{json.dumps(m)}: {json.dumps(row)}" for m, row in reasons.items()) + "\n}\n"


@pytest.fixture(scope="module")
def text() -> str:
    made = table()
    if os.environ.get("ASSAY_WRITE_DOCS") == "1":
        PAGE.write_text(TITLE + made + properties(), encoding="utf-8")
        DATA.write_text(data(), encoding="utf-8")
        if README.is_file():
            old = README.read_text(encoding="utf-8")
            README.write_text(MARKED.sub(lambda m: m[1] + made + m[3], old), encoding="utf-8")
    return made


def test_the_docs_say_what_the_tests_find(text):
    assert PAGE.read_text(encoding="utf-8") == TITLE + text + properties(), HINT


def test_the_command_line_says_what_the_tests_find(text):
    assert DATA.read_text(encoding="utf-8") == data(), HINT


def test_the_readme_says_what_the_tests_find(text):
    marked = MARKED.search(README.read_text(encoding="utf-8")) if README.is_file() else None
    if marked is None:
        pytest.skip("README.md has no table markers yet")
    assert marked[2] == text, HINT


def test_every_refusal_is_expected(text):
    refused = {(m, f) for m in METHODS.names for f in FAMILIES if found(m, f) != "✓"}
    assert refused == set(UNSUPPORTED)
