"""An untrained BiLSTM with attention: "bilstm_attention(hidden=128, embeddings='vectors.vec')"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from assay.core.errors import SpecError
from assay.datasets.dataset import Dataset
from assay.models.bilstm import BilstmAttentionConfig, BilstmAttentionForSequenceClassification
from assay.models.model import Model
from assay.training.pretrained import fixed_seed, model_with_head, set_labels
from assay.training.word_vocabulary import Cut, word_tokenizer, word_vectors

# Adam with amsgrad; L2 on everything except, for single texts, the attention; best epoch by validation AUROC
SINGLE_RECIPE = (
    "recipe(epochs=8, batch_size=32, learning_rate=0.001, optimiser=adam, amsgrad=True, weight_decay=1e-05, "
    "groups=[group(attention, weight_decay=0)], schedule=constant, warmup=0, clip=None, selection=auroc)"
)
PAIRED_RECIPE = (
    "recipe(epochs=25, batch_size=128, learning_rate=0.001, optimiser=adam, amsgrad=True, weight_decay=1e-05, "
    "groups=[], schedule=constant, warmup=0, clip=None, selection=accuracy)"
)


@dataclass(frozen=True)
class BilstmSize:
    """Sizes and initial word vectors. The default sizes are those of the paper for SST."""

    hidden: int = 128  # per direction
    width: int | None = None  # of the word vectors; None: as in `embeddings`, or 300
    embeddings: str | None = None  # a file of vectors or a pretrained encoder; None: N(0,1)
    min_count: int = 1  # minimum number of texts with the word
    vocabulary: int | None = None  # maximum number of words, the most frequent ones
    positions: int = 512  # maximum text length
    cut: Cut = "words"
    tied: bool = False  # one embedding table for both texts of a pair

    def __post_init__(self) -> None:
        for name in ("hidden", "width", "min_count", "vocabulary", "positions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SpecError(f"bilstm_attention: {name}={value} must be at least 1")


def bilstm_model(
    size: BilstmSize,
    data: Dataset,
    labels: Sequence[str],
    task: str,
    *,
    seed: int = 0,
    device: torch.device | str | None = None,
) -> Model:
    """An untrained model for a data set; it reads pairs if the examples are pairs."""
    pairs = {example.text_pair is not None for example in data}
    if len(pairs) != 1:
        raise SpecError(f"{data.name or 'the data'} mixes texts and pairs; a BiLSTM reads either texts or pairs")
    texts = (text for example in data for text in (example.text, example.text_pair) if text)
    tokenizer = word_tokenizer(texts, size.min_count, size.vocabulary, size.positions, size.cut)
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    vectors = None if size.embeddings is None else torch.from_numpy(word_vectors(size.embeddings, words, size.width))
    config = BilstmAttentionConfig(
        vocab_size=len(words),
        embedding_size=vectors.shape[1] if vectors is not None else size.width or 300,
        hidden_size=size.hidden,
        paired=pairs.pop(),
        tied=size.tied,
    )
    with fixed_seed(seed):
        hf = BilstmAttentionForSequenceClassification(set_labels(config, labels, task))  # type: ignore[arg-type]
        set_embeddings(hf, vectors)
        return model_with_head(hf, tokenizer, labels, task, device)


def set_embeddings(hf: BilstmAttentionForSequenceClassification, vectors: torch.Tensor | None) -> None:
    """Set the initial word vectors; both tables of a paired model start equal."""
    with torch.no_grad():
        if vectors is not None:
            hf.words.primary.weight.copy_(vectors)
        if hf.words.auxiliary is not None:
            hf.words.auxiliary.weight.copy_(hf.words.primary.weight)
