"""A whole study in Chromium, from `assay serve` on: three participants with ties, wrong ranks, log-out and return."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from unit.human.studies import METHODS, made_study
from unit.web.browser import Browser, needs_browser
from unit.web.clients import PASSWORD

pytestmark = [pytest.mark.browser, needs_browser]
SCREENSHOTS = os.environ.get("ASSAY_SCREENSHOTS")  # a folder to keep pictures of pages in


@contextmanager
def serving(study: Path, *options: str) -> Iterator[str]:
    """`assay serve --study` in a process of its own; the link that makes the administrator."""
    command = [sys.executable, "-m", "assay", "serve", "--study", str(study), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


class Seat(Browser):
    """A browser at which one person sits after the other."""

    def __init__(self, base: str, width: int = 1280, *, dark: bool = False) -> None:
        super().__init__(width, dark=dark)
        self.base = base

    def go(self, path: str) -> None:
        self.open(self.base + path)

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            self.type(f"[name={name}]", value)

    def click(self, selector: str) -> None:
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def rank(self, *ranks: int) -> None:
        for place, rank in enumerate(ranks):
            self.click(f'input[name="rank-{place}"][value="{rank}"]')

    def ranks(self) -> list[str]:
        return [self.one(f'input[name="rank-{place}"]:checked').get_attribute("value") for place in range(4)]

    def register(self, link: str, name: str) -> None:
        self.open(link)
        self.fill(name=name, password=PASSWORD, password_again=PASSWORD)
        self.click("form button.primary")
        self.one(".who button")  # logged in: the next page would overtake whatever is opened before it has come

    def log_out(self) -> None:
        self.click(".who button")
        self.until_text("Log in")

    def log_in(self, name: str) -> None:
        self.fill(name=name, password=PASSWORD)
        self.click("form button.primary")

    def take_part(self, link: str, name: str) -> None:
        self.register(link, name)
        self.click("input[name=agree]")
        self.click("form button.primary")
        self.until_text("0 of 5 answered")

    def save(self) -> None:
        """Save & next, and wait for the next page: it would overtake whatever is opened before it has come."""
        here = self.driver.current_url
        self.click('button[value="next"]')
        self.until(lambda: self.driver.current_url != here, "the answer was not saved")

    def answer_all(self, *ranks: int) -> None:
        """Answer open tasks until there is none."""
        for _ in range(10):
            self.go("/study")
            if "You have answered everything" in self.text:
                return
            self.click("a.button")
            self.rank(*ranks)
            self.save()
        raise AssertionError(self.text)

    def errors(self) -> list[str]:
        harmless = ("status of 400", "favicon.ico")  # pages that say what is wrong; reports have no icon
        return [message for message in self.complaints() if not any(words in message for words in harmless)]


def at(link: str) -> str:
    return re.match(r"http://[^/]+", link)[0]


def test_a_whole_study_by_three_participants(tmp_path: Path) -> None:
    made_study(tmp_path / "study", examples=3, repeats=1)
    with serving(tmp_path / "study") as setup, Seat(at(setup)) as seat:
        seat.register(setup, "Ada")
        seat.go("/study/manage")
        seat.click('form[action="/study/manage/invite"] button')
        link = seat.one("pre.link").text
        seat.log_out()
        a_careful_participant(seat, link)
        seat.log_out()
        seat.take_part(link, "Bob")
        seat.click("a.button")
        keyboard(seat)
        seat.answer_all(1, 2, 2, 4)
        seat.log_out()
        seat.take_part(link, "Carl")
        seat.answer_all(1, 1, 1, 1)
        seat.log_out()
        seat.log_in("Ada")
        seat.go("/study/manage")
        assert "3 of 3, 3 annotators each" in seat.text
        assert "my words" in seat.text
        seat.click('form[action="/study/manage/close"] button')
        seat.until_text("The study is closed")
        seat.go("/study/manage/results")
        assert "TrueSkill, as published" in seat.text
        assert seat.errors() == []
    command = ["study", "results", str(tmp_path / "study"), "--report", str(tmp_path / "results.html")]
    done = subprocess.run([sys.executable, "-m", "assay", *command], capture_output=True, text=True, check=True)
    assert "secret_attention" in done.stdout


def a_careful_participant(seat: Seat, link: str) -> None:
    """Wrong ranks are said before and after they are sent; ties, Previous, log-out and return."""
    seat.take_part(link, "Ann")
    seat.click("a.button")
    seat.rank(1, 1, 2, 4)
    seat.until_text("Did you mean 1, 1, 3, 4?")
    seat.fill(comment="my words")
    seat.click('button[value="next"]')
    seat.until_text("the next rank is 3, as in a race")
    assert seat.one("textarea").get_attribute("value") == "my words"
    assert seat.ranks() == ["1", "1", "2", "4"]
    seat.rank(1, 1, 3, 4)
    seat.click('button[value="next"]')
    seat.until_text("2 of 5")
    seat.click('button[value="previous"]')
    seat.until_text("1 of 5")
    assert seat.ranks() == ["1", "1", "3", "4"]
    seat.log_out()
    seat.go("/study/tasks/2")
    assert "/login" in seat.driver.current_url
    seat.log_in("Ann")
    seat.until_text("2 of 5")  # back where she wanted to be
    assert not [name for name in METHODS if name in seat.driver.page_source]
    seat.answer_all(4, 3, 2, 1)


def keyboard(seat: Seat) -> None:
    """Keys only: Tab to the first explanation, digits rank and go on to the next one, Enter saves."""
    seat.until_text("1 of 5")
    for _ in range(30):
        seat.keys("\ue004")  # Tab
        if seat.driver.switch_to.active_element.get_attribute("name") == "rank-0":
            break
    for rank in "2124":
        seat.keys(rank)
    assert seat.ranks() == ["2", "1", "2", "4"]
    seat.keys("\ue007")  # Enter
    seat.until_text("2 of 5")


@pytest.mark.parametrize("images", [False, True], ids=["texts", "images"])
def test_pages_fit_every_screen(images: bool, tmp_path: Path) -> None:
    """At 1280 and 390 px, light and dark; ASSAY_SCREENSHOTS keeps pictures to look at."""
    made_study(tmp_path / "study", examples=3, repeats=1, images=images)
    kind = "images" if images else "texts"
    with serving(tmp_path / "study") as setup:
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            with Seat(at(setup), width, dark=dark) as seat:
                if (width, dark) == (1280, False):
                    seat.register(setup, "Ada")
                    seat.go("/study")
                    seat.click("input[name=agree]")
                    seat.click("form button.primary")
                else:
                    seat.go("/login")
                    seat.log_in("Ada")
                for name, path in {"dashboard": "/study", "task": "/study/tasks/1", "manage": "/study/manage"}.items():
                    seat.go(path)
                    assert seat.sticks_out() == [], (name, width)
                    if SCREENSHOTS:
                        seat.picture(Path(SCREENSHOTS) / f"{kind}-{name}-{width}-{'dark' if dark else 'light'}.png")
                assert seat.errors() == []


def test_the_accessibility_checker_finds_nothing_serious(tmp_path: Path) -> None:
    made_study(tmp_path / "study", examples=3, repeats=1, images=True)
    with serving(tmp_path / "study") as setup, Seat(at(setup), 390) as seat:
        seat.register(setup, "Ada")
        seat.go("/study")
        assert seat.axe() == []
        seat.click("input[name=agree]")
        seat.click("form button.primary")
        for path in ("/study", "/study/tasks/1", "/study/manage"):
            seat.go(path)
            assert seat.axe() == [], path


def test_an_administrator_creates_a_study_on_a_phone(tmp_path: Path) -> None:
    """What is wrong is said above the form, which keeps what was typed; then the study is there."""
    options = ("--model", "builtin", "--data", "builtin")
    with serving(tmp_path / "study", *options) as setup, Seat(at(setup), 390, dark=True) as seat:
        seat.register(setup, "Ada")
        seat.go("/study/manage/new")
        assert seat.sticks_out() == []
        if SCREENSHOTS:
            seat.picture(Path(SCREENSHOTS) / "create-390-dark.png")
        seat.fill(methods="occlusion, gradientt", examples="3", title="Which one?")
        seat.click("form.create button.primary")
        seat.until_text("gradientt")
        assert seat.one("[name=title]").get_attribute("value") == "Which one?"
        seat.fill(methods="occlusion, gradient_x_input")
        seat.click("form.create button.primary")
        seat.until_text("3 examples, 2 methods")
        assert [message for message in seat.errors() if "event-stream" not in message] == []
