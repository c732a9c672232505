"""The pages in a real browser: nothing sticks out of a phone's screen, and hostile text runs nowhere."""

from __future__ import annotations

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
ASK = """<script>
const wide = [...document.body.querySelectorAll("*")].filter(e => !e.closest("svg") && !e.closest(".scroll")
  && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className);
document.title = "inner=" + innerWidth + " content=" + document.documentElement.scrollWidth + " wide=" + wide.join();
</script>"""


def laid_out(html: str, width: int, folder: Path) -> tuple[int, int, str]:
    """Inner width, content width and what sticks out, as a browser lays the page out."""
    file = folder / "report.html"
    file.write_text(html.replace("</body>", f"{ASK}</body>"))
    options = [*(f"--{name}" for name in QUIET), f"--user-data-dir={folder}/profile", f"--window-size={width},900"]
    command = [str(BROWSER), *options, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>inner=(\d+) content=(\d+) wide=(.*?)</title>", done.stdout)
    assert title, done.stderr[-500:]
    return int(title[1]), int(title[2]), title[3]


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
