"""Decompositions of real pretrained weights: sums, and what a trained classifier's words say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import assay
from assay.explainers.attention._matrices import rollout
from assay.explainers.decomposition._vectors import Rules, block_norms, class_vectors, through_blocks
from assay.explainers.decomposition.alti import contributions
from assay.explainers.decomposition.globenc import block_lengths
from assay.models.encode import TextEncoder
from assay.models.families import family_of
from assay.models.heads.mean import Mean
from assay.models.model import Model
from assay.models.readout import OwnHead
from assay.models.trace import Trace
from oracles.frozen import frozen_gradient
from stock import example

CACHE = Path(os.environ.get("ASSAY_MODELS", "~/.cache/assay-models")).expanduser() / "hf"
TEACHER = Path("~/.cache/assay-teacher/minilm-sst2").expanduser()
TEXTS = ["a modest pleasure that accomplishes its goals", "dull"]
SHARING = ["absdot", "abssim", "norm", "equal", "cls", "bias_token"]
NAMES = {  # folder: class that puts a random head on it
    "minilm": "BertForSequenceClassification",
    "granite-embedding-30m-english": "RobertaForSequenceClassification",
    "distilbert-cased-quire-grammar": "DistilBertForSequenceClassification",
    "flan-t5-small-traceforge": "T5EncoderModel",
    "stories15M": "LlamaForSequenceClassification",
    "dinov2-small-imgfocus": "Dinov2ForImageClassification",
}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def load(name: str, dtype: torch.dtype) -> tuple[Model, Any]:
    """A model of real weights, its head random where none was trained, and its inputs as a batch."""
    folder = CACHE / name
    if not (folder / "config.json").is_file():
        pytest.skip(f"no weights at {folder}")
    torch.manual_seed(0)
    hf = getattr(transformers, NAMES[name]).from_pretrained(folder, dtype=dtype, ignore_mismatched_sizes=True)
    if name.startswith("dinov2"):
        rng = np.random.default_rng(0)
        small = {"height": 56, "width": 56}  # 4 x 4 patches: 257 positions would take minutes in float64
        processor = transformers.ViTImageProcessorPil(size=small, do_resize=True)
        hf.config.image_size = 56
        model = assay.load_model(hf, processor)
        return model, model.batch([model.encode(example(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)))])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if name.startswith("flan"):
        head = OwnHead(Mean(hf.config.d_model, 2).to(dtype))
        model = Model(
            name, hf, family_of("t5"), TextEncoder(tokenizer, 512), head, ("a", "b"), "classification", tokenizer
        )
    else:
        model = assay.load_model(hf, tokenizer)
    return model, model.batch([model.encode(example(text)) for text in TEXTS])


def errors(trace: Trace, rules: Rules) -> tuple[float, float]:
    """Largest errors of hidden states and logits, relative to the largest entry."""
    states = [*(block.inputs for block in trace.blocks[1:]), trace.outputs]
    with torch.no_grad():
        hidden = []
        for x, state in zip(through_blocks(trace, rules), states, strict=True):
            hidden.append(float(((x.sum(2) - state) * trace.mask[..., None]).abs().max() / state.abs().max()))
        logits = (class_vectors(trace, rules).sum(1) - trace.logits).abs().max() / trace.logits.abs().max()
    return max(hidden), float(logits)


@pytest.mark.parametrize("name", NAMES)
def test_sums_in_float64(name: str) -> None:
    model, batch = load(name, torch.float64)
    trace = model.trace(batch)
    # the RMS norm of Llama rounds its output to float32 whatever the model's precision
    tolerance = 1e-6 if model.family.name == "llama" else 1e-9
    for rule in SHARING:
        hidden, logits = errors(trace, Rules(rule, inside=rule != "bias_token"))  # type: ignore[arg-type]
        assert hidden < tolerance
        assert logits < tolerance
        scores = class_vectors(trace, Rules(rule, inside=rule != "bias_token"))  # type: ignore[arg-type]
        assert (scores[:, : batch.mask.shape[1]][batch.mask == 0] == 0).all()
    hidden, gradient = frozen_gradient(model, batch, 0)  # type: ignore[assignment]
    expected = ((hidden * gradient).sum(-1) * batch.mask).detach()  # type: ignore[operator]
    none = class_vectors(trace, Rules(None, inside=False))[..., 0] * batch.mask
    assert torch.allclose(none, expected, atol=1e-5 * float(expected.abs().max()))
    real = trace.mask[..., None]
    for matrix in [contributions(block, 1) for block in trace.blocks]:
        assert torch.allclose(matrix.sum(-1), torch.ones(()).double())
    rolled = rollout(block_norms(trace, Rules(None, feed_forward=False)))
    assert torch.allclose(rollout([block_lengths(b) * real for b in trace.blocks]), rolled, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_sums_in_float32(name: str) -> None:
    model, batch = load(name, torch.float32)
    hidden, logits = errors(model.trace(batch), Rules())
    assert hidden < 1e-4
    assert logits < 1e-5


def test_a_trained_classifier_decomposes_into_its_words() -> None:
    if not TEACHER.is_dir():
        pytest.skip(f"no weights at {TEACHER}")
    model = assay.load_model(str(TEACHER))
    texts = {"a delightful and moving film": "delightful", "the plot is dull and lifeless": "dull"}
    found = assay.explain(model, list(texts), "decompx", units="word")
    for attribution, word in zip(found, texts.values(), strict=True):
        assert word in [text for text, _ in attribution.top(2)]
