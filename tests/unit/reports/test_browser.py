"""The page in a real browser: nothing sticks out of a phone's screen, nothing is reported as wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.studies.evaluate.page import page
from unit.reports.pages import usual

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
         "disable-component-update", "disable-sync", "hide-scrollbars")  # fmt: skip
ASK = """<script>
const wide = [...document.body.querySelectorAll("*")].filter(e => !e.closest("svg") && !e.closest(".scroll")
  && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className);
document.title = "inner=" + innerWidth + " content=" + document.documentElement.scrollWidth + " wide=" + wide.join();
</script>"""


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out(width: int, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(usual(), "assay evaluate " + "--a-long-option " * 20).replace("</body>", f"{ASK}</body>"))
    options = [*(f"--{name}" for name in QUIET), f"--user-data-dir={tmp_path}/profile", f"--window-size={width},900"]
    command = [str(BROWSER), *options, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>inner=(\d+) content=(\d+) wide=(.*?)</title>", done.stdout)
    assert title, done.stderr[-500:]
    assert title[3] == ""
    assert int(title[2]) <= int(title[1])
