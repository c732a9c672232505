"""A whole study in Chromium, from `assay serve` on: three participants with ties, wrong ranks, log-out and return."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.human.studies import METHODS, made_study
from unit.web.clients import PASSWORD

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
webdriver = pytest.importorskip("selenium.webdriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium with chromedriver on this machine"),
]
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
SCREENSHOTS = os.environ.get("ASSAY_SCREENSHOTS")  # a folder to keep pictures of pages in


class Server:
    """`assay serve --study` in a process of its own."""

    def __init__(self, study: Path) -> None:
        command = [sys.executable, "-m", "assay", "serve", "--study", str(study), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.setup = self.process.stdout.readline().strip()
        self.address = re.match(r"http://[^/]+", self.setup)[0]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()


class Browser:
    """A browser with its own cookies."""

    def __init__(self, folder: Path, address: str, width: int = 1280, dark: bool = False) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for option in (*OPTIONS, f"--user-data-dir={folder}", f"--window-size={width},900"):
            options.add_argument(option)
        service = webdriver.ChromeService(executable_path=DRIVER)
        self.driver, self.address = webdriver.Chrome(options=options, service=service), address
        self.look(width, dark)

    def look(self, width: int, dark: bool) -> None:
        """Lay pages out for a width, light or dark."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def open(self, path: str) -> None:
        self.driver.get(path if path.startswith("http") else self.address + path)

    def find(self, css: str):
        return self.driver.find_element("css selector", css)

    def click(self, css: str) -> None:
        element = self.find(css)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def type(self, **fields: str) -> None:
        for name, value in fields.items():
            self.find(f"[name={name}]").send_keys(value)

    def rank(self, *ranks: int) -> None:
        for place, rank in enumerate(ranks):
            self.click(f'input[name="rank-{place}"][value="{rank}"]')

    @property
    def text(self) -> str:
        return self.find("body").text

    def shot(self, name: str) -> None:
        if SCREENSHOTS:
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
            width = self.driver.execute_script("return innerWidth")
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            self.driver.save_screenshot(str(Path(SCREENSHOTS) / f"{name}.png"))

    def sticks_out(self) -> list[str]:
        """What is wider than the screen."""
        return self.driver.execute_script(
            "return [...document.body.querySelectorAll('*')].filter(e => !e.closest('svg') && !e.closest('.scroll')"
            " && !e.closest('.skip, .hidden') && e.getBoundingClientRect().right > innerWidth + 1)"
            ".map(e => e.tagName + '.' + e.className)"
        )

    def errors(self) -> list[str]:
        """What the browser complains of: scripts that fail, and what the policy forbids."""
        severe = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        harmless = ("status of 400", "favicon.ico")  # pages that say what is wrong; reports have no icon
        return [message for message in severe if not any(words in message for words in harmless)]


@pytest.fixture
def people(tmp_path: Path) -> Iterator:
    """Opens browsers, and closes them all at the end."""
    opened: list[Browser] = []

    def new(server: Server, **options) -> Browser:
        opened.append(Browser(tmp_path / f"profile-{len(opened)}", server.address, **options))
        return opened[-1]

    yield new
    for browser in opened:
        browser.driver.quit()


@pytest.fixture(params=[False, True], ids=["texts", "images"])
def server(request, tmp_path: Path) -> Iterator[Server]:
    made_study(tmp_path / "study", examples=3, repeats=1, images=request.param)
    running = Server(tmp_path / "study")
    yield running
    running.stop()


def register(browser: Browser, link: str, name: str) -> None:
    browser.open(link)
    browser.type(name=name, password=PASSWORD, again=PASSWORD)
    browser.click("form button.primary")


def take_part(browser: Browser, link: str, name: str) -> None:
    register(browser, link, name)
    browser.open("/study")
    browser.click("input[name=agree]")
    browser.click("form button.primary")


def answer_all(browser: Browser, *ranks: int) -> None:
    """Answer open tasks until there is none."""
    for _ in range(10):
        browser.open("/study")
        if "You have answered everything" in browser.text:
            return
        browser.click("a.button")
        browser.rank(*ranks)
        browser.click('button[value="next"]')
    raise AssertionError(browser.text)


