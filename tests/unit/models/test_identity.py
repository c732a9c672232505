"""The identity of a model: whatever changes its answers changes the keys of its records, and nothing else does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.models.load import load_model, load_without_weights, save_model
from assay.models.source import BUILTIN
from families import FAMILIES, fresh, model_of


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def swap_two_words(tokens: Any) -> None:
    vocabulary = tokens["model"]["vocab"]
    vocabulary["good"], vocabulary["bad"] = vocabulary["bad"], vocabulary["good"]


CHANGES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "two words of the vocabulary swapped": ("tokenizer.json", swap_two_words),
    "case kept": ("tokenizer_config.json", lambda t: t.update(do_lower_case=False)),
    "relu for gelu": ("config.json", lambda c: c.update(hidden_act="relu")),
    "twice the heads": ("config.json", lambda c: c.update(num_attention_heads=2 * c["num_attention_heads"])),
    "another norm": ("config.json", lambda c: c.update(layer_norm_eps=1e-3)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_weights_with_another_tokenizer_or_configuration(change: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(BUILTIN, tmp_path / "model"))
    before = load_model(folder)
    file, edited = CHANGES[change]
    edit(folder / file, edited)
    after = load_model(folder)
    assert after.fingerprint == before.fingerprint
    assert after.identity != before.identity


def test_an_image_processor_counts(tmp_path: Path) -> None:
    save_model(model_of("vit"), tmp_path)
    before = load_model(tmp_path).identity
    edit(tmp_path / "preprocessor_config.json", lambda p: p.update(image_mean=[0.1, 0.2, 0.3]))
    assert load_model(tmp_path).identity != before


@pytest.mark.parametrize("case", FAMILIES)
def test_saving_loading_and_using_a_model_keeps_its_identity(case: str, tmp_path: Path) -> None:
    model = fresh(case)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.identity == {**model.identity, "max_length": loaded.encoder.limit if model.tokenizer else None}
    (tmp_path / "a").rename(tmp_path / "b")  # a path is no part of it
    assert load_model(tmp_path / "b").identity == loaded.identity
    assert load_without_weights(tmp_path / "b", loaded.fingerprint).identity == loaded.identity


def test_truncating_a_text_keeps_the_identity() -> None:
    model = load_model("builtin")
    before = model.identity
    model.tokenizer("one two three four five", truncation=True, max_length=4, padding="max_length")
    assert model.identity == before
