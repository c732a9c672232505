"""The page: everything is on it, nothing comes from elsewhere, no text can break it, and no case leaves it empty."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from assay import Example
from assay.datasets.load import load_dataset
from assay.studies.evaluate.page import page
from assay.studies.evaluate.result import Result
from families import model_of
from toys import bert
from unit.reports.pages import METHODS, METRICS, Page, evaluated, texts, usual

EVIL = '<script>alert("x")</script>'


def test_every_method_metric_and_section_is_there() -> None:
    text = page(usual(), "assay evaluate --limit 12")
    read = Page(text)
    for word in (*METHODS, *METRICS):
        assert word in read.text
    ids = {value for name, value in read.attributes if name == "id"}
    assert ids == {"glance", "ranking", "curves", "agreement", "examples", "costs", "model", "metrics", "reproduce"}
    assert set(read.addresses) == {f"#{name}" for name in ids}
    assert text.index(usual().overall.split(";")[0]) < text.index("<section"), "the verdict is first"


def test_it_says_how_to_get_it_again() -> None:
    result = usual()
    words = Page(page(result, "assay evaluate --limit 12")).text
    assert "assay evaluate --limit 12" in words
    assert result.evaluation.model.fingerprint in words
    assert result.evaluation.dataset.fingerprint in words
    assert "lime(samples=30, kernel_width=25.0, ridge=1.0, seed=0), revision" in words
    for version in result.evaluation.provenance.values():
        assert version in words


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = page(usual())
    read = Page(text)
    assert not re.search(r"https?:|//[a-z]", text)
    assert not re.search(r"@import|url\(", text)
    assert not {"script", "link", "iframe", "object"} & set(read.tags)
    assert not any(name.startswith("on") for name, _ in read.attributes)


def test_the_same_evaluation_makes_the_same_page() -> None:
    assert page(usual(), "x") == page(usual(), "x")


@pytest.mark.parametrize("where", ["text", "id", "label", "model", "data", "command"])
def test_nothing_from_outside_is_markup(where: str) -> None:
    data = texts(3)
    if where == "text":
        data = [*data, Example(f"a good {EVIL} film", id="evil", label=0)]
    if where == "id":
        data = [replace(data[0], id=EVIL), *data[1:]]
    labels = (EVIL, "fine") if where == "label" else ("bad", "good")
    model = bert()
    model.name, model.labels = (EVIL if where == "model" else "toy"), labels
    named = replace(load_dataset(data), name=EVIL if where == "data" else "toys")
    result = evaluated(model, named, ("occlusion", "random"), ("sufficiency",))
    text = page(result, EVIL if where == "command" else None)
    assert "<script" not in text
    read = Page(text)
    shown = ("<", "script", ">") if where == "text" else (EVIL,)  # a text is cut into units
    assert all(part in read.text for part in shown)


def test_rationales_are_underlined() -> None:
    read = Page(page(usual()))
    marked = "".join(read.underlined)
    assert "modest" in marked
    assert "pleasure" not in marked
    bare = evaluated(bert(), texts(3, rationales=False), ("occlusion", "random"), ("sufficiency",))
    assert Page(page(bare)).underlined == ["Underlined"]  # the key alone


def test_tables_are_tables() -> None:
    text = page(usual())
    assert text.count("<table") == text.count("<thead") == text.count("<tbody")
    assert 'scope="row"' in text
    assert 'scope="col"' in text
    images = re.findall(r"<svg[^>]*>", text)
    assert all(
        'role="img" aria-label="' in tag or "aria-hidden" in tag or 'overflow="visible"' in tag for tag in images
    )


def test_protocol_and_agreement_are_named() -> None:
    options = {"protocol": "thesis", "agreement": "top_k_overlap(k=3)"}
    result = evaluated(bert(), texts(3), ("occlusion", "random"), METRICS[:2], **options)
    text = Page(page(result)).text
    assert "mask_token" in text
    assert "Overlap of two methods' top k units" in text
    assert "agreement='top_k_overlap(k=3)'" in text
    assert "Spearman's rank correlation" in Page(page(usual())).text


# --- cases at the edge -----------------------------------------------------------------------------------------------


def test_few_examples_are_called_few() -> None:
    assert "Only 12 examples" in Page(page(usual())).text


def test_one_method() -> None:
    read = Page(page(evaluated(bert(), texts(4), ("occlusion",), ("sufficiency",))))
    assert "no other method to compare with" in read.text
    assert "Agreement" not in read.text


def test_one_example() -> None:
    read = Page(page(evaluated(bert(), texts(1))))
    assert "interval unknown" in read.text
    assert "nan" not in read.text.lower().replace("nothing", "")


def test_no_control() -> None:
    read = Page(page(evaluated(bert(), texts(6), METHODS[:3])))
    assert "control: none" in read.text
    assert "better than random" not in read.text
    assert "dashed" not in read.text


def test_no_rationales_and_so_no_plausibility() -> None:
    read = Page(page(evaluated(bert(), texts(4, rationales=False))))
    assert "Not measured: no example has what this metric needs" in read.text


def test_no_labels() -> None:
    bare = [replace(e, label=None) for e in texts(4)]
    read = Page(page(evaluated(bert(), bare)))
    assert "gold" not in read.text.split("In Python")[0].replace("gold metric", "")
    assert "accuracy" not in read.text


def test_methods_of_one_name_keep_their_parameters() -> None:
    read = Page(page(evaluated(bert(), texts(4), ("lime(samples=20)", "lime(samples=30)", "random"), METRICS[:1])))
    assert read.text.count("lime(samples=20)") > 5


def test_regression() -> None:
    data = [replace(e, label=float(i)) for i, e in enumerate(texts(5, rationales=False))]
    read = Page(page(evaluated(model_of("bert-regression"), data, ("occlusion", "random"), METRICS[:3])))
    assert "pearson" in read.text
    assert "raw output" in read.text
    assert re.search(r"predicted [-\d.]+ · gold 3", read.text)


def test_images_lie_under_their_patches() -> None:
    rng = np.random.default_rng(0)
    data = [Example(image=rng.integers(0, 256, (40, 32, 3), dtype=np.uint8), id=str(i), label=0) for i in range(3)]
    text = page(evaluated(model_of("vit"), data, ("occlusion", "random"), ("sufficiency", "deletion"), units="patch"))
    read = Page(text)
    assert text.count('href="data:image/png;base64,') == 3  # once per example, however many methods
    assert text.count('<use href="#picture-') == 3
    assert all(a.startswith(("#", "data:image/png;base64,")) for a in read.addresses)
    assert "mean_colour, because this model does not support delete" in read.text


def test_pairs_and_scope() -> None:
    data = [Example("the plot is thin", "the film is bad", id=str(i), label=0) for i in range(3)]
    both = Page(page(evaluated(bert(), data, ("occlusion", "random"), METRICS[:1])))
    assert "‖" in both.text
    one = Page(page(evaluated(bert(), data, ("occlusion", "random"), METRICS[:1], scope="text")))
    assert "not scored: the film is bad" in one.text


def test_long_texts_are_cut_alike_for_all_methods_and_the_limit_is_told() -> None:
    long = [Example(" ".join(["the film is bad and slow"] * 60), id=str(i), label=0) for i in range(2)]
    data = [*long, *texts(3)]
    result = evaluated(bert(positions=200), data, ("occlusion", "random"), METRICS[:1])
    read = Page(page(result))
    assert "2 of 5 examples exceed the model's length limit" in read.text
    assert "of 360 units are not shown" in read.text


def test_an_evaluation_without_any_value_still_makes_a_page() -> None:
    result = evaluated(bert(), texts(3, rationales=False), ("occlusion", "random"), ("auprc",))
    assert result.comparisons == {}
    assert "No metric was computed" in Page(page(Result(result.evaluation))).text
