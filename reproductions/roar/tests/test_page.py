"""The result pages from an empty and a small store, their tables, and the page from the packed records."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.datasets.load import load_dataset
from assay.experiments.store import Store
from assay.statistics.bootstrap import Interval

from .. import page, statements, tables
from ..claims import CLAIMS
from ..dataset_table import dataset_table
from ..figures import draw
from ..measurable import _agreement
from ..published import AREAS
from ..records import TASKS, read_evidence
from ..word_vectors import word_vector_table
from .hand_made import LSTM, NAMES, PAPER, RECURSIVE, ROAR, area, evidence, lstm, with_curves

QUICK = "recipe(epochs=2, batch_size=8, learning_rate=0.05, optimiser=adam, schedule=constant, warmup=0)"


def test_nothing_is_run_yet():
    text = page.page(evidence(), {})
    assert text.count("**incomplete (0 of 0)**") == len(CLAIMS) - 1
    assert "**reproduced (2 of 2)**" in text
    more = statements.statements(evidence())
    assert "## What was run\n\nNothing." in more
    assert more.count("\nNot run yet.\n") == 6  # five tables of areas, and the measurable model


def test_the_old_verdicts_are_told_for_every_claim():
    from ..history import BEFORE, WHY

    assert set(BEFORE) == set(WHY) == set(CLAIMS)


def test_agreement_needs_an_interval_that_can_tell():
    """Of -7 to 153 nothing follows; a wide interval that misses the paper's still differs."""
    paper = (50.7, 1.1, 0.8)
    assert tables.agreement(Interval(0.734, -0.066, 1.534, 1), paper) == ""
    assert tables.agreement(Interval(0.55, 0.45, 0.65, 5), paper) == "agrees"
    assert tables.agreement(Interval(0.55, 0.44, 0.66, 5), paper) == ""
    assert tables.agreement(Interval(0.1, -0.2, 0.4, 1), paper) == "differs"


def test_a_measurable_model_and_recursive_roar_are_compared_by_sure_pairs():
    """Of six pairs each decides some; only pairs that both decide count as agreement."""
    measurable, recursive = lstm(0.5, 0.1, 0.1, 0.3), lstm(0.5, 0.3, 0.1, 0.1)
    text = _agreement(evidence(areas={(("SST", LSTM), RECURSIVE): recursive}), measurable, recursive, NAMES)
    assert "Of 6 pairs of measures, 5 differ significantly with the measurable model and\n5 with Recursive ROAR" in text
    assert "4 with both, 3 of them in the same order." in text
    assert "The order of gradient and integrated gradients is reversed." in text


def test_areas_of_roar_stand_beside_our_own_with_recursion():
    """The paper's areas are recursive ones."""
    e = evidence(areas={(("SST", LSTM), RECURSIVE): lstm(*PAPER), (("SST", LSTM), ROAR): lstm(0, 0, 0, 0.1)})
    assert "| integrated gradients | 10.0 [8.0, 12.0] |" in tables.area_table(e, ROAR)
    assert "| 37.8 [35.8, 39.8] |" in tables.area_table(e, ROAR)
    assert "[32.5, 42.4]" not in tables.area_table(e, ROAR)
    assert "37.8 [32.5, 42.4] | agrees |" in tables.area_table(e)
    assert "the standard deviation of an area is 2.0" in statements.seed_note(e)


def test_an_area_that_is_not_sure_is_not_printed():
    """Of models that have nothing to lose it may be anything."""
    sst = {(("SST", LSTM), RECURSIVE): lstm(*PAPER)}
    e = evidence(areas={**sst, (("SNLI", LSTM), RECURSIVE): {"attention": area(-13.3, half=float("nan"))}})
    assert np.isnan(e.interval(area(-13.3, half=float("nan"), seeds=1)).low)
    (row,) = [line for line in tables.area_table(e).splitlines() if "SNLI" in line]
    assert "| attention | undefined | – |" in row
    assert row.endswith("| 36.5 [33.0, 39.5] |  |")


def test_curves_that_rise_are_told_beside_the_areas_of_the_predicted_label():
    leaky = replace(area(-0.05), notes=("1 seed", "class leakage (one training): the accuracy rises"))
    low = replace(area(0.3), notes=("a low point: one training's accuracy is lower",))
    place = ("bAbI-1", LSTM)
    e = evidence(areas={(place, "recursive"): {"gradient": leaky}, (place, "predicted"): {"gradient": low}})
    notes = tables.leak_notes(e).splitlines()
    assert notes[0] == "- bAbI-1 LSTM, Recursive ROAR, gradient: class leakage (one training): the accuracy rises."
    assert notes[1].startswith("- bAbI-1 LSTM, Recursive ROAR for the predicted label, gradient: a low point")
    assert tables.area_table(e, "predicted").splitlines()[-1].endswith("| faithful | -5.0 [-7.0, -3.0] |")
    assert tables.leak_notes(evidence()) == "No curve rises significantly.\n"


