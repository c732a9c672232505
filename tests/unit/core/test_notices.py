"""Remarks on inputs: counted while a verb runs, said once."""

from __future__ import annotations

import warnings

import pytest

import assay
from assay.core.notices import notice, out_of, said_once, unsaid
from toys import bert

LONG = "a modest pleasure " * 10


def said(run) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(w.message) for w in caught]


@said_once
def verb(total: int | None = None) -> None:
    out_of(total)
    for text, tokens in (("a", 3), ("b", 70), ("a", 3)):  # the first is read twice
        notice("length", "{inputs} {are} too long by {most} tokens", text, tokens)
    notice("model", "the model is odd")
    notice("model", "the model is odd")


def test_a_verb_says_each_notice_once_with_a_count() -> None:
    assert said(verb) == ["2 inputs are too long by up to 70 tokens", "the model is odd"]
    assert said(lambda: verb(40))[0] == "2 of 40 inputs are too long by up to 70 tokens"


def test_the_notices_of_a_verb_within_another_join() -> None:
    @said_once
    def outer() -> None:
        verb()
        notice("length", "{inputs} {are} too long by {most} tokens", "c", 90)

    assert said(outer)[0] == "3 inputs are too long by up to 90 tokens"


def test_kinds_that_the_caller_says_itself_are_left_out() -> None:
    def quiet() -> None:
        with unsaid("length"):
            verb()

    assert said(quiet) == ["the model is odd"]
    assert said(said_once(quiet)) == ["the model is odd"]


def test_outside_a_verb_and_after_an_error_nothing_is_kept() -> None:
    @said_once
    def fails() -> None:
        notice("length", "{inputs}", "a")
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fails()
    assert said(lambda: notice("length", "{inputs} {are} long: {most}", "b", 9)) == ["1 input is long: 9"]


def test_explain_counts_texts_that_were_cut_and_methods_without_enough_samples() -> None:
    model, texts = bert(positions=12), [LONG, LONG + "film", "a film", "the plot is thin"]
    messages = said(lambda: assay.explain(model, texts, ["occlusion", "lime(samples=8)", "kernel_shap(samples=16)"]))
    assert len(messages) == 3, "one line each, whatever the number of texts and methods"
    assert messages[0].startswith("2 of 4 inputs are longer than the model's 12 positions: up to ")
    assert messages[1].startswith("lime had 8 samples for up to 10 units (2 of 4 inputs): too few")
    assert messages[2].startswith("kernel_shap had 16 samples for up to 10 units (2 of 4 inputs): too few")
