"""MaSF against a literal version of its steps, and what must follow from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from assay.core.errors import InputError
from assay.evaluation.roar.masf import Masf, simes
from families import model_of

RNG = np.random.default_rng


def literal(reference: np.ndarray, x: np.ndarray) -> float:
    """One input, step by step with loops (section 10 of the fact sheet); the reference's own ranks count themselves."""
    n, layers, dims = reference.shape

    def two_sided(values, value, own):
        left, right = sum(v <= value for v in values), sum(v >= value for v in values)
        return min(1.0, 2 * (min(left, right) + (0 if own else 1)) / (n + 1))

    def of_layer(row, layer, own):
        p = sorted(two_sided(reference[:, layer, d], row[layer, d], own) for d in range(dims))
        return min(dims * value / (k + 1) for k, value in enumerate(p))

    known = [[of_layer(reference[i], layer, True) for i in range(n)] for layer in range(layers)]
    own = [
        -2 * sum(np.log(sum(v <= known[layer][i] for v in known[layer]) / (n + 1)) for layer in range(layers))
        for i in range(n)
    ]
    p = [(sum(v <= of_layer(x, layer, False) for v in known[layer]) + 1) / (n + 1) for layer in range(layers)]
    stat = -2 * sum(np.log(value) for value in p)
    return (sum(v >= stat for v in own) + 1) / (n + 1)


def test_it_is_the_literal_procedure():
    rng = RNG(0)
    reference, new = rng.standard_normal((30, 2, 4)), rng.standard_normal((12, 2, 4)) * 1.5
    new[0] = reference[3]  # ties
    found = Masf(reference).p_values(new)
    assert found == pytest.approx([literal(reference, x) for x in new])


def test_simes_by_hand():
    """min(3 x .02 / 1, 3 x .03 / 2, 3 x .9 / 3)."""
    assert simes(np.array([0.9, 0.03, 0.02])) == pytest.approx(0.045)


def test_five_per_cent_of_the_known_are_outside_and_most_of_the_strange():
    rng = RNG(1)
    masf = Masf(rng.standard_normal((600, 3, 8)))
    assert masf.outside(rng.standard_normal((1500, 3, 8))) == pytest.approx(0.05, abs=0.02)
    assert masf.outside(rng.standard_normal((300, 3, 8)) + 3) > 0.95
    assert masf.outside(rng.standard_normal((300, 3, 8)) * 4) > 0.95  # two-sided: wider, not higher


def test_only_ranks_matter():
    rng = RNG(2)
    reference, new = rng.standard_normal((40, 2, 3)), rng.standard_normal((20, 2, 3))
    assert Masf(np.exp(reference)).p_values(np.exp(new)) == pytest.approx(Masf(reference).p_values(new))
    with pytest.raises(InputError, match="at least 2"):
        Masf(reference[:1])


@pytest.mark.parametrize("case", ["bert", "bilstm_attention", "bilstm_attention-paired"])
def test_the_highest_states_of_a_row_do_not_depend_on_its_neighbours(case):
    """Padding is never the highest; alone and in a batch with a longer text they are the same."""
    model = model_of(case)
    texts = ["good", "the soup was good and the film was bad"]
    pair = {"text_pair": "is it good"} if case.endswith("paired") else {}
    encodings = [model.encode(assay_example(text, **pair)) for text in texts]
    together = model.highest_states(model.batch(encodings))
    for i, encoding in enumerate(encodings):
        alone = model.highest_states(model.batch([encoding]))
        torch.testing.assert_close(together[i : i + 1], alone, atol=1e-5, rtol=1e-4)
    assert torch.isfinite(together).all()
    assert together.shape[1] == (2 if case == "bert" else 1)


def assay_example(text, **more):
    from assay.core.types import Example

    return Example(text, id="0", **more)