def test_a_whole_study_by_three_participants(server: Server, people, tmp_path: Path) -> None:
    ada = people(server)
    register(ada, server.setup, "Ada")
    ada.open("/study/manage")
    ada.click('form[action="/study/manage/invite"] button')
    link = ada.find("pre.link").text

    ann = people(server)
    take_part(ann, link, "Ann")
    assert "0 of 5 answered" in ann.text
    ann.click("a.button")
    ann.rank(1, 1, 2, 4)  # wrong: says so before and after it is sent
    assert "Did you mean 1, 1, 3, 4?" in ann.text
    ann.type(comment="my words")
    ann.click('button[value="next"]')
    assert "the next rank is 3, as in a race" in ann.text
    assert ann.find("textarea").get_attribute("value") == "my words"
    ann.rank(1, 1, 3, 4)
    ann.click('button[value="next"]')
    assert ann.driver.current_url.endswith("/study/tasks/2")
    ann.click('button[value="previous"]')
    assert ann.find('input[name="rank-2"]:checked').get_attribute("value") == "3"
    ann.click(".who button")  # logs out
    ann.open("/study/tasks/2")
    assert "/login" in ann.driver.current_url
    ann.type(name="Ann", password=PASSWORD)
    ann.click("form button.primary")
    assert ann.driver.current_url.endswith("/study/tasks/2")  # back where she wanted to be
    assert not [name for name in METHODS if name in ann.driver.page_source]
    answer_all(ann, 4, 3, 2, 1)

    bob = people(server, width=390)
    take_part(bob, link, "Bob")
    bob.click("a.button")
    keyboard(bob)
    assert bob.driver.current_url.endswith("/study/tasks/2")
    answer_all(bob, 1, 2, 2, 4)
    carl = people(server)
    take_part(carl, link, "Carl")
    answer_all(carl, 1, 1, 1, 1)

    ada.open("/study/manage")
    assert "3 of 3, 3 annotators each" in ada.text
    assert "my words" in ada.text
    ada.click('form[action="/study/manage/close"] button')
    ada.open("/study/manage/results")
    assert "TrueSkill, as published" in ada.text
    bob.open("/study/tasks/1")
    assert "The study is closed" in bob.text
    assert [browser.errors() for browser in (ada, ann, bob, carl)] == [[], [], [], []]
    command = ["study", "results", str(tmp_path / "study"), "--report", str(tmp_path / "results.html")]
    done = subprocess.run([sys.executable, "-m", "assay", *command], capture_output=True, text=True, check=True)
    assert "secret_attention" in done.stdout


def keyboard(browser: Browser) -> None:
    """Rank with keys only: Tab into the first group, digits rank and go on to the next explanation, Enter sends."""
    from selenium.webdriver import ActionChains, Keys

    browser.driver.execute_script("document.querySelector('.judged').closest('section').scrollIntoView()")
    for _ in range(30):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        if browser.driver.switch_to.active_element.get_attribute("name") == "rank-0":
            break
    ActionChains(browser.driver).send_keys("2", "1", "2", "4").perform()
    chosen = [browser.find(f'input[name="rank-{place}"]:checked').get_attribute("value") for place in range(4)]
    assert chosen == ["2", "1", "2", "4"]
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()


def test_pages_fit_every_screen(server: Server, people, request) -> None:
    """At 1280 and 390 px, light and dark; ASSAY_SCREENSHOTS keeps pictures to look at."""
    kind = request.node.callspec.id
    ada = people(server)
    register(ada, server.setup, "Ada")
    ada.open("/study")
    ada.shot(f"{kind}-consent")
    ada.click("input[name=agree]")
    ada.click("form button.primary")
    ada.open("/study/tasks/1")
    ada.rank(1, 1, 3, 4)
    ada.click('button[value="next"]')
    for width in (1280, 390):
        for dark in (False, True):
            for name, path in {"dashboard": "/study", "task": "/study/tasks/1", "manage": "/study/manage"}.items():
                ada.look(width, dark)
                ada.open(path)
                assert ada.sticks_out() == [], (name, width)
                ada.shot(f"{kind}-{name}-{width}-{'dark' if dark else 'light'}")
    assert ada.errors() == []