def test_the_share_of_a_step_that_ig_takes():
    """50 of 5 + 3 x 15 + 50 seconds; a place with measures missing says nothing."""
    seconds = {"random": {"train": 5.0}, **{m: {"train": 10.0, "explain": 5.0} for m in NAMES[:3]}}
    whole = {**seconds, NAMES[3]: {"train": 10.0, "explain": 40.0}}  # 50 of 100
    place = with_curves({"SST": {}, "IMDB": {}})
    part = {"SST": whole, "IMDB": seconds}
    e = evidence({key: replace(c, seconds=part[key[0][0]]) for key, c in place.items()})
    assert tables.ig_share(e).startswith("IG takes 50 % with the LSTM of the time")
    assert tables.ig_share(evidence()) == ""


def test_published_numbers():
    """Some of the fact sheet's section 8, and the form in which they are printed."""
    assert AREAS["SST", "LSTM"]["integrated gradients"] == (37.8, 4.6, 5.3)
    assert AREAS["SNLI", "transformer"]["gradient"] == (50.7, 1.1, 0.8)
    assert tables.published((28.0, 5.6, 4.4)) == "28 [23.6, 33.6]"
    assert tables.agreement(area(0.34, 0.02).both, (28.0, 5.6, 4.4)) == "agrees"
    assert tables.agreement(area(0.37, 0.02).both, (28.0, 5.6, 4.4)) == "differs"
    assert tables.agreement(Interval(0.3, -np.inf, np.inf, 1), (28.0, 5.6, 4.4)) == ""


FILLER = ["the", "soup", "was", "here", "again", "today"]


def write_splits(folder, sizes):
    """Short texts of filler words with "good" or "bad"."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for split, n in sizes.items():
        with (folder / f"{split}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["text", "label"])
            for i in range(n):
                words = [*rng.choice(FILLER, 3 + i % 5), "good" if i % 2 else "bad"]
                out.writerow([" ".join(rng.permutation(words)), "yes" if i % 2 else "no"])
    return folder


PLAN = """
name: tiny
data: {{sst: {data}}}
models:
  bilstm: {{train: "bilstm_attention(hidden=4, width=4)", on: sst, seeds: [0], recipe: "{recipe}"}}
studies:
  recursive:
    {{kind: roar, data: trained_on, step: 50, methods: [attention, "integrated_gradients(steps=2, baseline=zero)"]}}
  measurable: {{kind: measurable, data: trained_on, step: 50, methods: [attention]}}
"""


def test_a_small_store_becomes_a_page(tmp_path):
    pytest.importorskip("seaborn", reason="needs the extra: pip install 'assay[plots]'")
    data = write_splits(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    (tmp_path / "sst.yaml").write_text(PLAN.format(data=data, recipe=QUICK))
    store = Store(tmp_path / "s")
    assert assay.run(tmp_path / "sst.yaml", store=store.folder, progress=False).ok
    stored = read_evidence(store, TASKS[:1], tmp_path)
    assert set(stored.curves) == {(("SST", "LSTM"), "recursive"), (("SST", "LSTM"), "measurable")}
    assert set(stored.areas[("SST", "LSTM"), "recursive"]) == {"attention", "integrated gradients"}
    assert stored.of("SST", "LSTM") == {}  # not all measures of the paper
    e = evidence(stored.curves, stored.areas)
    figures = draw(e, tmp_path / "figures")
    assert {"synthetic", "recursive_lstm", "sparsity_top", "measurable"} <= set(figures)
    assert all((tmp_path / "figures" / f"{name}.png").stat().st_size > 5000 for name in figures)
    sizes = dataset_table(store, {("SST", "LSTM"): ("sst.yaml", "bilstm", "sst")}, tmp_path)
    assert "figures/recursive_lstm.png" in page.page(e, figures)
    text = statements.statements(e, word_vector_table(store, tmp_path / "sst.yaml"), sizes)
    words = [len(example.text.split()) for example in load_dataset(data, split="test")]
    assert f"| SST | LSTM | 12 / 6 / 6 | 6,579 / 848 / 1,776 | {np.mean(words) + 2:.1f} | 20 |" in text
    assert "| bilstm | " in text.partition("word vectors of")[2]
    assert "| SST | LSTM | integrated gradients |" in text
    assert "37.8 [32.5, 42.4]" in text
    assert "Cost per seed" in text


@pytest.mark.slow
def test_the_pages_are_rewritten_from_the_packed_records(tmp_path):
    """Byte for byte, with no training; needs the data and models that the plans name."""
    here, folder = Path(page.HERE), tmp_path / "out"
    models = [
        here.parents[1] / "reproductions/models/granite-embedding-30m-english",
        Path("~/.cache/assay-roar/data/sst"),
    ]
    if not all(path.expanduser().exists() for path in models):
        pytest.skip("needs reproductions/models and the data of reproductions.roar.data")
    folder.mkdir()
    (folder / page.RECORDS).write_bytes((here / page.RECORDS).read_bytes())
    page.write(tmp_path / "store", folder)
    for name in ("results.md", "statements.md"):
        assert (folder / name).read_text(encoding="utf-8") == (here / name).read_text(encoding="utf-8")
    assert not (tmp_path / "store" / "artifacts").exists() or not any((tmp_path / "store" / "artifacts").iterdir())
