"""The pages in a real browser: nothing sticks out of a phone's screen, and hostile text runs nowhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.studies.evaluate.page import page
from unit.reports.hostile import PAGES
from unit.reports.pages import usual

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
         "disable-component-update", "disable-sync", "hide-scrollbars")  # fmt: skip
FRAME = """<!doctype html><title>not measured</title><iframe width="{width}" height="900" style="border:0"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const page = frame.contentDocument, inner = frame.contentWindow.innerWidth;
  const wide = [...page.body.querySelectorAll("*")].filter(e => !e.closest("svg") && !e.closest(".scroll")
    && e.getBoundingClientRect().right > inner + 1).map(e => e.tagName + "." + e.className);
  document.title = "inner=" + inner + " content=" + page.documentElement.scrollWidth + " wide=" + wide.join();
}};
frame.srcdoc = {html};
</script>"""  # a frame, because a window is never narrower than 500 px


def laid_out(html: str, width: int, folder: Path) -> tuple[int, int, str]:
    """Inner width, content width and what sticks out, as a browser lays the page out."""
    file = folder / "report.html"
    file.write_text(FRAME.format(width=width, html=json.dumps(html).replace("</", "<\\/")))
    options = [*(f"--{name}" for name in QUIET), f"--user-data-dir={folder}/profile", "--window-size=1300,900"]
    command = [str(BROWSER), *options, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>inner=(\d+) content=(\d+) wide=(.*?)</title>", done.stdout)
    assert title, done.stderr[-500:]
    assert int(title[1]) == width
    return int(title[1]), int(title[2]), title[3]


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out(width: int, tmp_path: Path) -> None:
    inner, content, wide = laid_out(page(usual(), "assay evaluate " + "--a-long-option " * 20), width, tmp_path)
    assert wide == ""
    assert content <= inner


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
@pytest.mark.parametrize("name", PAGES)
def test_no_page_sticks_out_of_a_phone(name: str, tmp_path: Path) -> None:
    inner, content, wide = laid_out(PAGES[name](), 390, tmp_path)
    assert wide == ""
    assert content <= inner
