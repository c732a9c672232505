"""Maps of attention heads: weights, and what every head looks at."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import toys
from assay.core.types import Example
from assay.explainers.learned.parts.all_heads import head_rows, patch_grid, plot_all_heads
from assay.explainers.learned.parts.head_map import head_map_svg, plot_heads
from families import CASES, model_of


def test_rows_are_those_of_transformers():
    model, eager = toys.bert(seed=2, layers=3), toys.bert_hf(seed=2, layers=3, attn_implementation="eager")
    text = "a modest pleasure"
    with torch.no_grad():
        found = eager(**model.tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
    rows, encoding = head_rows(model, Example(text=text))
    assert np.allclose(rows, torch.stack(found)[:, 0, :, 0].numpy(), atol=1e-6)  # the row of [CLS]
    assert rows.shape[-1] == len(encoding)


@pytest.mark.parametrize("case", ["vit", "dinov2"])
def test_maps_of_an_image_have_the_grid_of_its_patches(case):
    rows, encoding = head_rows(model_of(case), Example(image=CASES[case].inputs[0]))
    grid = patch_grid(rows, encoding)
    assert grid.shape == (2, 4, 4, 4)  # 32 pixels in patches of 8
    assert np.allclose(grid.reshape(2, 4, -1), rows[..., 1:])  # the class token is left out
    assert np.allclose(rows.sum(-1), 1, atol=1e-5)


def test_head_maps_are_drawn():
    grid = np.array([[0.0, 0.75], [0.25, 0.0]])
    svg = head_map_svg(grid)
    assert svg.count("<rect") == 4
    assert "rgb(0,88,36)" in svg  # the largest weight is the darkest
    assert svg.count("rgb(255,255,255)") == 2
    pytest.importorskip("matplotlib").use("Agg")
    assert plot_heads(grid).images[0].get_array().max() == 0.75
    assert plot_all_heads(model_of("vit"), Example(image=CASES["vit"].inputs[0])).shape == (2, 4)
    assert plot_all_heads(toys.bert(), Example(text="a film")).shape == (2, 4)
