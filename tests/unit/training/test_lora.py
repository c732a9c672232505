"""LoRA: only adapters and head are trained; merged or not, the model is the same and loads back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.core.errors import AssayError, SpecError, UnsupportedError
from assay.models.load import load_model, save_model
from assay.training import checkpoint
from assay.training.lora import add_lora
from assay.training.recipe import Recipe
from families import FAMILIES, TRANSFORMERS, fresh
from runs import method_for, works_on

from .test_classifier import learn, pretrained

LORA = Recipe(epochs=2, batch_size=16, learning_rate=1e-2, selection="accuracy", lora=True, lora_rank=2, lora_alpha=8)


def logits(model: Any, text: str = "the old sailor slept") -> torch.Tensor:
    with torch.no_grad():
        out: torch.Tensor = model.logits(model.batch([model.encode(assay.Example(text))]))
    return out


@pytest.mark.parametrize("case", TRANSFORMERS)
def test_only_query_value_and_head_are_trained(case: str) -> None:
    """In every family; adapters begin at 0, so the outputs stay the same."""
    model, plain = fresh(case), fresh(case)
    given = FAMILIES[case].inputs[0]
    batches = [m.batch([m.encode(next(iter(assay.load_dataset([given]))))]) for m in (model, plain)]
    model.hf.requires_grad_(True)
    assert add_lora(model, case, LORA) is not None
    trained = [name for name, p in model.hf.named_parameters() if p.requires_grad]
    assert sum("lora_A" in name for name in trained) == sum("lora_B" in name for name in trained) >= model.n_blocks
    rest = [name for name in trained if "lora_" not in name]
    assert all(".modules_to_save." in name for name in rest)
    assert bool(rest) == (case != "t5"), "the head of T5 is Assay's own"
    with torch.no_grad():
        assert torch.allclose(model.logits(batches[0]), plain.logits(batches[1]), atol=1e-5)


def test_a_merged_weight_is_w_plus_alpha_over_rank_b_a() -> None:
    model, recipe = fresh("llama"), replace(LORA, lora_targets=("o_proj",), lora_dropout=0.0)
    model.hf.double()
    adapter = add_lora(model, "llama", recipe)
    layer = model.hf.base_model.layers[0].self_attn.o_proj
    a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    with torch.no_grad():
        b.normal_()
    expected = layer.base_layer.weight + 8 / 2 * b @ a
    before = logits(model)
    adapter.finish(model)  # type: ignore[union-attr]
    assert torch.allclose(model.hf.base_model.layers[0].self_attn.o_proj.weight, expected, atol=1e-12)
    assert torch.allclose(logits(model), before, atol=1e-9)
    assert not any("lora" in name for name in model.hf.state_dict())


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_merged_and_unmerged_are_the_same_model(tmp_path: Path, name: str) -> None:
    """After training, and after loading: outputs, labels, task, identity; the base is as it was."""
    base = pretrained(tmp_path / "base", name)
    before = (base / "model.safetensors").read_bytes()
    loaded = {}
    for merged in (True, False):
        folder = tmp_path / f"merged {merged}"
        trained = learn(base, replace(LORA, lora_merged=merged), output=folder).model
        loaded[merged] = load_model(folder)
        assert loaded[merged].identity == trained.identity == load_model(folder).identity
        assert loaded[merged].labels == ("bright", "calm")
        assert torch.allclose(logits(loaded[merged]), logits(trained), atol=1e-6)
        files = {path.name for path in folder.iterdir()}
        assert ("model.safetensors" in files, "adapter_model.safetensors" in files) == (merged, not merged)
        assert json.loads((folder / "training.json").read_text())["fingerprint"] == trained.fingerprint
    assert torch.allclose(logits(loaded[True]), logits(loaded[False]), atol=1e-5)
    assert (logits(loaded[True]) - logits(load_untrained(base))).abs().max() > 1e-3
    assert (base / "model.safetensors").read_bytes() == before


def load_untrained(base: Path) -> Any:
    return learn(base, replace(LORA, epochs=1, learning_rate=1e-12)).model


def test_every_method_gives_both_the_same_scores() -> None:
    unmerged, merged = (fresh("llama") for _ in range(2))
    for model in (unmerged, merged):
        adapter = add_lora(model, "llama", LORA)
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for name, parameter in model.hf.named_parameters():
                if "lora_B" in name:
                    parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
        model.hf.double()
        if model is merged:
            adapter.finish(model)  # type: ignore[union-attr]
    for method in assay.explainers.METHODS.names:
        if works_on(method, "llama"):
            chosen = method_for(method, fresh("llama"))
            a, b = (explain_with(model, chosen) for model in (unmerged, merged))
            assert np.allclose(a.scores, b.scores, atol=1e-4 * np.abs(b.scores).max()), method


def explain_with(model: Any, method: Any) -> Any:
    return assay.explain(model, "the film is bright", method, removal="zero", progress=False)


def test_interrupted_it_goes_on_and_keeps_only_what_is_trained(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(checkpoint, "SPACING", 0)
    base = pretrained(tmp_path / "base", "llama")

    def stop(check: Any, best: bool) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(base, LORA, output=tmp_path / "out", on_check=stop, save_seconds=0.0)
    state = torch.load(tmp_path / "out" / checkpoint.NAME, weights_only=True)
    assert all("lora_" in name or "modules_to_save" in name for name in state["model"])
    with pytest.raises(AssayError, match="different recipe"):
        learn(base, replace(LORA, lora_rank=3), output=tmp_path / "out")
    again = learn(base, LORA, output=tmp_path / "out")
    assert again.model.fingerprint == learn(base, LORA).model.fingerprint


def test_a_merged_training_replaces_adapters(tmp_path: Path) -> None:
    """Otherwise load_model would read the adapters of the earlier training."""
    base, out = pretrained(tmp_path / "base", "llama"), tmp_path / "out"
    learn(base, replace(LORA, epochs=1, lora_merged=False), output=out)
    second = learn(base, replace(LORA, epochs=1, seed=1), output=out, overwrite=True)
    assert load_model(out).fingerprint == second.model.fingerprint


def test_a_base_that_has_moved_is_named(tmp_path: Path) -> None:
    base = pretrained(tmp_path / "base", "llama")
    learn(base, replace(LORA, epochs=1, lora_merged=False), output=tmp_path / "out")
    base.rename(tmp_path / "elsewhere")
    with pytest.raises(AssayError, match="is not there; write the folder"):
        load_model(tmp_path / "out")


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("recipe(lora_rank=4)", "lora_rank is a setting of LoRA; give lora=True"),
        ("recipe(lora=True, lora_rank=0)", "lora_rank=0: give a whole number, at least 1"),
        ("recipe(lora=True, lora_dropout=1)", "lora_dropout=1"),
    ],
)
def test_mistakes_in_a_recipe(recipe: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Recipe.from_spec(recipe)


def test_other_mistakes(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="lora adapts pretrained weights"):
        learn("bert(layers=1, width=32)", LORA)
    with pytest.raises(SpecError, match="no such layer; a block of llama has the linear layers down_proj"):
        add_lora(fresh("llama"), "llama", replace(LORA, lora_targets=("q_proj", "dense")))
    with pytest.raises(UnsupportedError, match="adapters of t5 cannot be saved alone"):
        add_lora(fresh("t5"), "t5", replace(LORA, lora_merged=False))
    with pytest.raises(UnsupportedError, match="has no blocks"):
        add_lora(fresh("bilstm_attention"), "bilstm", LORA)


def test_recipes_without_lora_keep_their_keys() -> None:
    assert not any("lora" in key for key, _ in Recipe().spec.params)
    chosen = Recipe.from_spec("recipe(lora=True, lora_targets=[q_proj, v_proj], lora_merged=False)")
    assert Recipe.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen
    assert chosen.lora_targets == ("q_proj", "v_proj")


def test_t5_and_images_are_merged(tmp_path: Path) -> None:
    base = pretrained(tmp_path / "base", "t5")
    trained = learn(base, LORA, output=tmp_path / "out").model
    assert load_model(tmp_path / "out").identity == trained.identity
    assert torch.allclose(logits(load_model(tmp_path / "out")), logits(trained), atol=1e-6)


def test_a_classifier_can_be_adapted_too(tmp_path: Path) -> None:
    """Its head stays where the labels are the same."""
    first = learn(pretrained(tmp_path / "base", "bert"), replace(LORA, epochs=1), output=tmp_path / "first").model
    second = learn(tmp_path / "first", replace(LORA, epochs=1, learning_rate=1e-12)).model
    assert torch.allclose(logits(first), logits(second), atol=1e-4)
    save_model(second, tmp_path / "second")
    assert torch.allclose(logits(load_model(tmp_path / "second")), logits(second), atol=1e-6)
