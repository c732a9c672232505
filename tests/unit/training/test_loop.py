"""The loop: accumulation, selection, early stopping, seeds, and going on after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from assay.core.errors import AssayError, ModelError, SpecError
from assay.training import checkpoint
from assay.training.history import Check, History
from assay.training.loop import TrainingData, fit
from assay.training.recipe import Group, Recipe
from unit.training import toy
from unit.training.toy import DATA, KILLED, linear, loss, network, train, validate

FAST = Recipe(epochs=4, batch_size=8, learning_rate=1e-2)


def weights(model: nn.Module) -> list[Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


def test_it_learns() -> None:
    model = linear()
    history = train(model, Recipe(epochs=60, batch_size=8, learning_rate=0.05, groups=(), weight_decay=0.0))
    assert validate(model)["loss"] < 1e-4
    assert history.steps == 300
    assert len(history.checks) == 60


@pytest.mark.parametrize("size", [40, 37])  # 37: the last batches are ragged
def test_accumulation_equals_a_larger_batch(size: int) -> None:
    data = TrainingData(size, DATA.batch)
    small, large = linear(), linear()
    fit(small, data, loss, None, replace(FAST, batch_size=4, accumulation=3))
    fit(large, data, loss, None, replace(FAST, batch_size=12))
    for a, b in zip(weights(small), weights(large), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_clipping_bounds_what_one_step_moves() -> None:
    model = linear()
    before = torch.cat([p.flatten() for p in weights(model)])
    fit(
        model,
        DATA,
        loss,
        None,
        Recipe.from_spec("recipe(1, 40, 1.0, sgd, groups=[], weight_decay=0, clip=0.01, warmup=0)"),
    )
    after = torch.cat([p.flatten() for p in weights(model)])
    assert (after - before).norm().item() == pytest.approx(0.01, rel=1e-3)


def scripted(values: list[float]) -> tuple[Any, list[list[Tensor]]]:
    """A validation that answers what it is told and remembers the weights it saw."""
    seen: list[list[Tensor]] = []

    def answer(model: nn.Module) -> dict[str, float]:
        seen.append(weights(model))
        return {"accuracy": values[len(seen) - 1], "loss": 0.0}

    return answer, seen


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_best_checkpoint_is_kept_and_patience_ends(better: str) -> None:
    values = [0.5, 0.7, 0.7, 0.6, 0.65, 0.9]
    validate, seen = scripted(values if better == "higher" else [-v for v in values])
    recipe = Recipe.from_spec(f"recipe(9, 8, 1e-2, selection=accuracy, better={better}, patience=3)")
    model, told = linear(), []
    history = fit(model, DATA, loss, validate, recipe, on_check=lambda check, best: told.append(best))
    assert history.stopped
    assert len(history.checks) == 5, "three validations without a better one after the second"
    assert history.best == 1, "an equal score is not better"
    assert history.best_check == history.checks[1]
    assert all(torch.equal(a, b) for a, b in zip(weights(model), seen[1], strict=True))
    assert told == [True, True, False, False, False]


def test_of_equal_scores_the_one_with_the_lower_loss_is_kept() -> None:
    scores = iter([(0.5, 0.9), (0.7, 0.6), (0.7, 0.4), (0.7, 0.5), (0.6, 0.1)])

    def answer(model: nn.Module) -> dict[str, float]:
        return dict(zip(("accuracy", "loss"), next(scores), strict=True))

    history = fit(linear(), DATA, loss, answer, replace(FAST, epochs=5, selection="accuracy", better="higher"))
    assert history.best == 2


def test_patience_that_ends_with_the_last_step_stopped_nothing() -> None:
    validate, _ = scripted([0.5, 0.4, 0.3])
    recipe = Recipe.from_spec("recipe(3, 8, 1e-2, selection=accuracy, better=higher, patience=2)")
    history = fit(linear(), DATA, loss, validate, recipe)
    assert (history.steps, history.best, history.stopped) == (15, 0, False)


def test_validation_at_fractions_of_an_epoch_sees_the_weights_of_that_step() -> None:
    seen: list[list[Tensor]] = []

    def answer(model: nn.Module) -> dict[str, float]:
        seen.append(weights(model))
        return {"loss": -len(seen)}

    recipe = replace(FAST, epochs=2, batch_size=5, validate_every=0.25, schedule="constant", warmup=0.0)
    model = linear()
    history = fit(model, DATA, loss, answer, recipe)
    assert [(c.step, c.epoch) for c in history.checks] == [(2 * k, 0.25 * k) for k in range(1, 9)]
    half = linear()
    fit(half, DATA, loss, None, replace(recipe, epochs=1))
    assert all(torch.equal(a, b) for a, b in zip(seen[3], weights(half), strict=True))


def test_the_training_loss_of_a_check_is_the_mean_over_its_items() -> None:
    values: list[tuple[float, int]] = []

    def spying(model: nn.Module, items: Any) -> Tensor:
        out = loss(model, items)
        values.append((out.item(), len(items[0])))
        return out

    history = train(linear(), replace(FAST, batch_size=12, epochs=2), loss=spying)  # 12, 12, 12, 4
    for check, part in zip(history.checks, (values[:4], values[4:]), strict=True):
        assert check.loss == pytest.approx(sum(v * n for v, n in part) / 40, abs=1e-12)


def test_without_validation_the_last_weights_stay() -> None:
    model = linear()
    history = fit(model, DATA, loss, None, FAST)
    assert (history.checks, history.best, history.best_check, history.stopped) == ((), None, None, False)


def test_one_seed_one_result_and_another_seed_another() -> None:
    one, two, other, unlike = network(), network(), network(), network()
    first, second = train(one, FAST), train(two, FAST)
    train(other, replace(FAST, seed=1))
    train(unlike, FAST, key="other data")
    assert same(one, two)
    assert first == second
    assert not same(one, other)
    assert not same(one, unlike)


def test_what_validation_draws_changes_nothing() -> None:
    one, two = network(), network()

    def drawing(model: nn.Module) -> dict[str, float]:
        torch.rand(7)
        return validate(model)

    train(one, FAST)
    train(two, FAST, validate=drawing)
    assert same(one, two)


def test_the_callers_randomness_and_mode_are_left_alone() -> None:
    model = network().eval()
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    train(model, FAST)
    assert torch.equal(torch.rand(4), expected)
    assert not model.training


def test_a_part_in_evaluation_mode_is_so_again_and_no_gradient_stays() -> None:
    model = network().train()
    model[2].eval()
    train(model, FAST)
    assert [module.training for module in model] == [True, True, False, True, True]
    assert all(p.grad is None for p in model.parameters())


def test_batches_by_length_reach_the_loss() -> None:
    lengths = [i % 4 for i in range(40)]

    def spread(recipe: Recipe) -> int:
        got: list[Sequence[int]] = []
        data = TrainingData(40, lambda index: got.append(index) or DATA.batch(index), lengths)  # type: ignore[func-returns-value]
        fit(linear(), data, loss, None, recipe)
        assert sorted(i for index in got for i in index) == sorted([*range(40)] * recipe.epochs)
        return max(len({lengths[i] for i in index}) for index in got)

    assert spread(replace(FAST, batch_size=5)) == 1
    assert spread(replace(FAST, batch_size=5, by_length=False)) > 1


@pytest.mark.parametrize("shown", [True, False])
def test_a_progress_bar_counts_the_steps(
    shown: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    train(linear(), FAST, progress=shown)
    assert ("20/20" in capsys.readouterr().err) == shown


class BiLSTM(nn.Module):
    """Not of transformers: embeddings, an LSTM in both directions, its mean, a class."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 8, bidirectional=True, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, ids: Tensor) -> Tensor:
        real = (ids > 0).unsqueeze(-1)
        return self.head((self.lstm(self.embed(ids))[0] * real).sum(1) / real.sum(1))


