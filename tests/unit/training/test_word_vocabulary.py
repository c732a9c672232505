"""The BiLSTM's vocabulary, its vectors, and that it trains, saves and loads like any other model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import assay
from assay.core.errors import SpecError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.evaluation.performance.accuracy import Accuracy
from assay.evaluation.performance.auroc import Auroc
from assay.training.bilstm import PAIRED_RECIPE, SINGLE_RECIPE
from assay.training.classifier import Trainable, initial_model, train_classifier
from assay.training.optimiser import parameter_groups
from assay.training.recipe import Recipe
from assay.training.word_vocabulary import SPECIAL, word_tokenizer, word_vectors

TEXTS = ["Good soup, good bread.", "bad soup", "good film"]


def data(n=60, paired=False):
    rng = np.random.default_rng(0)
    filler = ["the", "soup", "was", "here", "again"]
    examples = []
    for i in range(n):
        words = [*rng.choice(filler, 4), "good" if i % 2 else "bad"]
        text = " ".join(rng.permutation(words))
        examples.append(Example(text, "is it good" if paired else None, id=str(i), label=i % 2))
    return Dataset(tuple(examples), "toy", ("no", "yes"))


def test_the_vocabulary_is_by_first_occurrence():
    tokenizer = word_tokenizer(TEXTS, 1, None, 32, "words")
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    assert words == [*SPECIAL, "good", "soup", ",", "bread", ".", "bad", "film"]
    assert tokenizer("good unseen").input_ids == [1, 5, 4, 2]
    assert tokenizer("good", "bad").input_ids == [1, 5, 2, 1, 10, 2]


def test_rare_words_and_marks_are_left_out():
    def words(*options):
        tokenizer = word_tokenizer(TEXTS, *options)
        return tokenizer.convert_ids_to_tokens(range(5, len(tokenizer)))

    assert words(2, None, 32, "words") == ["good", "soup"]  # in two texts; twice in one text counts once
    assert words(1, None, 32, "letters") == ["good", "soup", "bread", "bad", "film"]
    assert words(1, None, 32, "spaces") == ["good", "soup,", "bread.", "bad", "soup", "film"]
    assert words(1, 1, 32, "words") == ["good"]
    with pytest.raises(SpecError, match="lower min_count"):
        words(9, None, 32, "words")


def test_vectors_from_a_file(tmp_path):
    """With a header as fastText has it; special symbols and unknown words are zero, also where the file has them."""
    path = tmp_path / "vectors.vec"
    path.write_text("3 2\ngood 1 2\n[MASK] 9 9\nsoup 3 4.5\n")
    found = word_vectors(str(path), [*SPECIAL, "good", "soup", "film"], None)
    assert found.tolist() == [[0, 0]] * 5 + [[1, 2], [3, 4.5], [0, 0]]
    with pytest.raises(SpecError, match="have length 2"):
        word_vectors(str(path), ["good"], 300)
    with pytest.raises(SpecError, match="neither a file"):
        word_vectors(str(tmp_path / "nothing"), ["good"], None)


def test_vectors_from_a_pretrained_table():
    """A word of several pieces has their mean."""
    from assay.models.load import BUILTIN

    model = assay.load_model("builtin")
    table, tokenizer = model.hf.base_model.get_input_embeddings().weight.detach(), model.tokenizer
    words = ["good", "unfathomably"]
    found = word_vectors(str(BUILTIN), [*SPECIAL, *words], None)
    for vector, word in zip(found[5:], words, strict=True):
        ids = tokenizer(word, add_special_tokens=False).input_ids
        assert np.allclose(vector, table[ids].mean(0), atol=1e-6)
    assert len(tokenizer(words[1], add_special_tokens=False).input_ids) > 1
    assert not found[:5].any()


def test_the_papers_recipe():
    """Adam with amsgrad; no decay on the attention of a single model, decay on all of a paired one."""
    for text, paired in ((SINGLE_RECIPE, False), (PAIRED_RECIPE, True)):
        recipe = Recipe.from_spec(text)
        assert (recipe.optimiser, recipe.amsgrad, recipe.learning_rate, recipe.clip) == ("adam", True, 1e-3, None)
        assert (recipe.schedule, recipe.warmup, recipe.weight_decay) == ("constant", 0, 1e-5)
        model = initial_model("bilstm_attention(hidden=4, width=6)", data(8, paired), data(4, paired))
        model.hf.requires_grad_(True)
        module = Trainable(model)
        free = {id(p) for g in parameter_groups(module, recipe) if not g["weight_decay"] for p in g["params"]}
        names = {name for name, p in module.named_parameters() if id(p) in free}
        assert names == ({n for n, _ in module.named_parameters() if "attention" in n} if not paired else set())
        assert paired or names


@pytest.mark.parametrize("paired", [False, True])
def test_it_trains_saves_and_loads(paired, tmp_path):
    recipe = Recipe.from_spec("recipe(epochs=6, batch_size=8, learning_rate=0.02, optimiser=adam, selection=accuracy)")
    metrics = {"accuracy": Accuracy(), "auroc": Auroc()}
    train, held = data(64, paired), data(32, paired)
    done = train_classifier(
        "bilstm_attention(hidden=8, width=8)",
        train,
        held,
        recipe,
        output=tmp_path / "m",
        metrics=metrics,
        progress=False,
    )
    assert done.history.best_check.scores["accuracy"] == 1
    loaded = assay.load_model(tmp_path / "m")
    assert (loaded.family.name, loaded.labels) == ("bilstm_attention", ("no", "yes"))
    assert loaded.fingerprint == done.model.fingerprint
    assert loaded.hf.config.paired == paired
    a = assay.explain(loaded, train[1], "average_attention", progress=False)
    assert sum(a.scores[: len(train[1].text.split())]) == pytest.approx(1, abs=1e-4)


def test_both_tables_start_alike():
    hf = initial_model("bilstm_attention(hidden=4, width=6)", data(8, True), data(4, True)).hf
    assert torch.equal(hf.words.primary.weight, hf.words.auxiliary.weight)
    assert hf.words.primary.weight is not hf.words.auxiliary.weight
    tied = initial_model("bilstm_attention(hidden=4, width=6, tied=True)", data(8, True), data(4, True)).hf
    assert tied.words.auxiliary is None


def test_bad_sizes_are_sentences():
    with pytest.raises(SpecError, match="hidden=0"):
        initial_model("bilstm_attention(hidden=0)", data(8), data(4))
    mixed = Dataset((*data(4), *data(4, True)), "toy", ("no", "yes"))
    with pytest.raises(SpecError, match="mixes texts and pairs"):
        initial_model("bilstm_attention()", mixed, mixed)
