"""What transformers itself computes, without padding: the reference for our logits."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from assay.core.types import Example
from assay.masking.units import divide
from assay.models.encoding import Encoding
from assay.models.model import Model
from assay.models.readout import AssayHead, LabelWords
from families import model_of

CAUSAL = ("gpt2", "llama", "mistral")  # pairs are joined by the end-of-text token


def example(given: Any) -> Example:
    """An input of a Case as an Example."""
    if isinstance(given, str):
        return Example(text=given)
    return Example(*given) if isinstance(given, tuple) else Example(image=given)


def encoded(model: Model, inputs: Any, units: str = "token") -> list[Encoding]:
    return [divide(model.encode(example(given)), units) for given in inputs]


def ours(model: Model, batch: Any) -> Tensor:
    with torch.no_grad():
        return model.logits(batch)


def stock(model: Model) -> PreTrainedModel:
    """A copy of the user's model as transformers runs it."""
    return copy.deepcopy(model.hf).eval()


def close(actual: Tensor, expected: Tensor, tolerance: float = 2e-6) -> None:
    """Assert equality up to rounding."""
    assert actual.shape == expected.shape
    assert (actual - expected).abs().max() <= tolerance * max(1.0, float(expected.abs().max()))


def stock_logits(case: str, given: Any) -> Tensor:
    """(C,) logits of one input without padding, as the documentation of transformers computes them."""
    model, hf = model_of(case), stock(model_of(case))
    with torch.no_grad():
        if model.family.images:
            return hf(**model.encoder.processor(images=given, return_tensors="pt")).logits[0]
        tokenizer, texts = model.tokenizer, (given,) if isinstance(given, str) else given
        if isinstance(model.readout, LabelWords):
            prompt = model.encoder.prompt
            ids = tokenizer(prompt.shots + prompt.template.format(text=given), return_tensors="pt")["input_ids"]
            words = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in (" bad", " good")]
            return torch.stack([hf(input_ids=ids).logits[0, -1, word] for (word,) in words])
        if case in CAUSAL and len(texts) == 2:
            first, second = tokenizer(texts[0])["input_ids"], tokenizer(texts[1], add_special_tokens=False)["input_ids"]
            return hf(input_ids=torch.tensor([[*first, tokenizer.eos_token_id, *second]])).logits[0]
        inputs = tokenizer(*texts, return_tensors="pt")
        if isinstance(model.readout, AssayHead):
            layer = model.readout.head.classifier
            return layer(hf(**inputs).last_hidden_state[0].mean(0))
        return hf(**inputs).logits[0]