def test_a_bilstm_learns_with_the_recipe_of_roar() -> None:
    rng = np.random.default_rng(0)
    rows = [torch.from_numpy(rng.integers(3, 20, rng.integers(2, 9))) for _ in range(160)]
    for i, row in enumerate(rows):
        row[rng.integers(len(row))] = 1 + i % 2  # the cue

    def make(index: Sequence[int]) -> tuple[Tensor, Tensor]:
        return nn.utils.rnn.pad_sequence([rows[i] for i in index], batch_first=True), torch.tensor(index) % 2

    def entropy(model: Any, items: tuple[Tensor, Tensor]) -> Tensor:
        return cross_entropy(model(items[0]), items[1])

    def accuracy(model: Any) -> dict[str, float]:
        ids, gold = make(range(120, 160))
        return {"accuracy": float((model(ids).argmax(-1) == gold).float().mean())}

    recipe = Recipe.from_spec(
        "recipe(8, batch_size=8, learning_rate=1e-2, optimiser=adam, amsgrad=True, weight_decay=1e-5, "
        "groups=[group(head, weight_decay=0)], schedule=constant, warmup=0, clip=None, "
        "selection=accuracy, better=higher)"
    )
    model = BiLSTM()
    history = fit(model, TrainingData(120, make, [len(row) for row in rows[:120]]), entropy, accuracy, recipe)
    assert history.best_check is not None
    assert accuracy(model)["accuracy"] == history.best_check.scores["accuracy"] >= 0.95


