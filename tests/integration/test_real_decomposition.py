"""Decompositions of real pretrained weights: sums, and what a trained classifier's words say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import assay
from assay.explainers.attention_matrices import rollout
from assay.explainers.decomposition._vectors import DecompositionSettings, block_norms, class_vectors, through_blocks
from assay.explainers.decomposition.alti import contributions
from assay.explainers.decomposition.globenc import block_lengths
from assay.models.encode import TextEncoder
from assay.models.families import family_of
from assay.models.heads.mean import Mean
from assay.models.model import Model
from assay.models.readout import AssayHead
from assay.models.trace import Trace
from oracles.frozen import frozen_gradient, in_float64
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
    hf = getattr(transformers, NAMES[name]).from_pretrained(folder, ignore_mismatched_sizes=True, dtype=torch.float32)
    hf = in_float64(hf) if dtype == torch.float64 else hf
    if name.startswith("dinov2"):
        rng = np.random.default_rng(0)
        small = {"height": 56, "width": 56}  # 4 x 4 patches: 257 positions would take minutes in float64
        processor = transformers.ViTImageProcessorPil(size=small, do_resize=True)
        hf.config.image_size = 56
        model = assay.load_model(hf, processor)
        return model, model.batch([model.encode(example(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)))])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if name.startswith("flan"):
        head = AssayHead(Mean(hf.config.d_model, 2).to(dtype))
        model = Model(
            name, hf, family_of("t5"), TextEncoder(tokenizer, 512), head, ("a", "b"), "classification", tokenizer
        )
    else:
        model = assay.load_model(hf, tokenizer)
    return model, model.batch([model.encode(example(text)) for text in TEXTS])


def errors(trace: Trace, rules: DecompositionSettings) -> tuple[float, float]:
    """Largest errors of hidden states and logits, relative to the largest entry."""
    states = [*(block.inputs for block in trace.blocks[1:]), trace.outputs]
    with torch.no_grad():
        hidden = []
        for x, state in zip(through_blocks(trace, rules), states, strict=True):
            hidden.append(float(((x.sum(2) - state) * trace.mask[..., None]).abs().max() / state.abs().max()))
        logits = (class_vectors(trace, rules).sum(1) - trace.logits).abs().max() / trace.logits.abs().max()
    return max(hidden), float(logits)


@pytest.fixture(scope="module", params=NAMES)
def exact(request: pytest.FixtureRequest) -> tuple[Model, Any, Trace]:
    """A model in float64, its batch and its trace."""
    model, batch = load(request.param, torch.float64)
    return model, batch, model.trace(batch)


@pytest.mark.parametrize("activation", ["zero_origin", "tangent"])
@pytest.mark.parametrize("rule", SHARING)
def test_sums_in_float64(exact: tuple[Model, Any, Trace], rule: Any, activation: Any) -> None:
    model, _, trace = exact
    for gate in ("up", "gate", "half") if model.family.name in ("llama", "t5") else ("up",):
        rules = DecompositionSettings(rule, activation, gate, inside=rule != "bias_token")  # type: ignore[arg-type]
        assert max(errors(trace, rules)) < 1e-9
        scores = class_vectors(trace, rules)[:, : trace.mask.shape[1]]
        assert (scores[trace.mask == 0] == 0).all()


def test_only_the_rows_of_a_batch_differ_in_padding(exact: tuple[Model, Any, Trace]) -> None:
    """The test of padding above can fail: texts have pads, images have none."""
    model, _, trace = exact
    assert bool(trace.mask.all()) == model.family.images


def test_without_biases_it_is_input_x_gradient_of_the_frozen_network(exact: tuple[Model, Any, Trace]) -> None:
    model, batch, trace = exact
    hidden, gradient = frozen_gradient(model, batch, 0)
    expected = (hidden * gradient).sum(-1) * trace.mask
    none = class_vectors(trace, DecompositionSettings(None, inside=False))[..., 0] * trace.mask
    assert float((none - expected).abs().max()) < 1e-9 * float(expected.abs().max())


def test_alti_rows_sum_to_one(exact: tuple[Model, Any, Trace]) -> None:
    for block in exact[2].blocks:
        matrix = contributions(block, 1)
        assert (matrix >= 0).all()
        assert float((matrix.sum(-1) - 1).abs().max()) < 1e-12


def test_globenc_is_decompx_in_rollout_mode(exact: tuple[Model, Any, Trace]) -> None:
    trace = exact[2]
    rolled = rollout(block_norms(trace, DecompositionSettings(None, feed_forward=False)))
    product = rollout([block_lengths(block) * trace.mask[..., None] for block in trace.blocks])
    assert float((product - rolled).abs().max()) < 1e-9 * float(rolled.abs().max())


def test_a_causal_model_gives_nothing_to_the_future() -> None:
    model, batch = load("stories15M", torch.float64)
    trace = model.trace(batch)
    real, size = trace.mask.bool(), trace.mask.shape[1]
    future = torch.ones(size, size).triu(1).bool() & real[:, :, None]  # (B,I,J)
    for rule in SHARING[:-1]:
        for x in through_blocks(trace, DecompositionSettings(rule)):  # type: ignore[arg-type]
            assert (x[future] == 0).all()
            assert x[~future].abs().max() > 0.1
    for block in trace.blocks:
        assert (contributions(block, 1)[future] == 0).all()
        assert (block_lengths(block)[future] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_sums_in_float32(name: str) -> None:
    model, batch = load(name, torch.float32)
    hidden, logits = errors(model.trace(batch), DecompositionSettings())
    assert hidden < 1e-4
    assert logits < 1e-5


def test_512_tokens_on_12_blocks_fit_in_4_gigabytes() -> None:
    """In a process of its own, since a peak never falls; about two minutes."""
    script = Path(__file__).parents[2] / "benchmarks" / "decompx.py"
    assert float(subprocess.check_output([sys.executable, script, "--peak"])) < 4


def test_a_trained_classifier_decomposes_into_its_words() -> None:
    if not TEACHER.is_dir():
        pytest.skip(f"no weights at {TEACHER}")
    model = assay.load_model(str(TEACHER))
    texts = {"a delightful and moving film": "delightful", "the plot is dull and lifeless": "dull"}
    found = assay.explain(model, list(texts), "decompx", units="word")
    for attribution, word in zip(found, texts.values(), strict=True):
        assert word in [text for text, _ in attribution.top(2)]
