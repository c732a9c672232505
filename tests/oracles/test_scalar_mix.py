"""The scalar-mix head against its formula in numpy, and models that have it: saved, loaded, explained, taught."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import assay
from assay.core.errors import SpecError, UnsupportedError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.models.heads.scalar_mix import ScalarMix
from assay.models.load import load_model
from assay.training.classifier import train_classifier
from assay.training.recipe import Recipe
from assay.training.students import student_of
from assay.training.teaching import Student

BASE = "bert(layers=2, width=16, heads=2, vocabulary=100, positions=32)"
RECIPE = Recipe(epochs=1, batch_size=8, learning_rate=0.01, head="scalar_mix")
TEXTS = ["a calm sea", "the bright and funny sailor slept", "rain fell", "nobody knew the music"]


def data(count: int = 16) -> Dataset:
    rows = [Example(f"{TEXTS[i % 4]} {i}", label=i % 2, id=str(i)) for i in range(count)]
    return Dataset(tuple(rows), "toy", ("no", "yes"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("mix") / "teacher"
    return train_classifier(BASE, data(), data(8), RECIPE, output=folder).model, folder


def by_hand(head: ScalarMix, states: list[np.ndarray], lengths: list[int]) -> np.ndarray:
    """gamma sum_l softmax(w)_l mean over real tokens, then U, GELU by the error function, V."""
    w = head.layer_weights.detach().numpy()
    shares = np.exp(w - w.max()) / np.exp(w - w.max()).sum()
    rows = []
    for b, length in enumerate(lengths):
        means = [state[b, :length].mean(0) for state in states]
        mixed = float(head.gamma.detach()) * sum(s * m for s, m in zip(shares, means, strict=True))
        inner = head.dense.weight.detach().numpy() @ mixed + head.dense.bias.detach().numpy()
        inner = np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in inner])
        rows.append(head.classifier.weight.detach().numpy() @ inner + head.classifier.bias.detach().numpy())
    return np.array(rows)


def test_the_head_is_its_formula() -> None:
    torch.manual_seed(0)
    head = ScalarMix(6, 3, layers=2).double().eval()
    with torch.no_grad():
        head.layer_weights.copy_(torch.tensor([0.3, -1.0, 2.0]))
        head.gamma.fill_(1.7)
    states = [torch.randn(2, 5, 6).double() for _ in range(3)]
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    assert np.allclose(head(tuple(states), mask).detach(), by_hand(head, [s.numpy() for s in states], [5, 3]))


def test_it_reads_the_hidden_states_of_transformers_and_survives_saving(trained: tuple[Any, Path]) -> None:
    model, folder = trained
    loaded = load_model(folder)
    assert isinstance(loaded.head, ScalarMix)
    assert loaded.fingerprint == model.fingerprint
    assert len(loaded.head.layer_weights) == 3
    assert loaded.head.layer_weights.abs().max() > 0
    tokenizer, plain = hf.AutoTokenizer.from_pretrained(folder), hf.AutoModel.from_pretrained(folder).eval()
    rows = tokenizer(TEXTS[:2], padding=True, return_tensors="pt")
    with torch.no_grad():
        states = plain(**rows, output_hidden_states=True).hidden_states
        ours = loaded.logits(loaded.batch([loaded.encode(Example(text)) for text in TEXTS[:2]]))
    lengths = rows["attention_mask"].sum(1).tolist()
    assert np.allclose(ours, by_hand(loaded.head, [s.numpy() for s in states], lengths), atol=1e-5)


def test_explanations_of_it(trained: tuple[Any, Path]) -> None:
    model = load_model(trained[1])
    found = assay.explain(model, TEXTS[1], "kernel_shap(samples=64)")
    assert found.scores.sum() == pytest.approx(found.value_full - found.value_empty, abs=1e-5)
    for method in ("attention_logits", "average_attention", "gradient", "integrated_gradients"):
        assert np.isfinite(assay.explain(model, TEXTS[1], method).scores).all()
    with pytest.raises(UnsupportedError, match="cannot be decomposed"):  # it reads more than the last layer
        assay.explain(model, TEXTS[1], "decompx")


def test_students_have_the_head_of_their_teacher(trained: tuple[Any, Path]) -> None:
    teacher = trained[0]
    student = student_of(teacher, "untrained", seed=1)
    assert isinstance(student.head, ScalarMix)
    assert student.head.layer_weights.abs().max() == 0
    wrapped = Student(student).requires_grad_(True).train()
    outputs, _ = wrapped.explained(student.batch([student.encode(Example(text)) for text in TEXTS]))
    outputs.sum().backward()
    assert student.head.layer_weights.grad is not None
    assert student.head.gamma.grad.abs() > 0


def test_a_family_of_images_can_have_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [Example(image=rng.integers(0, 255, (8, 8, 3), dtype=np.uint8), label=i % 2, id=str(i)) for i in range(12)]
    pictures = Dataset(tuple(rows), "noise", ("no", "yes"))
    train_classifier("vit(layers=1, width=16, heads=2, patch=4)", pictures, pictures, RECIPE, output=tmp_path / "vit")
    model = load_model(tmp_path / "vit")
    assert isinstance(model.head, ScalarMix)
    assert len(assay.explain(model, rows[0], "attention_logits").scores) == 4


def test_heads_that_do_not_exist_or_fit_get_a_sentence() -> None:
    with pytest.raises(SpecError, match=r"head='scalar': .*scalar_mix"):
        Recipe(head="scalar")
    with pytest.raises(UnsupportedError, match="no transformer blocks for the head scalar_mix"):
        train_classifier("bilstm_attention(hidden=4, width=4)", data(), data(8), RECIPE)
