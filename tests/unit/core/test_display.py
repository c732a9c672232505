"""An attribution draws itself: HTML that no text can break, colours only where someone can see them."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from assay import Attribution, Target, Unit
from assay.core.attributions import Attributions
from assay.core.display import rich_text, terminal
from assay.core.explanation_page import fragment
from assay.core.explanations import Explanations
from assay.core.heat import reach, strengths
from assay.core.spec import parse

NUMBERS = "good +1, so-so +0, bad -0.5"
EVIL = '<script>alert("x")</script>'


def attribution(texts=("good", "bad", "so-so"), scores=(1.0, -0.5, 0.0), **more):
    units, start = [], 0
    for text in texts:
        units.append(Unit(text, start, start + len(text)))
        start += len(text) + 1
    base = Attribution(tuple(units), np.array(scores, np.float32), Target(1, None, "logit"), "yes", parse("lime"))
    return replace(base, **{"value_full": 0.5, **more})


class Tags(HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.resources, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.resources += [v for k, v in attrs if k in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("where", ["unit", "label", "method"])
def test_html_escapes(where):
    a = {
        "unit": attribution((EVIL, "b", "c")),
        "label": attribution(label=EVIL),
        "method": replace(attribution(), method=replace(parse("lime"), name=EVIL)),
    }[where]
    for text in (fragment([[a]]), a._repr_html_(), a.to_html(), Attributions([a, a]).to_html()):
        assert "<script" not in text
        page = Tags(text)
        assert "script" not in page.tags
        assert page.resources == []  # self-contained
        assert EVIL in "".join(page.words)  # and still shown as it is


def test_html_colours_by_sign_and_strength():
    text = fragment([[attribution()]])
    red, blue, none = re.findall(r"rgba\((\d+),\d+,(\d+),([\d.]+)\)\" title", text)
    assert int(red[0]) > int(red[1])
    assert int(blue[0]) < int(blue[1])
    assert float(red[2]) == 2 * float(blue[2])
    assert float(none[2]) == 0
    assert 'title="+1"' in text
    assert "good</span> <span" in text  # a gap where the text has one


def test_units_in_reading_order_with_gaps_as_in_the_text():
    units = (Unit("b", 5, 6), Unit("un", 0, 2), Unit("do", 2, 4), Unit("pair", 0, 4, 1))
    a = replace(attribution(), units=units, scores=np.array([4, 1, 2, 3], np.float32))
    assert "undo b" in "".join(Tags(fragment([[a]])).words)
    assert re.findall(r'title="\+(\d)"', fragment([[a]])) == ["1", "2", "4", "3"]
    assert terminal(a, color=False).splitlines()[1:] == ["undo b ‖ pair", "b +4, pair +3, do +2, un +1"]


def test_patches_are_drawn_as_squares():
    units = (Unit("patch 0", 0, 1, box=(0, 0, 8, 8)), Unit("patch 1", 1, 2, box=(8, 0, 16, 8)))
    a = replace(attribution(), units=units, scores=np.array([1, -1], np.float32))
    assert Tags(fragment([[a]])).tags.count("rect") == 2
    assert 'viewBox="0 0 16 8"' in fragment([[a]])
    assert "patch 0 +1" in terminal(a, color=False)


def test_terminal_colours_on_request_only():
    a = attribution()
    assert "\x1b[" in terminal(a, color=True)
    plain = terminal(a, color=False)
    assert "\x1b" not in plain
    assert plain == f"yes logit 0.500 · lime\ngood bad so-so\n{NUMBERS}"
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal(a, color=True)) == plain
    assert "48;2;" in terminal(a, color=True)  # a background


def test_what_a_method_says_in_a_word_is_shown():
    said = {"form": "path", "quadrature_error": 0.00021, "exact": True, "order": [2, 0, 1]}
    shown = terminal(replace(attribution(), extra=said), color=False).splitlines()[0]
    assert shown == "yes logit 0.500 · lime · form path · quadrature error 0.00021 · exact"
    assert "form path" in fragment([[replace(attribution(), extra=said)]])


def test_str_has_no_colour_when_nobody_watches(capsys, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    print(attribution())  # noqa: T201 what users do
    assert capsys.readouterr().out == f"yes logit 0.500 · lime\ngood bad so-so\n{NUMBERS}\n"


def test_markup_of_rich_is_text():
    assert "[bold red]x[/]" in terminal(attribution(("[bold red]x[/]", "b", "c")), color=True)


def test_unseen_units_are_struck_through():
    a = attribution()
    a = replace(a, units=(*a.units[:2], replace(a.units[2], seen=False)))
    assert fragment([[a]]).count("line-through") == 1


def test_all_zero_scores_have_no_strength():
    assert strengths(np.zeros(3, np.float32), 0.0) == [0, 0, 0]
    assert strengths(np.array([2, -4], np.float32), 4.0) == [0.5, -1]
    assert strengths(np.zeros(0, np.float32), 0.0) == []
    assert reach([attribution(scores=(0, 0, 0), in_value=True)]) == 0
    assert reach([]) == 0


@pytest.mark.parametrize(
    ("change", "darkest"),
    [
        ({}, 0.002),  # weights have no unit: relative to the largest
        ({"in_value": True}, 0.05),  # a hundredth of a logit is noise
        ({"in_value": True, "target": Target(1, None, "probability")}, 0.01),
        ({"in_value": True, "value_full": 3.0, "value_empty": -3.0}, 0.3),  # next to what all units change together
        ({"in_value": True, "value_full": 3.0, "value_empty": -3.0, "scores": (2, 0, 1)}, 2.0),
        ({"in_value": True, "target": Target(0, None, "raw")}, 0.002),  # a regression: its unit is not known
    ],
)
def test_noise_is_not_stretched_into_a_signal(change, darkest):
    assert reach([attribution(**{"scores": (0.002, -0.001, 0.0), **change})]) == pytest.approx(darkest)


def test_one_scale_for_all_texts_of_a_method():
    strong, weak = attribution(scores=(4, -2, 0)), attribution(scores=(0.4, 0.2, 0), example_id="1")
    text = Attributions([strong, weak])._repr_html_()
    alphas = [float(a) for a in re.findall(r"rgba\([\d,]+,([\d.]+)\)\" title=\"[+-]", text)]
    assert alphas == [0.75, 0.375, 0, 0.075, 0.038, 0]
    assert text.count("<span>−4</span>") == text.count("<span>+4</span>") == 2  # both carry the same scale


def test_scores_of_one_sign_have_half_a_scale():
    text = fragment([[attribution(scores=(1, 0.5, 0))]])
    assert "<span>0</span>" in text
    assert "<span>+1</span>" in text
    assert "37,99,235,0.750" not in text  # no blue


def test_a_pair_shows_both_texts_whatever_the_scope():
    pair = attribution(text="good bad so-so!", text_pair="the other text")
    assert "good bad so-so! ‖ the other text" in terminal(pair, color=False)
    assert "the other text <small>(not scored)</small>" in fragment([[pair]])
    second = replace(
        pair, units=tuple(replace(u, segment=1) for u in pair.units), text="first", text_pair="good bad so-so"
    )
    assert "first ‖ good bad so-so" in terminal(second, color=False)
    assert "first <small>(not scored)</small>" in fragment([[second]])


def test_text_between_units_is_shown_as_it_is():
    a = replace(attribution(("a", "b")), scores=np.array([1, 2], np.float32), units=(Unit("a", 2, 3), Unit("b", 6, 7)))
    assert terminal(replace(a, text="“(a), b”"), color=False).splitlines()[1] == "“(a), b”"


@pytest.mark.parametrize("system", ["standard", "windows"])
def test_eight_colours_are_enough(system):
    styles = {str(span.style) for span in rich_text(attribution(), colours=system).spans}
    assert {"bold white on red", "cyan"} <= styles
    assert not any("#" in style or "bright" in style for style in styles)
    assert NUMBERS in rich_text(attribution(), colours=system).plain


def test_no_colours_more_numbers():
    many = attribution([f"w{i}" for i in range(80)], np.arange(80) - 40.0)
    coloured, plain = (rich_text(many, colours=c).plain.splitlines()[-1] for c in ("truecolor", None))
    assert (
        coloured
        == "w79 +39, w78 +38, w77 +37, w76 +36, w75 +35, "
        + ", ".join(f"w{i} {i - 40}" for i in (6, 5, 4, 3, 2, 1, 0))
        + ", 68 more with smaller scores"
    )
    assert plain.endswith(", 20 more with smaller scores")
    assert {str(span.style) for span in rich_text(many, colours=None).spans} <= {"bold", "dim"}


def test_contrast_and_other_predictions_are_said():
    a = attribution(probabilities={"no": 0.7, "yes": 0.3}, target=Target(1, 0, "logit"))
    assert (
        terminal(a, color=False).splitlines()[0]
        == "yes against no logit 0.500 · probability 0.300 · predicted no · lime"
    )
    assert a.prediction == "no"
    assert attribution().prediction is None
    assert attribution(target=Target(0, None, "raw")).prediction == 0.5


def test_reprs_are_short():
    a = attribution(text="good bad so-so", probabilities={"no": 0.7, "yes": 0.3})
    assert repr(a) == "<Attribution of 'good bad so-so' by lime for 'yes': good +1, so-so +0, bad -0.5 (3 units)>"
    long = attribution([f"w{i}" for i in range(900)], np.arange(900.0), text="w " * 900)
    assert len(repr(long)) < 200
    several = Attributions([long] * 50)
    assert len(repr(several).splitlines()) == 5
    assert repr(several).startswith("<50 Attributions>")
    both = Explanations(lime=several, other=several)
    assert len(repr(both).splitlines()) < 10
    assert repr(both).startswith("<Explanations of 50 inputs by lime, other>")
    assert repr(Explanations()) == "<Explanations of 0 inputs by >"


def test_a_notebook_shows_methods_side_by_side_and_stops_in_time():
    a = attribution(example_id="0")
    both = Explanations({"lime(samples=3)": Attributions([a] * 12), "other": Attributions([a] * 12)})
    text = both._repr_html_()
    assert text.count("display:grid") == 10  # inputs, each with its methods beside each other
    assert text.count('class="attribution"') == 20
    assert text.count("lime(samples=3)") == 10
    assert "and 2 more inputs" in text
    assert both.to_html().count('class="attribution"') == 24
    assert Explanations(lime=a)._repr_html_().count('class="attribution"') == 1


def test_an_image_is_drawn_over_its_picture_once():
    units = (Unit("patch 0", 0, 1, box=(0, 0, 2, 2)), Unit("patch 1", 1, 2, box=(2, 0, 4, 2)))
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    a = replace(attribution(), units=units, scores=np.array([1, -1], np.float32), picture=rgb)
    text = Explanations(one=a, two=a)._repr_html_()
    (address,) = re.findall(r'href="data:image/png;base64,([^"]+)"', text)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(address)))), rgb)
    assert text.count("<use href=") == 1
    assert text.count("<rect") == 4
    assert text.count('filter="grayscale(1)"') == 2  # a red wall is no support


def test_to_html_writes_a_page(tmp_path):
    path = tmp_path / "page.html"
    text = attribution(("naïve", "中文", "😀")).to_html(str(path))
    assert path.read_text(encoding="utf-8") == text
    assert text.startswith("<!doctype html>")
    assert "中文" in text
    assert 'charset="utf-8"' in text
