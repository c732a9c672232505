"""Planted heads: what is planted, what the table says of made-up students, and that the numbers come out again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from reproductions.smat.planted import (
    BASE,
    EQUAL,
    LOUDNESS,
    PLANTED,
    SEEDS,
    SHUFFLED,
    VARIED,
    missing,
    planted_heads,
    small_model,
    students,
    texts,
    words,
)
from reproductions.smat.planted_table import gain, planted_finding, planted_table, read_planted

HERE = Path(__file__).parents[1]


def rows(equal: float, smat: float, spread: float = 0.01) -> list[dict[str, object]]:
    moved = np.linspace(-spread, spread, SEEDS)
    fixed = {"none": 0.6, "smat, own student": 0.9, SHUFFLED: 0.5, "weight": 0.7}
    return [{"seed": i, **fixed, EQUAL: equal, "smat": smat + d} for i, d in enumerate(moved)]


def test_only_the_heads_that_know_look_at_the_word_that_decides() -> None:
    rng, model = np.random.default_rng(0), small_model()
    cues, filler = words(model)
    assert not set(cues) & set(filler)
    data = texts(40, cues, filler, rng)
    heads = planted_heads(model, data, cues, replace(BASE, knowing=3), rng)
    for example in data:
        found = [example.text[s.start : s.end] for s in model.encode(example).spans]
        cue = [word in cues for word in found]
        assert sum(cue) == 1, "one word decides, and it is one token"
        assert cues.index(found[cue.index(True)]) % 2 == example.label
        assert (heads[example.content].numpy()[:3, cue] > LOUDNESS - 4).all()
    noise = np.concatenate([logits.numpy()[3:].ravel() for logits in heads.values()])
    assert abs(noise.mean()) < 0.05
    assert noise.std() == pytest.approx(1, abs=0.05)


def test_the_finding_names_where_learnt_heads_gain_and_where_not() -> None:
    few, many, tiny = BASE, replace(BASE, texts=256), replace(BASE, beta=1.0)
    found = {few: rows(0.7, 0.9), many: rows(0.9, 0.9), tiny: rows(0.9, 0.905, 0.001)}
    sentence = planted_finding(found)
    gains, rest, kept = sentence.split("; ")
    assert "0 of 16 fits lost" in kept
    assert "1 of 8 heads, 128 texts and beta 5 (+20.0 [" in gains
    assert "256 texts (+0.0 [" in rest
    assert "beta 1 (+0.5 [" in rest, "half a point does not matter"
    assert (
        planted_table(found).splitlines()[10].startswith("| 1 of 8 | 128 | 5 | sparsemax | 60.0 | 70.0 | 90.0 | 90.0 |")
    )


def test_the_interval_is_a_t_interval_of_the_paired_differences() -> None:
    found = rows(0.7, 0.9)
    d = np.array([row["smat"] - row[EQUAL] for row in found])
    half = 2.1314495456 * d.std(ddof=1) / np.sqrt(16)  # t quantile of .975 with 15 degrees of freedom
    assert (gain(found).low, gain(found).high) == pytest.approx((d.mean() - half, d.mean() + half))


def test_settings_without_all_seeds_are_left_out(tmp_path: Path) -> None:
    done = [{"setting": asdict(BASE), **row} for row in rows(0.7, 0.9)]
    (tmp_path / PLANTED).write_text(json.dumps(done[:-1]))
    assert not read_planted(tmp_path)
    (tmp_path / PLANTED).write_text(json.dumps(done))
    assert list(read_planted(tmp_path)) == [BASE]
    assert len(list(missing(done))) == (len(VARIED) - 1) * SEEDS


@pytest.mark.slow
def test_the_first_student_comes_out_again() -> None:
    kept = next(r for r in json.loads((HERE / PLANTED).read_text()) if r["seed"] == 0 and r["setting"] == asdict(BASE))
    again = students(BASE, 0, small_model())
    assert again == pytest.approx({name: kept[name] for name in again}, abs=0.02)
