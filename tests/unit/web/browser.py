"""A real Chromium, driven by selenium, and a server in a thread."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run")  # fmt: skip
PATIENCE = 60  # seconds: the machine may be busy

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromedriver is not installed on this machine"
)


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of a running server."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()


class Browser:
    """A window. width below 500 is a phone."""

    def __init__(self, width: int = 1280, height: int = 1000, *, dark: bool = False) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for argument in (*QUIET, f"--window-size={max(500, width)},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
        self.driver.set_page_load_timeout(PATIENCE)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def open(self, address: str) -> None:
        self.driver.get(address)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        self.until(lambda: self.all(selector), f"there is no {selector}")
        return self.all(selector)[0]

    def click(self, selector: str) -> None:
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def type(self, selector: str, text: str) -> None:
        element = self.one(selector)
        element.clear()
        element.send_keys(text)

    def keys(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    @property
    def text(self) -> str:
        return str(self.run("return document.body ? document.body.innerText : ''"))

    def until(self, holds: Callable[[], Any], otherwise: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if holds():
                    return
            except Exception as error:  # the page is being replaced
                if "stale" not in str(error) and "no such" not in str(error):
                    raise
            time.sleep(0.1)
        raise AssertionError(f"{otherwise}: {self.driver.current_url}\n{self.text[:800]}")

    def until_text(self, text: str) -> None:
        self.until(lambda: text in self.text, f"the page does not say {text!r}")

    def complaints(self) -> list[str]:
        """What the console says, such as a script that the policy stopped."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def sticks_out(self) -> list[str]:
        """Elements that are wider than the window."""
        script = """return [...document.body.querySelectorAll("*")].filter(e => !e.closest("svg")
            && !e.closest(".scroll") && !e.closest(".hidden") && !e.closest(".skip")
            && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.tagName + "." + e.className)"""
        return list(self.run(script))

    def axe(self) -> list[str]:
        """Serious and critical findings of the axe accessibility checker; skips where it is not installed."""
        source = axe_source()
        if source is None:
            pytest.skip("axe-core is not installed: npm install axe-core in the home or a parent folder")
        self.run(source)
        found = self.driver.execute_async_script("axe.run(document).then(arguments[0])")
        return [
            f"{v['impact']} {v['id']}: {[node['html'][:120] for node in v['nodes'][:3]]}"
            for v in found["violations"]
            if v["impact"] in ("serious", "critical")
        ]

    def picture(self, path: Path) -> None:
        import base64

        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(shot["data"]))


def axe_source() -> str | None:
    """The checker's script, from a folder of node modules; it is not part of this repository."""
    folders = [*Path(__file__).parents, Path.home(), Path("/tmp"), Path("/usr/lib"), Path("/usr/local/lib")]
    files = (folder / "node_modules" / "axe-core" / "axe.min.js" for folder in folders)
    return next((file.read_text(encoding="utf-8") for file in files if file.is_file()), None)
