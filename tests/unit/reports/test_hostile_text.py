"""No text of a user becomes markup, in any template."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import assay
from assay.core.render import environment
from assay.reports.heat_maps import LEVELS
from unit.reports.hostile import PAGES, hostile_attribution
from unit.reports.pages import Page

PACKAGE = Path(assay.__file__).parent
TIMES = {  # at least so often the hostile text is shown
    "evaluate": 30, "randomise": 8, "attack": 8, "attacked heat maps": 6, "roar": 10, "plan report": 6,
    "explanations": 6,
}  # fmt: skip


class Opened(HTMLParser):
    """The tags that a browser would open and the attributes it would read."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", PAGES)
def test_hostile_text_is_shown_as_text(name: str) -> None:
    html = PAGES[name]()
    Page(html)
    opened = Opened(html)
    assert "script" not in opened.tags
    assert not any(attribute.startswith("on") for attribute in opened.attributes)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= TIMES[name]
    assert not any("<" in address for address in re.findall(r'(?:href|src)="([^"]*)"', html))


def test_hostile_text_is_in_every_section_of_an_evaluation() -> None:
    html = PAGES["evaluate"]()
    for section in ("glance", "ranking", "curves", "agreement", "examples", "costs", "reproduce"):
        body = html.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        assert "script&gt;" in body, section


def test_a_notebook_shows_hostile_text_as_text() -> None:
    assert "<script" not in hostile_attribution()._repr_html_()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.jinja")), ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape", text)
    assert environment().get_template(path.relative_to(PACKAGE).as_posix())  # compiles


def test_the_stylesheet_has_every_shade() -> None:
    css = (PACKAGE / "templates" / "style.css").read_text(encoding="utf-8")
    for shade in (f".{kind}{level} {{" for kind in "fa" for level in range(1, LEVELS + 1)):
        assert shade in css
    assert css.count("{") == css.count("}")
