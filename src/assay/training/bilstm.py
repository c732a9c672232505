"""A BiLSTM with attention from nothing but the data: "bilstm_attention(hidden=128, embeddings='vectors.vec')"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from assay.core.errors import SpecError
from assay.datasets.dataset import Dataset
from assay.models.bilstm import BilstmAttentionConfig, BilstmAttentionForSequenceClassification
from assay.models.model import Model
from assay.training.pretrained import name_labels, seeded, with_head
from assay.training.word_vocabulary import Cut, word_tokenizer, word_vectors

# Adam with amsgrad, L2 on everything but the attention of the single model, the best epoch by validation AUROC
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
    """Sizes and the start of the word vectors; the sizes are the paper's for SST, which has fastText's vectors."""

    hidden: int = 128  # of each direction
    width: int | None = None  # of the word vectors; None: the file's, or 300
    embeddings: str | None = None  # a file of vectors, a pretrained encoder, or None: N(0,1)
    min_count: int = 1  # texts that a word must be in
    vocabulary: int | None = None  # words, at most: the most frequent
    positions: int = 512  # longest text
    cut: Cut = "words"
    tied: bool = False  # one table for both texts of a pair

    def __post_init__(self) -> None:
        for name in ("hidden", "width", "min_count", "vocabulary", "positions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SpecError(f"bilstm_attention: {name}={value}; give at least 1")


def bilstm_model(
    size: BilstmSize,
    data: Dataset,
    labels: Sequence[str],
    task: str,
    *,
    seed: int = 0,
    device: torch.device | str | None = None,
) -> Model:
    """The model of a size for a data set: paired if its examples are pairs."""
    pairs = {example.text_pair is not None for example in data}
    if len(pairs) != 1:
        raise SpecError(f"{data.name or 'the data'} mixes texts and pairs; a BiLSTM reads one or the other")
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
    with seeded(seed):
        hf = BilstmAttentionForSequenceClassification(name_labels(config, labels, task))  # type: ignore[arg-type]
        start_tables(hf, vectors)
        return with_head(hf, tokenizer, labels, task, device)


def start_tables(hf: BilstmAttentionForSequenceClassification, vectors: torch.Tensor | None) -> None:
    """Both tables of a paired model start from the same array."""
    with torch.no_grad():
        if vectors is not None:
            hf.words.primary.weight.copy_(vectors)
        if hf.words.auxiliary is not None:
            hf.words.auxiliary.weight.copy_(hf.words.primary.weight)
