"""Real classifiers seen twice: through Assay, and bare, as a user of Captum would call them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import assay
import toys
from assay.models.load import BUILTIN
from assay.models.model import Model

TOXICITY = Path.home() / ".cache/assay-models/hf/bert-tiny-toxicity"
SENTENCES = [
    "a modest pleasure that accomplishes its goals with ease and confidence .",
    "you are a wonderful idiot and i hate this stupid film",
    "the plot is thin",
    "it's not a bad film, but the ending is sad and slow",
]


def load(name: str) -> Model:
    """A classifier by its name in these tests; skips with a reason where its weights are not on this machine."""
    if name == "random":
        return toys.bert(seed=3)
    if name == "builtin":
        if not (BUILTIN / "config.json").is_file():
            pytest.skip("the built-in model is not in this checkout")
        return assay.load_model("builtin")
    if not TOXICITY.is_dir():
        pytest.skip(f"no real weights at {TOXICITY}; run ../shared/models/get_models.sh")
    return assay.load_model(str(TOXICITY))


@dataclass
class Peer:
    """One sentence for a bare Hugging Face BERT, without any part of Assay."""

    model: Model
    text: str

    @cached_property
    def inputs(self) -> dict[str, Tensor]:
        return dict(self.model.tokenizer(self.text, return_tensors="pt"))

    @property
    def ids(self) -> Tensor:  # (1,T)
        return self.inputs["input_ids"]

    @property
    def inner(self) -> slice:
        """The positions between [CLS] and [SEP]."""
        return slice(1, self.ids.shape[1] - 1)

    @cached_property
    def masked_ids(self) -> Tensor:
        ids = self.ids.clone()
        ids[:, self.inner] = self.model.tokenizer.mask_token_id
        return ids

    @property
    def words(self) -> Any:
        return self.model.hf.get_input_embeddings()

    def embedded(self, ids: Tensor) -> Tensor:
        return self.words(ids).detach()

    @cached_property
    def label(self) -> int:
        with torch.no_grad():
            return int(self.logits(self.ids).argmax())

    def logits(self, ids: Tensor) -> Tensor:
        return self.model.hf(input_ids=ids).logits

    def probabilities(self, ids: Tensor) -> Tensor:
        return self.logits(ids).double().softmax(-1)  # in float32, differences of probabilities near 1 are lost

    def logits_of(self, embeddings: Tensor) -> Tensor:
        return self.model.hf(inputs_embeds=embeddings).logits

    def kept(self, keep: np.ndarray[Any, Any]) -> Tensor:
        """(M,n) keep-masks of the inner tokens -> (M,T) ids, the others replaced by the mask token."""
        ids = self.ids.repeat(len(keep), 1)
        ids[:, self.inner] = torch.where(torch.from_numpy(keep), ids[:, self.inner], self.masked_ids[:, self.inner])
        return ids

    def value(self, keep: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The probability of the predicted class for keep-masks (M,n)."""
        with torch.no_grad():
            parts = [self.probabilities(ids)[:, self.label] for ids in self.kept(keep).split(256)]
        return torch.cat(parts).double().numpy()


def relative_error(ours: Any, theirs: Any) -> float:
    """Largest difference, as a share of the largest score."""
    ours, theirs = (np.asarray(torch.as_tensor(s).detach(), float).ravel() for s in (ours, theirs))
    assert ours.shape == theirs.shape
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
