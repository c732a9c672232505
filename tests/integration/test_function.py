"""Models behind a function, end to end: a scikit-learn pipeline, and a web service that is killed and goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.models.answer_cache import FILE

from .conftest import Refused, invoke

GUIDE = Path(__file__).parents[2] / "docs/functions.md"
LINES = [
    {"text": f"{start} {word} {end}", "label": label}
    for start in ("a", "this is a", "what a", "truly a")
    for end in ("film", "story .", "(and long) plot")
    for word, label in (("good", "positive"), ("fine", "positive"), ("bad", "negative"), ("dull", "negative"))
]
PIPELINE = """
import json
from pathlib import Path
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

lines = [json.loads(line) for line in Path("data.jsonl").read_text().splitlines()]
pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
pipeline.fit([line["text"] for line in lines], [line["label"] for line in lines])

def predict(texts):
    return pipeline.predict_proba(texts)
"""
EVALUATE = ("evaluate", "--data", "data.jsonl", "--metrics", "sufficiency,comprehensiveness", "--store", "store")

QUICK = ("--methods", "lime(samples=20),occlusion,random")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    (tmp_path / "own_pipeline.py").write_text(PIPELINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_pipeline", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_pipeline_is_evaluated_from_the_command_line_and_the_next_run_asks_nothing(folder: Path) -> None:
    command = (*EVALUATE, *QUICK, "--model", "own_pipeline:pipeline", "--limit", "6", "--report", "report.html")
    done = invoke(*command, "--json", "first.json")
    assert done.exit_code == 0, done.output
    page = (folder / "report.html").read_text()
    assert "function, classification, probabilities (predict_proba)" in page
    assert "units: word" in page
    values = json.loads((folder / "first.json").read_text())
    records = sorted((folder / "store").rglob("*.json"))
    sys.modules.pop("own_pipeline")  # fitted anew, as another process would
    again = invoke(*command, "--json", "again.json")
    assert again.exit_code == 0, again.output
    assert sorted((folder / "store").rglob("*.json")) == records, "the pipeline was recognised"
    assert json.loads((folder / "again.json").read_text()) == values


def test_a_plan_names_a_model_in_the_users_code(folder: Path) -> None:
    plan = {
        "data": {"films": {"source": "data.jsonl", "limit": 4}},
        "models": {"tfidf": "own_pipeline:pipeline"},
        "studies": {"evaluate": {"metrics": ["sufficiency"]}},
    }
    (folder / "plan.yaml").write_text(json.dumps(plan))
    done = invoke("run", "plan.yaml", "--store", "store")
    assert done.exit_code == 0, done.output
    assert "1 done" in done.output
    rows = invoke("report", "plan.yaml", "--store", "store", "--output", "report")
    assert rows.exit_code == 0, rows.output
    assert "occlusion" in (folder / "report/rows.csv").read_text()


@pytest.mark.filterwarnings("default")
def test_a_function_needs_labels_and_says_when_nothing_can_be_reused(folder: Path, refused: Refused) -> None:
    error = refused("explain", "--model", "own_pipeline:predict", "good", cwd=folder)
    assert "needs the names of its labels" in error
    assert "--labels negative,positive" in error
    done = invoke("evaluate", "--model", "own_pipeline:predict", "--labels", "negative,positive", *EVALUATE[1:],
                  "--limit", "3", "--methods", "occlusion,random")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "has no version, so finished work cannot be reused in another run" in done.stderr


# --- a web service ---------------------------------------------------------------------------------------------------

SERVER = """
import json, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from own_pipeline import predict

class Handler(BaseHTTPRequestHandler):
    asked = 0
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Handler.asked += 1
        if Handler.asked % 10 == 0:
            return self.send_error(503)
        time.sleep(0.05)
        answer = json.dumps(predict(texts).tolist()).encode()
        with open("asked.jsonl", "a") as log:
            log.write(json.dumps(texts) + "\\n")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
open("port", "w").write(str(server.server_port))
server.serve_forever()
"""
CLIENT = """
import json, os, urllib.request
import assay

