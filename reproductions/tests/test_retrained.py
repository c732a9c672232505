"""Pages say which parts come from which training of the same model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.experiments.store import Record
from reproductions.retrained import retrained


def record(weights: str, outputs: Mapping[str, Sequence[float]] | None = None) -> Record:
    rows: dict[str, Any] = {"examples": list(outputs), "outputs": list(outputs.values())} if outputs else {}
    return Record("key", {}, rows, {"weights": weights})


def test_one_training_needs_no_sentence() -> None:
    assert retrained([("MiniLM", "first", record("a")), ("MiniLM", "second", record("a"))]) == []


def test_parts_of_two_trainings_and_the_largest_difference_of_their_outputs() -> None:
    records = [
        ("MiniLM", "first", record("a", {"x": [1.0, -1.0], "y": [2.0, 0.0]})),
        ("RoBERTa", "alone", record("c")),
        ("MiniLM", "second", record("b", {"y": [2.0, 0.25], "x": [1.0, -1.125], "z": [9.0, 9.0]})),
        ("MiniLM", "third", record("b")),
    ]
    (sentence,) = retrained(records)
    assert "MiniLM was trained twice" in sentence
    assert "`first`; `second`, `third`" in sentence
    assert sentence.endswith("the 2 texts that both read differ by at most 0.2.")


def test_without_shared_texts_that_is_said() -> None:
    records = [("M", "a", record("a", {"x": [1.0]})), ("M", "b", record("b", {"y": [2.0]})), ("M", "c", record("c"))]
    (sentence,) = retrained(records)
    assert "trained 3 times" in sentence
    assert sentence.endswith("The records have no text that both read.")
