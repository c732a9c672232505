"""Flows run in lock-step: one question to the game per round, each flow getting its own answers."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.types import Scores
from assay.explainers.perturbation.occlusion import Occlusion
from assay.masking.flow import run_flows


class Plain:
    """A game that is a plain function of the mask, and remembers what it was asked."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[int, int]]] = []

    def outputs(self, requests):
        self.rounds.append([(i, len(keep)) for i, keep in requests])
        return [np.stack([keep.sum(1) + 100.0 * i, -keep.sum(1)], 1).astype(np.float32) for i, keep in requests]


def first(i, outputs):
    return outputs[:, 0].astype(float)


def asks(rounds, n=3, log=None):
    """A flow that asks `rounds` times and returns all values it was given."""

    def flow():
        got = []
        for r in range(rounds):
            keep = np.zeros((r + 1, n), bool)
            keep[:, 0] = True
            values = yield keep
            assert values.shape == (r + 1,)
            got.append(values.tolist())
        return np.array([len(got)], float) if log is None else log.append(got) or np.zeros(n)

    return flow()


def test_lock_step():
    game = Plain()
    out = run_flows(game, [asks(2), asks(0), asks(3), asks(1)], first)
    assert game.rounds == [[(0, 1), (2, 1), (3, 1)], [(0, 2), (2, 2)], [(2, 3)]]
    assert [o.scores[0] for o in out] == [2, 0, 3, 1]
    assert all(isinstance(o, Scores) for o in out)


def test_each_flow_gets_its_own_values():
    game, logs = Plain(), [[], []]
    run_flows(game, [asks(2, log=logs[0]), asks(1, log=logs[1])], first)
    assert logs == [[[[1.0], [1.0, 1.0]]], [[[101.0]]]]


def test_value_is_told_which_flow():
    seen = []

    def value(i, outputs):
        seen.append((i, outputs.shape))
        return outputs[:, 1].astype(float)

    out = run_flows(Plain(), [Occlusion().flow(4, None), Occlusion().flow(2, None)], value)
    assert seen == [(0, (5, 2)), (1, (3, 2))]
    assert out[0].scores.tolist() == [-1, -1, -1, -1]
    assert out[1].scores.tolist() == [-1, -1]


def test_extra_is_handed_on():
    def flow():
        yield np.ones((1, 2), bool)
        return Scores(np.zeros(2), {"order": [1, 0]})

    (out,) = run_flows(Plain(), [flow()], first)
    assert out.extra == {"order": [1, 0]}


def test_nothing_to_do():
    game = Plain()
    assert run_flows(game, [], first) == []
    assert run_flows(game, [asks(0)], first)[0].scores.tolist() == [0]
    assert game.rounds == []


def test_keeps_may_be_numbers():
    def flow():
        values = yield np.array([[1, 0, 1]])
        return values

    (out,) = run_flows(Plain(), [flow()], first)
    assert out.scores.tolist() == [2.0]


def test_an_error_in_a_flow_is_seen():
    def flow():
        yield np.ones((1, 2), bool)
        raise ZeroDivisionError("in the method")

    with pytest.raises(ZeroDivisionError, match="in the method"):
        run_flows(Plain(), [flow()], first)
