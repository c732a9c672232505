"""A fit that starts from another explainer, or takes the weights of its losses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import assay
from assay.explainers.learned.parts.seen import count_seen
from toys import bert

from .test_fit import planted_texts

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no validation split"),
    pytest.mark.filterwarnings("ignore:.*better than a random order"),
]
TEXTS = planted_texts(30)
SMALL = {"trunk": "masks=2", "encoder": "architecture=encoder, masks=2"}


def fit(model, spec, output, **more):
    return assay.fit(model, TEXTS, f"aml({spec})", output, progress=False, **more)


@pytest.mark.parametrize("architecture", SMALL)
def test_a_warm_start_begins_with_the_weights_of_its_source(architecture, tmp_path):
    """Steps at a rate of 1e-30 change nothing but zeros, so the fitted weights are those of the source."""
    model, spec = bert(), SMALL[architecture]
    source = fit(model, f"{spec}, epochs=2, learning_rate=1e-3", tmp_path / "first")
    second = fit(model, f"{spec}, epochs=1, learning_rate=1e-30, start='{tmp_path}/first'", tmp_path / "second")
    one, other = (e.loaded.attributor.state_dict() for e in (source, second))
    assert all(torch.allclose(one[name], other[name], rtol=0, atol=1e-20) for name in one)
    started = second.card["start"]
    assert started["digest"] == source.digest
    assert started["value"] == pytest.approx(source.card["validation"]["best"], abs=1e-6), (
        "its score, on the same texts"
    )
    assert "started from first" in (tmp_path / "second" / "README.md").read_text()
    assert "has not improved on it" in second.card["notes"][0]
    assert str(tmp_path) not in str(second.card), "cards hold no folders"
    cold = fit(model, f"{spec}, epochs=1, learning_rate=1e-30", tmp_path / "cold").loaded.attributor.state_dict()
    assert not all(torch.equal(one[name], cold[name]) for name in one)


def test_a_warm_start_has_seen_what_its_source_saw(tmp_path):
    model, settings = bert(), "aml(masks=2, epochs=1)"
    source = assay.fit(model, planted_texts(30), settings, tmp_path / "first", progress=False)
    warm = f"aml(masks=2, epochs=1, start='{tmp_path}/first')"
    second = assay.fit(model, planted_texts(30, 5), warm, progress=False)
    assert set(source.card["texts"]) < set(second.card["texts"])
    assert count_seen(second.card, assay.load_dataset(planted_texts(30))) == 30
    assert count_seen(second.card, assay.load_dataset(planted_texts(30, 7))) == 0


def test_a_warm_start_learns_and_leaves_its_source_alone(tmp_path):
    model = bert()
    source = fit(model, "masks=2, epochs=1", tmp_path / "first")
    before = {name: value.clone() for name, value in source.loaded.attributor.state_dict().items()}
    second = fit(model, f"objective=masking, epochs=1, start='{tmp_path}/first'", tmp_path / "second")
    after = second.loaded.attributor.state_dict()
    assert not torch.equal(after["model.outer.weight"], before["model.outer.weight"])
    assert all(torch.equal(value, before[name]) for name, value in source.loaded.attributor.state_dict().items())
    assert second.loaded.attributor.model.outer.weight.requires_grad is False


def test_the_weights_of_losses_are_taken_over(tmp_path):
    model = bert()
    settings = "objective=masking, preservation=0.25, sparsity=0.5, inverse=0.75, epochs=1"
    fit(model, settings, tmp_path / "tuned")
    found = fit(model, f"objective=masking, epochs=1, weights_of='{tmp_path}/tuned'", tmp_path / "e").card["settings"]
    assert [found[name] for name in ("preservation", "sparsity", "inverse")] == [0.25, 0.5, 0.75]
    assert found["weights_of"] == "tuned"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    fit(bert(), "masks=2, epochs=1", folder / "trunk")
    fit(bert(classes=3), "masks=2, epochs=1", folder / "three")
    return folder


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("start='/nowhere'", "there is no folder /nowhere"),
        ("start='SOURCES/trunk', architecture=encoder", "has architecture=trunk, not encoder"),
        ("start='SOURCES/trunk', layers=last", "has layers=all, not last"),
        ("start='SOURCES/three'", "3 outputs"),
        ("start='SOURCES/trunk', architecture=encoder, base=other", "leave base out"),
        ("weights_of='SOURCES/trunk'", "weights_of names the weights of the masking losses"),
        ("objective=masking, weights_of='SOURCES/trunk'", "which has no loss weights"),
        ("objective=masking, weights_of='SOURCES/trunk', search=3", "give one of the two"),
    ],
)
def test_sources_that_cannot_be_used(spec, words, sources):
    def never(*_):
        raise AssertionError("it read the data first")

    with pytest.raises(assay.AssayError, match=words):
        fit(bert(), spec.replace("SOURCES", str(sources)), None, on_start=never)
