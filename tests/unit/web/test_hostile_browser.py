"""Texts, labels, names and reasons of strangers on every page, in a real browser: nothing of them runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.datasets.load import load_dataset
from assay.experiments.runs import Run, RunJob, all_runs, noted
from assay.experiments.store import Record, Store
from assay.web.explain.part import explain_part
from assay.web.results.part import results_part
from toys import bert
from unit.reports.hostile import EVIL, hostile_data
from unit.web.browser import Browser, needs_browser, served
from unit.web.clients import PASSWORD, SETUP, application

pytestmark = [pytest.mark.browser, needs_browser]
MORE = [
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</textarea><script>alert(1)</script>",
    "\u202egnp.exe",
]
WORST = f"{EVIL} {' '.join(MORE)}"


def model() -> Any:
    """A model whose name and classes are hostile."""
    made = bert(3)
    made.name, made.labels = WORST, (WORST, f"{WORST} 1")
    return made


def hostile_store(folder: Path) -> Store:
    """A store with an evaluation and a plan whose every name is hostile."""
    data = replace(load_dataset(["a good film", "a sad poem"]), name=WORST)
    assay.evaluate(model(), data, ["occlusion"], ["sufficiency"], store=folder, progress=False)
    assay.evaluate(model(), data, ["occlusion"], ["sufficiency"], removal="unk", store=folder, progress=False)
    store = Store(folder)
    jobs = tuple(RunJob(f"{i:064x}", WORST, WORST, WORST) for i in range(2))
    with noted(Run("plan", WORST, jobs, {WORST: WORST, "settings": WORST}), store):
        store.put(Record(jobs[0].key, {"kind": WORST}, [{WORST: WORST}], {}))
        store.put_note("failed", jobs[1].key, {"error": WORST})
    return store


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    folder = tmp_path_factory.mktemp("hostile")
    store = hostile_store(folder / "store")
    parts = explain_part([model(), bert()], hostile_data()), results_part(store.folder)
    with served(application(folder, *parts, access="accounts")) as running:
        yield running, store


def check(browser: Browser, least: int = 1) -> None:
    """The page is whole, shows the hostile text as text, and runs nothing of it."""
    scripts = browser.run("return [...document.scripts].map(s => s.getAttribute('src'))")
    assert all(script and script.startswith("/static/") for script in scripts), scripts
    attributes = browser.run(
        "return [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.name))"
        ".filter(n => n.startsWith('on') || n === 'style')"
    )
    assert attributes == []
    links = browser.run("return [...document.querySelectorAll('a[href]')].map(a => a.protocol)")
    assert set(links) <= {"http:"}
    assert browser.run("return document.querySelectorAll('img, main iframe, main object').length") == 0
    html = browser.run("return document.documentElement.outerHTML")
    assert browser.run("return document.documentElement.textContent").count("<script>alert") >= least
    assert "49" not in html.split("7 * 7")[0][-40:]
    assert [line for line in browser.complaints() if "favicon" not in line and "the server responded" not in line] == []


def test_every_page(address: tuple[str, Store]) -> None:
    base, store = address
    with Browser() as browser:
        browser.open(f"{base}/setup?key={SETUP.replace(' ', '%20')}")
        browser.type("#name", "<script>alert(1)</script>")
        for field in ("#password", "#password_again"):
            browser.type(field, PASSWORD)
        browser.click("main button")
        browser.until_text("Invite people")
        check(browser)  # the accounts page

        browser.open(f"{base}/explain")
        browser.run("document.getElementById('text').value = arguments[0]", WORST)
        check(browser)
        browser.click("#ask .primary")
        browser.until(lambda: browser.all(".panel"), "there is no explanation")
        check(browser, 5)
        explanation = browser.driver.current_url
        browser.click("button.word")
        browser.until(lambda: browser.all("del"), "no word was removed")
        check(browser, 5)
        browser.open(f"{base}/explain?example=0")
        check(browser)
        browser.run("document.getElementById('more_methods').value = arguments[0]", "<script>alert(1)</script>")
        browser.click("#ask .primary")
        browser.until(lambda: browser.all(".problem"), "the method is not refused")
        check(browser)

        browser.open(f"{base}/results")
        check(browser, 3)
        runs = all_runs(store)
        for run in runs:
            browser.open(f"{base}/results/{run.id}")
            check(browser, 1)
        evaluations = [run.id for run in runs if run.kind == "evaluate"]
        browser.open(f"{base}/results/compare?run={evaluations[0]}&run={evaluations[1]}")
        check(browser, 2)
        browser.open(f"{base}/explain/%3Cscript%3Ealert(1)%3C/script%3E")
        assert "There is no such page" in browser.text

        downloaded = browser.driver.execute_async_script(
            "const done = arguments[1]; fetch(arguments[0]).then(r => r.text()).then(done)",
            f"{explanation.partition('#')[0]}/html",
        )
        assert "<script" not in downloaded
        assert "&lt;script&gt;" in downloaded
        data = browser.driver.execute_async_script(
            "const done = arguments[1]; fetch(arguments[0]).then(r => r.text()).then(done)",
            f"{explanation.partition('#')[0]}/json",
        )
        assert json.loads(data)["request"]["text"] == WORST


def test_the_results_in_a_browser(tmp_path: Path) -> None:
    """Choose two evaluations, compare them, on a phone too; a running plan is live."""
    store = Store(tmp_path / "store")
    for seed in (0, 1):
        assay.evaluate(bert(seed), ["a good film", "a sad poem", "not bad"], ["occlusion", "random"], ["sufficiency"],
                       store=store.folder, progress=False)  # fmt: skip
    jobs = tuple(RunJob(f"{i:064x}", f"job {i}", "faithful", "tiny") for i in range(4))
    plan = Run("plan", "a plan that runs", jobs)
    with served(application(tmp_path, results_part(store.folder), hosts=frozenset({"127.0.0.1"}))) as base:
        with Browser() as browser, noted(plan, store):
            browser.open(f"{base}/results/{plan.id}")
            browser.until_text("0 of 4")
            store.put(Record(jobs[0].key, {"kind": "x"}, [], {}))
            browser.until_text("1 of 4")  # without a reload
            assert browser.axe() == []
            browser.open(f"{base}/results")
            for box in browser.all("input[name=run]"):
                box.click()
            browser.click("form[action='/results/compare'] button")
            browser.until_text("Both are on the same examples")
            assert browser.axe() == []
            assert browser.complaints() == []
        with Browser(390, dark=True) as phone:
            for run in all_runs(store):
                for address in (f"{base}/results", f"{base}/results/{run.id}"):
                    phone.open(address)
                    assert phone.sticks_out() == []
                    assert phone.axe() == []