def test_dropout_can_be_left_out() -> None:
    modes = []

    def spying(model: nn.Module, items: Any) -> Tensor:
        modes.append(model.training)
        return loss(model, items)

    train(network(), replace(FAST, epochs=1), loss=spying)
    train(network(), replace(FAST, epochs=1, dropout=False), loss=spying)
    assert modes == [True] * 5 + [False] * 5


def test_history_is_data() -> None:
    history = train(linear(), FAST)
    assert History.from_json(history.to_json()) == history
    check = history.checks[0]
    assert (check.step, check.epoch) == (5, 1.0)
    assert set(check.scores) == {"loss"}
    assert isinstance(check, Check)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_in_a_sentence(value: float) -> None:
    with pytest.raises(ModelError, match=r"the loss is (nan|inf) at step 1 of 20; lower the learning rate \(0.01\)"):
        train(linear(), FAST, loss=lambda model, items: loss(model, items) * value)


def test_a_gradient_that_is_no_number_ends_in_a_sentence() -> None:
    model = linear()
    model.weight.register_hook(lambda gradient: gradient * float("nan"))
    with pytest.raises(ModelError, match="the norm of the gradient is nan at step 1 of 20"):
        train(model, FAST)
    assert all(torch.isfinite(p).all() for p in weights(model))


def test_other_mistakes_are_sentences() -> None:
    with pytest.raises(SpecError, match="no training data"):
        fit(linear(), TrainingData(0, DATA.batch), loss, None, FAST)
    with pytest.raises(SpecError, match="is not a score of this validation"):
        train(linear(), replace(FAST, selection="acuracy", better="higher"))
    with pytest.raises(ModelError, match="is NaN"):
        train(linear(), FAST, validate=lambda model: {"loss": float("nan")})


# --- going on --------------------------------------------------------------------------------------------------------


class StopError(Exception):
    """An interruption."""


CUT = {
    "adamw": FAST,
    "amsgrad": replace(FAST, optimiser="adam", amsgrad=True, schedule="cosine", validate_every=0.4, fused=False),
    "sgd": replace(FAST, optimiser="sgd", momentum=0.9, learning_rate=1e-3, patience=2, groups=(Group("4", 1e-2),)),
}


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("at", [1, 5, 6, 13, 20])
def test_interrupted_anywhere_it_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, name: str
) -> None:
    monkeypatch.setattr(checkpoint, "SPACING", 0)  # a checkpoint after every step
    undisturbed, disturbed, recipe = network(), network(), CUT[name]
    expected = train(undisturbed, recipe)
    calls = 0

    def breaking(model: nn.Module, items: Any) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == at:
            raise StopError
        return loss(model, items)

    with pytest.raises(StopError):
        train(disturbed, recipe, folder=tmp_path, save_seconds=0.0, loss=breaking)
    again = network()
    history = train(again, recipe, folder=tmp_path, save_seconds=0.0, loss=breaking)
    assert calls == 21, "no step was made twice"
    assert same(undisturbed, again)
    assert history == expected


@pytest.mark.kill
def test_killed_it_ends_the_same(tmp_path: Path) -> None:
    undisturbed, again = network(), network()
    expected = train(undisturbed, KILLED)
    process = subprocess.Popen([sys.executable, toy.__file__, str(tmp_path)])
    deadline = time.monotonic() + 120
    while not (tmp_path / checkpoint.NAME).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.7)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was still at work"
    steps = torch.load(tmp_path / checkpoint.NAME, weights_only=True)["step"]
    assert 0 < steps < expected.steps
    history = train(again, KILLED, folder=tmp_path)
    assert same(undisturbed, again)
    assert history == expected


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    first, second = network(), network()
    expected = train(first, FAST, folder=tmp_path)

    def never(model: nn.Module, items: Any) -> Tensor:
        raise AssertionError("no step is left")

    assert train(second, FAST, folder=tmp_path, loss=never) == expected
    assert same(first, second)


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    train(network(), FAST, folder=tmp_path)
    for change in ({"key": "other"}, {"resume_key": "other"}):
        with pytest.raises(AssayError, match="different recipe, data or model"):
            train(network(), FAST, folder=tmp_path, **change)
    with pytest.raises(AssayError, match="different recipe, data or model"):
        train(network(), replace(FAST, epochs=5), folder=tmp_path)


def test_a_broken_checkpoint_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / checkpoint.NAME).write_bytes(b"half")
    with pytest.raises(AssayError, match="cannot read the checkpoint"):
        train(network(), FAST, folder=tmp_path)


def test_checkpoints_take_a_small_share_of_the_time(tmp_path: Path) -> None:
    written = []
    saver = checkpoint.CheckpointSaver(tmp_path, lambda: written.append(1) or {}, 0.0)  # type: ignore[func-returns-value]
    saver.save()
    saver._duration = 10.0
    saver.save_if_due()
    assert len(written) == 1, "the next is due after 50 times as long"
