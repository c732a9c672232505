"""The explain page in a real browser: each flow, the keyboard alone, phones and dark screens, accessibility."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.datasets.load import load_dataset
from assay.web.explain.part import explain_part
from families import model_of
from unit.web.browser import Browser, needs_browser, served
from unit.web.clients import TOKEN, application

pytestmark = [pytest.mark.browser, needs_browser]
TEXT = "A modest pleasure that accomplishes its goals with ease, though the plot is thin."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    part = explain_part([assay.load_model("builtin"), model_of("vit")], load_dataset("builtin"))
    with served(application(tmp_path_factory.mktemp("web"), part, hosts=frozenset({"127.0.0.1"}))) as running:
        yield running


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


def explained(browser: Browser, address: str, text: str = TEXT) -> None:
    browser.open(f"{address}/explain")
    browser.type("#text", text)
    browser.click("#ask .primary")
    browser.until(lambda: browser.all(".panel"), "there is no explanation")


def test_explain_remove_a_word_edit_and_contrast(window: Browser, address: str) -> None:
    explained(window, address)
    assert "builtin predicts positive" in window.text.replace("\n", " ")
    names = [name.text for name in window.all(".panel figcaption")]
    assert names == ["integrated_gradients", "kernel_shap", "occlusion"]
    texts = [[unit.text for unit in panel.find_elements("css selector", ".unit")] for panel in window.all(".panel")]
    assert texts[0] == texts[1] == texts[2]  # all on the same words
    assert all(re.fullmatch(r"[+-][\d.e-]+", unit.get_attribute("title")) for unit in window.all(".unit"))

    # hovering lights the word in every heat map; a click there removes it
    unit = next(unit for unit in window.all(".unit") if unit.text == "pleasure")
    window.run("arguments[0].dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))", unit)
    assert [lit.text for lit in window.all(".unit.lit")] == ["pleasure"] * 3
    unit.click()
    window.until(lambda: window.all("del"), "no word was removed")
    assert [removed.text for removed in window.all("del")] == ["pleasure"]
    assert {heading.text for heading in window.all(".step h3")} == {"before", "after", "change"}
    before, after = (float(cell.text.split()[0]) for cell in window.all(".classes tbody tr:first-child td.n")[:2])
    change = float(window.all(".classes tbody tr:first-child td.n")[2].text.replace("−", "-"))
    assert change == pytest.approx(after - before, abs=0.11)  # each is rounded

    # edit the text and compare with the original
    window.type("#text", "A modest pleasure that is dull.")
    window.click("button[name=base]")
    window.until_text("dull")
    window.until(lambda: window.all(".word.added"), "no word was added")
    assert "Back to the original" in window.text

    # another class against the other
    if not window.one("#target").is_displayed():
        window.click(".settings summary")
    window.run("document.getElementById('target').value = '0'; document.getElementById('against').value = '1'")
    window.click("#ask .primary")
    window.until_text("What speaks for negative against positive")
    assert window.complaints() == []


def test_the_numbers_are_in_a_table_and_the_link_reproduces_the_page(window: Browser, address: str) -> None:
    explained(window, address)
    window.click(".numbers summary")
    rows = [row.text for row in window.all(".numbers tbody tr")]
    assert any(re.match(r"pleasure [+-][\d.]+ [+-][\d.]+ [+-][\d.]+", row) for row in rows)
    link, shown = window.one("#permanent").get_attribute("href"), window.one(".maps-section").text
    with Browser() as another:
        another.open(link)
        assert another.one(".maps-section").text == shown


def test_an_image_is_explained(window: Browser, address: str, tmp_path: Path) -> None:
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (32, 40, 3), np.uint8)).save(tmp_path / "photo.png")
    window.open(f"{address}/explain")
    model = next(o.get_attribute("value") for o in window.all("#model option") if o.get_attribute("value") != "builtin")
    window.open(f"{address}/explain?model={model}")
    window.one("#image").send_keys(str(tmp_path / "photo.png"))
    window.click("#ask .primary")
    window.until(lambda: window.all(".panel svg.picture rect title"), "there is no heat map of the image")
    assert len(window.all("svg.defined image")) == 1
    grey = "return getComputedStyle(document.querySelector(arguments[0])).filter"
    assert window.run(grey, ".panel svg.picture use") == "grayscale(1)"  # its colours are no scores
    assert window.run(grey, ".patches use") == "none"
    first = window.driver.current_url
    window.run("document.querySelector('.patches button').focus()")
    window.keys("\ue014", "\ue007")  # right, Enter
    window.until(lambda: window.driver.current_url != first and window.all(".steps"), "the patch is not taken out")
    assert [h.text for h in window.all(".panel:first-child h3")] == ["before", "after", "change"]
    assert not window.all('.patches button[value="0:1-2"]')
    assert len(window.all("svg.defined image")) == 2
    second = window.driver.current_url
    window.click('.step:nth-child(2) rect[data-place="0:3-4"]')
    window.until(lambda: window.driver.current_url not in (first, second), "a click on the heat map does nothing")
    window.until(lambda: not window.all('.patches button[value="0:3-4"]'), "the patch is still there")
    assert window.complaints() == []


def test_an_example_of_the_data(window: Browser, address: str) -> None:
    window.open(f"{address}/explain")
    window.run("document.getElementById('example').value = '2'")
    window.click(".pick button")
    window.until(lambda: "example=2" in window.driver.current_url, "the example is not used")
    assert window.one("#text").get_attribute("value") == load_dataset("builtin")[2].text


def test_long_work_shows_progress_and_is_cancelled(window: Browser, address: str) -> None:
    window.open(f"{address}/explain")
    window.type("#text", f"{TEXT} " * 4)
    window.run("document.getElementById('more_methods').value = 'lime(samples=50000)'")
    window.click("#ask .primary")
    window.until_text("passes so far")
    window.click("#task button")
    window.until_text("The explanation was cancelled.")
    assert TEXT in window.one("#text").get_attribute("value")


def test_without_scripts_everything_works(address: str) -> None:
    with Browser() as browser:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.open(f"{address}/explain")
        browser.one("#text").send_keys("a slow but good film")
        browser.one("#ask .primary").click()
        browser.until(lambda: browser.all(".panel"), "there is no explanation")
        next(word for word in browser.all("button.word") if word.text == "slow").click()
        browser.until(lambda: browser.all("del"), "no word was removed")


def test_the_keyboard_alone(address: str) -> None:
    with Browser() as browser:
        browser.open(f"{address}/explain")
        reached = []

        def tab_to(matches: str) -> None:
            for _ in range(80):
                browser.keys("\ue004")
                reached.append(browser.run("return document.activeElement.id || document.activeElement.name"))
                if browser.run(f"return document.activeElement.matches({matches!r})"):
                    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
                    assert outline != "none" or "input" in matches
                    return
            raise AssertionError(f"the keyboard does not reach {matches}: {reached}")

        tab_to("#text")
        browser.keys("a slow but good film")
        tab_to("input[value=occlusion]")
        browser.keys(" ")  # switch it off
        tab_to("#ask .primary")
        browser.keys("\ue007")
        browser.until(lambda: browser.all(".panel"), "there is no explanation")
        assert "occlusion" not in [name.text for name in browser.all(".panel figcaption")]
        tab_to("button.word")
        browser.keys("\ue007")
        browser.until(lambda: browser.all("del"), "no word was removed")
        tab_to(".numbers summary")
        browser.keys("\ue007")
        assert browser.one(".numbers tbody").is_displayed()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_phones_dark_screens_and_accessibility(width: int, dark: bool, address: str) -> None:
    with Browser(width, dark=dark) as browser:
        browser.open(f"{address}/explain")
        assert browser.sticks_out() == []
        assert browser.axe() == []
        explained(browser, address)
        assert browser.sticks_out() == []
        browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.axe() == []
        assert browser.run("return document.documentElement.scrollWidth") <= width


def test_many_methods_and_a_long_word_fit_a_phone(address: str) -> None:
    """Hidden text in the wide table of agreement widened the page, and a long word pushed all numbers out of sight."""
    with Browser(390) as browser:
        browser.open(f"{address}/explain")
        browser.type("#text", f"see https://example.org/{'word' * 40}")
        chosen = ["gradient", "gradient_x_input", "deep_lift", "occlusion", "average_attention", "random"]
        script = "document.querySelectorAll('[name=methods]').forEach(c => c.checked = arguments[0].includes(c.value))"
        browser.run(script, chosen)
        browser.click("#ask .primary")
        browser.until(lambda: len(browser.all(".panel")) == len(chosen), "there is no explanation")
        browser.run("document.querySelector('.numbers').open = true")
        assert browser.run("return document.documentElement.scrollWidth") <= 390
        assert browser.run("return document.querySelector('.numbers td').getBoundingClientRect().right") < 390
        broken = "e => !e.querySelector('wbr') && e.getClientRects().length > 1"
        assert browser.run(f"return [...document.querySelectorAll('.agree .name')].filter({broken}).length") == 0


def test_entering_with_the_token(tmp_path: Path) -> None:
    part = explain_part([assay.load_model("builtin")])
    with served(application(tmp_path, part, access="token")) as address, Browser() as browser:
        browser.open(f"{address}/explain")
        browser.until_text("it holds the server's token")
        browser.open(f"{address}/enter?token={TOKEN}")
        browser.until_text("Explain a prediction")
        assert "token" not in browser.driver.current_url
