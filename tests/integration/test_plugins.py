"""--plugin on every command, and `plugins` in plans, also for Ray workers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import assay
from assay.cli._plugins import split_plugins

from .conftest import Refused, invoke

pytestmark = pytest.mark.usefixtures("own_code")
PLUGIN = '''
"""Ranks units from the back."""
from dataclasses import dataclass
from typing import ClassVar
import assay
from assay.core.metric_facts import MetricFacts
from assay.explainers.protocols import MethodFacts

@assay.register("method")
@dataclass(frozen=True)
class Backwards:
    """The last unit counts most."""
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=True, complete=False, class_dependent=False, passes="none", memory="n")
    def read(self, example, units, label, labels):
        return list(range(len(units)))

@assay.register("metric")
@dataclass(frozen=True)
class Highest:
    """The highest score."""
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 ..")
    def measure(self, attribution, example):
        return float(attribution.scores.max())

@assay.register("dataset")
def two_films() -> list:
    """Two films."""
    return [{"text": "a good film", "label": "positive"}, {"text": "a bad film", "label": "negative"}]
'''
PLAN = """
plugins: [mine.py]
data: {films: two_films}
models: {ready: builtin}
studies: {evaluate: {methods: [backwards, random], metrics: [highest, sufficiency]}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def test_explain_evaluate_and_list(folder: Path) -> None:
    done = invoke("explain", "--plugin", "mine.py", "--method", "backwards", "a good film")
    assert "film +2, good +1, a +0" in done.stdout, done.output
    done = invoke("evaluate", "--data", "two_films", "--methods", "backwards,random", "--plugin=mine.py",
                  "--metrics", "highest,sufficiency", "--json", "r.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    rows = json.loads((folder / "r.json").read_text())["table"]
    assert [row["value"] for row in rows if (row["method"], row["metric"]) == ("backwards", "highest")] == [2]
    page = (folder / "report.html").read_text()
    assert "The highest score." in page
    assert "--plugin=mine.py" in re.sub("<[^>]*>", "", page), "the page says how to reproduce it"
    assert "The last unit counts most." in invoke("list", "methods", "--plugin", "mine.py").stdout
    assert "Two films" in invoke("data", "list", "--plugin", "mine.py").stdout


def test_a_plan_names_its_plugins(folder: Path) -> None:
    assert assay.run("plan.yaml", store="store").ok
    values = {(row["method"], row["metric"]): row["value"] for row in assay.results("plan.yaml", store="store")}
    assert values["backwards", "highest"] == 2
    assert assay.report("plan.yaml", "report", store="store")


def test_refusals(folder: Path, refused: Refused) -> None:
    assert "cannot read the plugin nowhere.py" in refused("list", "methods", "--plugin", "nowhere.py", cwd=folder)
    assert "--plugin needs a value" in refused("list", "methods", "--plugin", cwd=folder)
    assert "unknown method 'backwards'" in refused("explain", "--method", "backwards", "a film", cwd=folder)
    (folder / "plan.yaml").write_text(PLAN.replace("mine.py", "nowhere.py"))
    assert "plan.yaml, plugins.nowhere.py: cannot read the plugin" in refused("run", "plan.yaml", cwd=folder)


def test_what_follows_two_dashes_is_left_alone() -> None:
    arguments = ["explain", "--plugin", "a.py", "--plugin=b.py", "--", "--plugin", "c.py"]
    assert split_plugins(arguments) == (["explain", "--", "--plugin", "c.py"], ["a.py", "b.py"])


@pytest.mark.ray
def test_ray_workers_load_the_plugins(folder: Path) -> None:
    assert assay.run("plan.yaml", store="store", engine="ray", workers=1).ok
    values = {(row["method"], row["metric"]): row["value"] for row in assay.results("plan.yaml", store="store")}
    assert values["backwards", "highest"] == 2
