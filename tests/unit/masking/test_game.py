"""The Game: each distinct mask runs once, in whatever batches fit, and the numbers do not know how."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import toys
from assay import Example, InputError, ModelError
from assay.masking.game import Game
from assay.masking.removal import REMOVALS
from assay.masking.units import divide
from assay.models.batches import out_of_memory
from assay.models.encode import TextEncoder
from assay.models.encoding import collate
from assay.models.model import NotFiniteError

TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin", "sad", "it is not a bad film , not bad"]
MASK = toys.wordpiece().mask_token_id


class Fake:
    """A model whose outputs are sums over the ids it sees, so that every answer can be checked by hand."""

    family = SimpleNamespace(images=False)
    tokenizer = toys.wordpiece()

    def __init__(self, most: int = 10**9, broken: int | None = None) -> None:
        self.most, self.broken = most, broken
        self.sizes: list[tuple[int, int]] = []
        self.rows: list[tuple[int, ...]] = []

    def encode(self, text: str):
        return divide(TextEncoder(self.tokenizer, 128)(Example(text)))

    def batch(self, rows):
        return collate(rows, 0, torch.device("cpu"), torch.float32)

    def logits(self, batch):
        self.sizes.append(tuple(batch.ids.shape))
        if len(batch.ids) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        used = [tuple(ids[m > 0].tolist()) for ids, m in zip(batch.ids, batch.mask, strict=True)]
        self.rows += used
        for i, row in enumerate(used):
            if self.broken in row:
                raise NotFiniteError(i, "the model answered [nan, nan]", torch.float32)
        return torch.tensor([answer(row) for row in used])


def answer(row):
    """(2,) by hand: the sum of the ids, and a sum that knows their order."""
    return [float(sum(row)), float(sum(i * t for i, t in enumerate(row)))]


def game(model, texts=TEXTS, removal="mask_token", budget=64):
    return Game(model, [model.encode(t) for t in texts], REMOVALS.make(removal), budget)


def by_hand(game, i, keep, removal="mask_token"):
    e = game.encodings[i]
    stays = [u < 0 or keep[u] for u in e.unit_of]
    ids = e.ids.tolist()
    if removal == "delete":
        return answer([t for t, k in zip(ids, stays, strict=True) if k])
    return answer([t if k else MASK for t, k in zip(ids, stays, strict=True)])


def random_keeps(game, m=7, seed=0):
    rng = np.random.default_rng(seed)
    return [(i, rng.random((m, e.players)) < 0.5) for i, e in enumerate(game.encodings)]


@pytest.mark.parametrize("removal", ["mask_token", "delete"])
@pytest.mark.parametrize("budget", [1, 13, 64, 10**6])
def test_answers_in_order_whatever_the_batches(removal, budget):
    g = game(Fake(), removal=removal, budget=budget)
    asked = random_keeps(g)
    asked = [asked[2], asked[0], *asked[1:], (0, asked[0][1][:1])]  # any order, an example twice
    for (i, keep), out in zip(asked, g.outputs(asked), strict=True):
        assert out.shape == (len(keep), 2)
        assert out.tolist() == [by_hand(g, i, row, removal) for row in keep]


def test_each_distinct_mask_runs_once():
    model = Fake()
    g = game(model)
    keep = np.array([[True, False, True, True], [True, True, True, True], [True, False, True, True]])
    g.outputs([(1, keep), (1, keep[:1])])
    assert len(model.rows) == 2
    g.outputs([(1, keep[::-1])])
    assert len(model.rows) == 2  # from memory
    g.outputs([(1, ~keep[:1])])
    assert len(model.rows) == 3
    assert len(set(model.rows)) == 3
    assert [t.forwards for t in g.tallies] == [0, 3, 0, 0]


def test_the_same_mask_of_two_examples_is_two():
    model = Fake()
    g = game(model, ["a film", "a plot"])
    one = np.ones((1, 2), bool)
    first, second = g.outputs([(0, one), (1, one)])
    assert first.tolist() != second.tolist()
    assert len(model.rows) == 2


def test_many_units_have_distinct_keys():
    """Masks of more than eight units do not collide, nor do those that differ in the last unit only."""
    model = Fake()
    g = game(model, ["a film is not a bad plot , it is not sad and it is not slow"])
    n = g.encodings[0].players
    assert n > 16
    keep = ~np.eye(n, dtype=bool)
    (out,) = g.outputs([(0, keep)])
    assert len(model.rows) == n
    assert out.tolist() == [by_hand(g, 0, row) for row in keep]


def test_full_is_every_whole_input():
    g = game(Fake())
    assert g.full().tolist() == [by_hand(g, i, np.ones(e.players, bool)) for i, e in enumerate(g.encodings)]


def test_batches_keep_to_the_budget_and_are_full():
    model = Fake()
    g = game(model, budget=40)
    g.outputs(random_keeps(g, m=20))
    assert all(rows * width <= 40 or rows == 1 for rows, width in model.sizes)
    widths = [width for _, width in model.sizes]
    assert widths == sorted(widths, reverse=True)  # longest first
    assert len(model.sizes) <= 2 + sum(rows * width for rows, width in model.sizes) / 20


def test_examples_share_batches():
    model = Fake()
    g = game(model, budget=10**6)
    g.outputs(random_keeps(g, m=20))
    assert len(model.sizes) == 1


def test_delete_shortens_the_rows():
    """What is deleted is not computed: rows are sorted by what is left of them."""
    model = Fake()
    g = game(model, TEXTS[:1], removal="delete", budget=24)
    n = g.encodings[0].players
    keep = np.tril(np.ones((n, n), bool))  # 1, 2, ... n units left
    g.outputs([(0, keep)])
    computed = sum(rows * width for rows, width in model.sizes)
    needed = sum(2 + k for k in range(1, n + 1))  # [CLS], [SEP] and k units
    assert computed < 1.35 * needed
    assert [width for _, width in model.sizes] == sorted((w for _, w in model.sizes), reverse=True)
    assert sorted(len(row) for row in model.rows) == [2 + k for k in range(1, n + 1)]


def test_progress_counts_sequences():
    told = []
    model = Fake()
    g = Game(model, [model.encode(t) for t in TEXTS], REMOVALS.make("mask_token"), 30, told.append)
    g.outputs(random_keeps(g))
    assert sum(told) == len(model.rows) == sum(t.forwards for t in g.tallies)


# --- out of memory --------------------------------------------------------------------------------------------------


def test_out_of_memory_halves_and_goes_on():
    model = Fake(most=3)
    g = game(model, budget=400)
    asked = random_keeps(g, m=9)
    for (i, keep), out in zip(asked, g.outputs(asked), strict=True):
        assert out.tolist() == [by_hand(g, i, row) for row in keep]
    failed = [size for size in model.sizes if size[0] > 3]
    assert 0 < len(failed) < 12
    assert g.budget < 400
    assert max(rows for rows, _ in model.sizes if rows <= 3) > 1  # no further down than needed
    again = len(model.sizes)
    g.outputs(random_keeps(g, m=9, seed=1))
    assert all(rows <= 3 or width < 12 for rows, width in model.sizes[again:])  # it has learnt
    assert len(model.rows) == len(set(model.rows)) == sum(t.forwards for t in g.tallies)


def test_out_of_memory_on_one_sequence_says_so():
    with pytest.raises(ModelError, match=r"out of memory on a single sequence of \d+ positions"):
        game(Fake(most=0)).full()


def test_other_errors_are_not_swallowed():
    model = Fake()
    model.logits = lambda batch: (_ for _ in ()).throw(RuntimeError("size mismatch"))
    with pytest.raises(RuntimeError, match="size mismatch"):
        game(model).full()


def test_what_counts_as_out_of_memory():
    assert out_of_memory(torch.OutOfMemoryError("x"))
    assert out_of_memory(MemoryError())
    assert out_of_memory(RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory"))
    assert not out_of_memory(RuntimeError("expected scalar type Float"))


def test_an_answer_that_is_not_finite_names_its_example():
    model = Fake(broken=toys.wordpiece().convert_tokens_to_ids("film"))
    with pytest.raises(InputError, match="input 3: the model answered") as error:
        game(model).full()
    assert error.value.index == 3


# --- a real model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bert():
    return toys.bert(seed=5)


@pytest.mark.parametrize("removal", ["mask_token", "pad", "unk", "zero", "delete"])
def test_batch_size_and_order_change_nothing(bert, removal):
    encodings = [divide(bert.encode(Example(t))) for t in TEXTS]
    rng = np.random.default_rng(0)
    asked = [(i, rng.random((6, e.players)) < 0.6) for i, e in enumerate(encodings)]
    remove = REMOVALS.make(removal)
    whole = Game(bert, encodings, remove, 10**6).outputs(asked)
    for budget in (1, 30, 77):
        for out, other in zip(whole, Game(bert, encodings, remove, budget).outputs(asked), strict=True):
            assert np.allclose(out, other, atol=1e-5)
    backwards = Game(bert, encodings[::-1], remove, 50).outputs([(3 - i, keep[::-1]) for i, keep in asked])
    for out, other in zip(whole, backwards, strict=True):
        assert np.allclose(out, other[::-1], atol=1e-5)
    alone = [Game(bert, [e], remove, 1).outputs([(0, asked[i][1])])[0] for i, e in enumerate(encodings)]
    for out, other in zip(whole, alone, strict=True):
        assert np.allclose(out, other, atol=1e-5)


def test_removals_are_what_they_say(bert):
    """Against the bare model: replaced ids with everything else in place, deleted ids with positions renumbered."""
    text = "a modest film is sad"
    encoding = divide(bert.encode(Example(text)))
    keep = np.array([[True, False, True, True, False]])
    ids = bert.tokenizer(text, return_tensors="pt")["input_ids"]
    gone = torch.tensor([[False, False, True, False, False, True, False]])
    embeddings = bert.hf.get_input_embeddings()(ids).masked_fill(gone.unsqueeze(-1), 0.0)
    tokenizer = bert.tokenizer
    with torch.no_grad():
        expected = {
            "mask_token": bert.hf(ids.masked_fill(gone, tokenizer.mask_token_id)).logits,
            "pad": bert.hf(ids.masked_fill(gone, tokenizer.pad_token_id), torch.ones_like(ids)).logits,
            "unk": bert.hf(ids.masked_fill(gone, tokenizer.unk_token_id)).logits,
            "delete": bert.hf(ids[~gone][None]).logits,
            "zero": bert.hf(inputs_embeds=embeddings).logits,
        }
    for removal, truth in expected.items():
        (out,) = Game(bert, [encoding], REMOVALS.make(removal), 100).outputs([(0, keep)])
        assert np.allclose(out, truth.numpy(), atol=1e-5), removal
    assert np.ptp([float(t[0, 0]) for t in expected.values()]) > 0.1  # so they could be confused
