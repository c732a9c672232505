"""`assay serve` as a command: it opens, answers, refuses to be open to a network, and stops."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from .conftest import invoke


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--host", "0.0.0.0"), "can be reached from other machines"),
        (("--token", "short"), "too short"),
        (("--token", "new", "--accounts"), "not both"),
    ],
)
def test_what_is_refused_before_anything_is_loaded(arguments: tuple[str, ...], sentence: str) -> None:
    done = invoke("serve", *arguments)
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())


@pytest.mark.slow
def test_serve_answers_and_stops(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--token", "new", "--store", str(tmp_path / "s")]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as run:
        assert run.stdout is not None
        link = re.search(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]+", run.stdout.readline())
        assert link
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert "Explain a prediction" in opener.open(link[0], timeout=60).read().decode()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(link[0].partition("/enter")[0] + "/explain", timeout=60)
        assert refused.value.code == 403
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) in (0, 130)
    assert (tmp_path / "assay" / "serve.sqlite").is_file()
