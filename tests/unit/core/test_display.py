"""An attribution draws itself: HTML that no text can break, colours only where someone can see them."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from assay import Attribution, Target, Unit
from assay.core.attributions import Attributions
from assay.core.display import strengths, terminal
from assay.core.explanation_page import fragment
from assay.core.spec import parse

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
    for text in (fragment([a]), a._repr_html_(), a.to_html(), Attributions([a, a]).to_html()):
        assert "<script" not in text
        page = Tags(text)
        assert "script" not in page.tags
        assert page.resources == []  # self-contained
        assert EVIL in "".join(page.words)  # and still shown as it is


def test_html_colours_by_sign_and_strength():
    text = fragment([attribution()])
    red, blue, none = re.findall(r"rgba\((\d+),\d+,(\d+),([\d.]+)\)", text)
    assert int(red[0]) > int(red[1])
    assert int(blue[0]) < int(blue[1])
    assert float(red[2]) == 2 * float(blue[2])
    assert float(none[2]) == 0
    assert 'title="+1"' in text
    assert "good</span> <span" in text  # a gap where the text has one


def test_units_in_reading_order_with_gaps_as_in_the_text():
    units = (Unit("b", 5, 6), Unit("un", 0, 2), Unit("do", 2, 4), Unit("pair", 0, 4, 1))
    a = replace(attribution(), units=units, scores=np.array([4, 1, 2, 3], np.float32))
    assert "".join(Tags(fragment([a])).words).endswith("undo b ‖ pair")
    assert re.findall(r'title="\+(\d)"', fragment([a])) == ["1", "2", "4", "3"]
    assert terminal(a, color=False).splitlines()[1] == "undo b ‖ pair"


def test_patches_are_drawn_as_squares():
    units = (Unit("patch 0", 0, 1, box=(0, 0, 8, 8)), Unit("patch 1", 1, 2, box=(8, 0, 16, 8)))
    a = replace(attribution(), units=units, scores=np.array([1, -1], np.float32))
    assert Tags(fragment([a])).tags.count("rect") == 2
    assert 'viewBox="0 0 16 8"' in fragment([a])
    assert "patch 0 +1" in terminal(a, color=False)


def test_terminal_colours_on_request_only():
    a = attribution()
    assert "\x1b[" in terminal(a, color=True)
    plain = terminal(a, color=False)
    assert "\x1b" not in plain
    assert plain == "yes logit 0.500 · lime\ngood bad so-so"
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal(a, color=True)) == plain
    assert "48;2;" in terminal(a, color=True)  # a background


def test_what_a_method_says_in_a_word_is_shown():
    said = {"form": "path", "quadrature_error": 0.00021, "exact": True, "order": [2, 0, 1]}
    shown = terminal(replace(attribution(), extra=said), color=False).splitlines()[0]
    assert shown == "yes logit 0.500 · lime · form path · quadrature error 0.00021 · exact yes"
    assert "form path" in fragment([replace(attribution(), extra=said)])


def test_str_has_no_colour_when_nobody_watches(capsys, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    print(attribution())  # noqa: T201 what users do
    assert capsys.readouterr().out == "yes logit 0.500 · lime\ngood bad so-so\n"


def test_markup_of_rich_is_text():
    assert "[bold red]x[/]" in terminal(attribution(("[bold red]x[/]", "b", "c")), color=True)


def test_unseen_units_are_struck_through():
    a = attribution()
    a = replace(a, units=(*a.units[:2], replace(a.units[2], seen=False)))
    assert fragment([a]).count("line-through") == 1


def test_all_zero_scores_have_no_strength():
    assert strengths(np.zeros(3, np.float32)) == [0, 0, 0]
    assert strengths(np.array([2, -4], np.float32)) == [0.5, -1]
    assert strengths(np.zeros(0, np.float32)) == []


def test_to_html_writes_a_page(tmp_path):
    path = tmp_path / "page.html"
    text = attribution(("naïve", "中文", "😀")).to_html(str(path))
    assert path.read_text(encoding="utf-8") == text
    assert text.startswith("<!doctype html>")
    assert "中文" in text
    assert 'charset="utf-8"' in text