def predict(texts):
    request = urllib.request.Request(f"http://127.0.0.1:{open('port').read()}", json.dumps(texts).encode())
    return json.load(urllib.request.urlopen(request, timeout=60))

limit = os.environ.get("MAX_CALLS")
model = assay.load_model(
    predict, labels=["negative", "positive"], name="service", version="1", cache=os.environ["CACHE"], batch_size=8,
    max_calls=None if limit is None else int(limit),
)
"""


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    (folder / "server.py").write_text(SERVER)
    server = subprocess.Popen([sys.executable, "server.py"], cwd=folder)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "port").exists() or not (folder / "port").read_text():
            assert server.poll() is None, "the server did not start"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield
    finally:
        server.kill()
        server.wait()


def start(folder: Path, name: str, **more: str) -> subprocess.Popen[bytes]:
    """An evaluation with a store, answers, results and errors of its own."""
    command = [
        sys.executable,
        "-m",
        "assay",
        *EVALUATE[:-1],
        f"store-{name}",
        "--model",
        "remote:model",
        "--limit",
        "8",
    ]
    results = ["--methods", "kernel_shap(samples=64),occlusion", "--json", f"{name}.json", "--report", f"{name}.html"]
    with (folder / f"{name}.err").open("w") as errors:
        environment = {**os.environ, "CACHE": name, **more}
        return subprocess.Popen([*command, *results], cwd=folder, env=environment, stdout=errors, stderr=errors)


def error_of(folder: Path, name: str) -> str:
    return (folder / f"{name}.err").read_text()


def asked(folder: Path) -> list[str]:
    log = folder / "asked.jsonl"
    return [text for line in log.read_text().splitlines() for text in json.loads(line)] if log.exists() else []


@pytest.mark.faults
def test_a_service_that_is_killed_goes_on_without_a_repeated_call(folder: Path) -> None:
    """The server counts: what the killed run had been told is not asked again, and the result is the same."""
    (folder / "remote.py").write_text(CLIENT)
    with serving(folder):
        whole = start(folder, "whole")
        assert whole.wait() == 0, error_of(folder, "whole")
        needed = asked(folder)
        assert len(needed) == len(set(needed)), "no text is asked twice"
        victim = start(folder, "killed")
        deadline = time.monotonic() + 300
        while len(asked(folder)) < len(needed) * 1.5 and victim.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        victim.send_signal(signal.SIGKILL)
        assert victim.wait() == -signal.SIGKILL, "it was still at work"
        before = asked(folder)[len(needed) :]
        again = start(folder, "killed")
        assert again.wait() == 0, error_of(folder, "killed")
        after = asked(folder)[len(needed) + len(before) :]
    repeated = set(before) & set(after)
    assert len(repeated) <= 8, "only the answers that were on their way when the process died"
    assert set(before) | set(after) == set(needed)
    assert (folder / "killed" / FILE).exists()
    killed, whole_run = (json.loads((folder / f"{name}.json").read_text()) for name in ("killed", "whole"))
    assert killed["table"] == whole_run["table"]
    assert {**killed, "provenance": None} == {**whole_run, "provenance": None}  # seconds differ


@pytest.mark.faults
def test_a_budget_ends_with_a_sentence_and_the_same_command_goes_on(folder: Path) -> None:
    (folder / "remote.py").write_text(CLIENT)
    runs = 0
    with serving(folder):
        while True:
            run = start(folder, "budget", MAX_CALLS="15")
            runs += 1
            if run.wait() == 0:
                break
            error = error_of(folder, "budget")
            assert run.returncode == 2, error
            assert re.search(r"service: all 15 calls of max_calls are made; every answer is kept in .*budget", error)
            assert runs < 9
        texts = asked(folder)
    assert runs > 1
    assert len(texts) == len(set(texts)), "no answer was paid for twice"


# --- the guide -------------------------------------------------------------------------------------------------------


def test_the_snippets_of_the_guide_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snippets = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) == 3
    namespace: dict[str, object] = {}
    for snippet in snippets:
        exec(snippet, namespace)
    assert "Overall: " in capsys.readouterr().out
