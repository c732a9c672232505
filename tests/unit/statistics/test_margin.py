"""What is too small to matter, and methods with and without signs."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import SpecError
from assay.reports.symbols import symbol_of
from assay.statistics.verdict import Comparison, compare, overall

NOISE = np.random.default_rng(0).normal(0, 1, (4, 60))


def rows(scale: float, **means: float) -> dict[str, np.ndarray]:
    return {name: mean + scale * NOISE[i] for i, (name, mean) in enumerate(means.items())}


def signs(c: Comparison) -> str:
    return "".join(symbol_of(c[m], c).sign for m in sorted(s.method for s in c.methods))


def test_significant_but_too_small_is_no_win() -> None:
    tiny = rows(1e-6, a=3e-5, b=2e-5, random=1e-5)
    assert signs(compare(tiny, "higher")) == "★✓", "significant"
    c = compare(tiny, "higher", margin=0.01)
    assert signs(c) == "☆☆"
    assert c["a"].p_random < 0.05, "still significant"
    assert c.sentence("x") == (
        "x (higher is better, n = 60): means from 3.01e-05 (a) to 9.93e-06 (random): differences below 0.01 do not "
        "matter."
    )
    assert overall({"x": c, "y": c}) == (
        "The means of methods and random differ by less than 0.01 on every metric: nothing here is worth acting on."
    )


def test_a_method_just_behind_joins_the_best_group_and_worse_must_matter_too() -> None:
    c = compare(rows(0.001, a=0.505, b=0.5, c=0.1, random=0.105), "higher", margin=0.01)
    assert signs(c) == "★★○"
    assert "b is not clearly different from it" in c.sentence("x")
    assert "c is not clearly better than random" in c.sentence("x")
    assert c.gain("a") == pytest.approx(0.4, abs=0.01)
    lower = compare({m: -row for m, row in rows(0.001, a=0.5, random=0.1).items()}, "lower", margin=0.01)
    assert lower.gain("a") == pytest.approx(0.4, abs=0.01)


def test_a_margin_is_at_least_0() -> None:
    for bad in (-1, np.inf, np.nan):
        with pytest.raises(SpecError, match="smallest difference that matters"):
            compare(rows(1, a=1), "higher", margin=bad)


def test_random_beating_all_is_said() -> None:
    c = compare(rows(0.01, a=0.1, b=0.2, random=0.5), "higher", margin=0.01)
    assert "random beats both methods: " in c.sentence("x")
    assert overall({"x": c}).endswith("random beats every method on the only metric.")


def test_an_unsigned_method_does_not_win_by_having_no_sign() -> None:
    values = rows(0.01, signed=0.5, attention=0.8, random=0.2)
    alone = compare(values, "higher", margin=0.01)
    assert signs(alone) == "★✓"
    fair = compare(values, "higher", margin=0.01, by_size={"signed": values["signed"] + 0.4})
    assert signs(fair) == "★★", "without its signs, the signed method is ahead"
    assert fair["signed"].by_size == pytest.approx(0.9, abs=0.01)
    real = compare(values, "higher", margin=0.01, by_size={"signed": values["signed"] + 0.1})
    assert signs(real) == "★✓", "behind in both readings"


def test_signed_methods_are_compared_as_they_are() -> None:
    values = rows(0.01, a=0.5, b=0.8, random=0.2)
    sizes = {"a": values["a"] + 0.5, "b": values["b"]}
    assert signs(compare(values, "higher", by_size=sizes)) == signs(compare(values, "higher"))
