"""Code of users: registered names, plugins, entry points, the form of classes, and the hash of their source."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import assay
from assay import SpecError
from assay.core import additions
from assay.core.metric_facts import MetricFacts
from assay.core.user_code import identity, load_plugin, loaded_plugins, source_hash
from assay.experiments.direct_task import DirectTask
from assay.experiments.job import Job
from assay.experiments.store import key_of
from assay.explainers import METHODS
from assay.explainers.protocols import MethodFacts

pytestmark = pytest.mark.usefixtures("own_code")
FACTS = MethodFacts(scale="logit", signed=True, complete=False, class_dependent=True, passes="none", memory="n")
TEXT = "a modest pleasure"
PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar
import assay
from assay.explainers.protocols import MethodFacts

@assay.register("method")
@dataclass(frozen=True)
class Fixed:
    "Counts down."
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=True, complete=False, class_dependent=False, passes="none", memory="n")
    def read(self, example, units, label, labels):
        return [SIGN * i for i in range(len(units))]
SIGN = 1
"""


@dataclass(frozen=True)
class Backwards:
    """The last unit counts most."""

    facts: ClassVar[MethodFacts] = FACTS

    def read(self, example, units, label, labels):
        return np.arange(len(units))


@dataclass
class Thawed:  # not frozen
    facts: ClassVar[MethodFacts] = FACTS

    def read(self, example, units, label, labels):
        return np.arange(len(units))


@dataclass(frozen=True)
class Demanding(Backwards):
    """Its parameter has no default."""

    samples: int


@dataclass(frozen=True)
class Wordless:
    facts: ClassVar[MethodFacts] = FACTS

    def flow(self):
        yield from ()


@dataclass(frozen=True)
class Factless:
    def read(self, example, units, label, labels):
        return np.arange(len(units))


@dataclass(frozen=True)
class Lime(Backwards):
    """A name that is taken."""


@dataclass(frozen=True)
class Longest:
    """The longest score."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 ..")

    def measure(self, attribution, example):
        return float(attribution.scores.max())


@dataclass(frozen=True)
class Unprotected:
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 ..")

    def keeps(self, order):
        return np.ones((1, len(order)), bool)

    def measure(self, values, value_full):
        return 0.0


@dataclass(frozen=True)
class Nameless:
    def available(self, model):
        return None

    def rows(self, model, encoding, keep):
        return None

    def reference(self, model, batch):
        return None


@dataclass(frozen=True)
class Idle:
    def jobs(self, context):
        return []

    def report(self, context):
        return None


def test_a_registered_name_is_a_method_like_any_other():
    assay.register("method", Backwards)
    attribution = assay.explain("builtin", TEXT, "backwards")
    assert attribution.scores.tolist() == list(range(len(attribution)))
    assert assay.explain("builtin", TEXT, "ensemble([backwards, occlusion])")
    assert {entry.name: entry.summary for entry in assay.catalogue("methods")}[
        "backwards"
    ] == "The last unit counts most."
    assert assay.register("metric")(Longest) is Longest, "a decorator"
    assert [entry.name for entry in assay.catalogue("metrics")][-1] == "longest"
    assay.register("method", Backwards)  # again, as when a cell of a notebook runs twice


@pytest.mark.parametrize(
    ("kind", "entry", "words"),
    [
        ("method", Thawed, ["thawed is not a method. Write @dataclass(frozen=True) above `class Thawed`"]),
        ("method", Demanding, ["Its parameter samples has no default"]),
        ("method", Wordless, ["Its flow(self) cannot be called; write `def flow(self, n, rng)`"]),
        ("method", Factless, ["It does not declare its facts; add to its class, for example: facts: ClassVar"]),
        ("method", Lime, ["there is a method called 'lime' already; give yours another name"]),
        ("method", Longest, ["longest is not a method. Give a name from `assay list methods`, or an object with"]),
        ("metric", Backwards, ["backwards is not a metric. Give a name from `assay list metrics`"]),
        ("metric", Unprotected, ['needs the field `protocol: str = "eraser"`']),
        ("removal", Nameless, ['Add to its class `name: ClassVar[str] = "nameless"`']),
        ("removal", Backwards, ["It needs `def available(self, model)`"]),
        ("study", Idle, ["Add to its class `needs_model_files: ClassVar[bool] = False`"]),
        ("study", Backwards, ["It needs `def jobs(self, context)`"]),
        ("dataset", Backwards, ["backwards is not a data set. Give a function such as `def my_data(n: int = 100)"]),
        ("methods", Backwards, ["unknown kind 'methods'; did you mean 'method'?"]),
    ],
)
def test_a_wrong_one_gets_a_sentence_that_shows_the_form(kind, entry, words):
    with pytest.raises(SpecError) as refusal:
        assay.register(kind, entry)
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_wrong_objects_get_the_same_sentences():
    with pytest.raises(SpecError, match=r"is not a method\. Write @dataclass\(frozen=True\) above `class Thawed`"):
        assay.explain("builtin", TEXT, Thawed())
    with pytest.raises(SpecError, match=r"write `def flow\(self, n, rng\)`"):
        assay.explain("builtin", TEXT, Wordless())
    with pytest.raises(SpecError, match=r"Backwards is a class; give an object, Backwards\(\)"):
        assay.explain("builtin", TEXT, Backwards)
    with pytest.raises(SpecError, match=r"is not a metric\. A metric that masks inputs needs the field"):
        assay.evaluate(methods=["random"], metrics=[Unprotected()], limit=2)

    @dataclass(frozen=True)
    class TooMany(Backwards):
        def read(self, example, units, label, labels):
            return [1.0]

    with pytest.raises(assay.InputError, match=r"too_many gave scores of the shape \(1,\) for 3 units"):
        assay.explain("builtin", TEXT, TooMany())


def test_objects_enter_an_evaluation(tmp_path):
    result = assay.evaluate(
        methods=[Backwards(), "random"], metrics=[Longest(), "sufficiency"], limit=3, store=tmp_path
    )
    assert {row["method"] for row in result.table()} == {"backwards", "random"}
    assert {row["metric"] for row in result.table()} == {"longest", "sufficiency"}
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "The longest score." in page
    assert f"backwards, revision 1, source {source_hash(Backwards)}" in page


# --- plugins ---------------------------------------------------------------------------------------------------------


def test_an_edited_plugin_never_gets_old_records(tmp_path):
    """The same name, parameters and revision, but another source."""
    path, keys, values = tmp_path / "mine.py", [], []
    for sign in (1, -1, 1):
        path.write_text(PLUGIN.replace("SIGN = 1", f"SIGN = {sign}"))
        load_plugin(path)
        result = assay.evaluate(methods=["fixed"], metrics=["comprehensiveness"], limit=4, store=tmp_path / "store")
        keys.append(str(result.evaluation.settings["methods"]))
        values.append([row["value"] for row in result.table()])
    assert keys[0] != keys[1]
    assert (keys[0], values[0]) == (keys[2], values[2])
    assert values[0] != values[1]
    assert len(list((tmp_path / "store").glob("??/*.json"))) == 2
    assert loaded_plugins() == (str(path),)


def test_the_source_is_in_the_keys_of_every_study(tmp_path):
    """Studies name methods in their settings; the task of a user's study is the user's code too."""
    named = {"kind": "randomise", "settings": "layer_randomisation(methods=[fixed, lime])"}
    other = {"kind": "randomise", "settings": "layer_randomisation(methods=[lime, fixedly])"}
    keys = []
    for sign in (1, -1):
        (tmp_path / "mine.py").write_text(PLUGIN.replace("SIGN = 1", f"SIGN = {sign}"))
        task = load_plugin(tmp_path / "mine.py").Fixed()
        keys.append(
            [Job(DirectTask(None), named, {}).key, Job(DirectTask(None), other, {}).key, Job(task, other, {}).key]
        )
    (named_1, other_1, own_1), (named_2, other_2, own_2) = keys
    assert named_1 != named_2
    assert other_1 == other_2 == key_of(other)
    assert own_1 != own_2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1 / 0", "the plugin mine.py ended with ZeroDivisionError: division by zero"),
        ("def", "the plugin mine.py ended with SyntaxError"),
        ("import nowhere_at_all", "ended with ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("import assay\nassay.register('method', dict)", "the plugin mine.py: dict is not a method."),
    ],
)
def test_a_plugin_that_fails_is_one_sentence(tmp_path, content, words):
    (tmp_path / "mine.py").write_text(content)
    with pytest.raises(SpecError) as refusal:
        load_plugin(tmp_path / "mine.py")
    assert words in str(refusal.value)
    assert "assay_plugin_mine" not in sys.modules


def test_plugins_that_are_not_there(tmp_path):
    with pytest.raises(assay.AssayError, match=r"cannot read the plugin mine\.py: No such file"):
        load_plugin(tmp_path / "mine.py")
    with pytest.raises(SpecError, match="there is no plugin 'nowhere_at_all'; give a Python file"):
        load_plugin("nowhere_at_all")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("")
    load_plugin(tmp_path / "a" / "mine.py")
    with pytest.raises(SpecError, match=r"two plugins are called mine\.py; rename one"):
        load_plugin(tmp_path / "b" / "mine.py")


def test_a_file_may_be_imported_and_be_a_plugin(tmp_path, monkeypatch):
    (tmp_path / "my_fixed.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("my_fixed")
    load_plugin(tmp_path / "my_fixed.py")
    assert METHODS.get("fixed").__module__ == "assay_plugin_my_fixed"


# --- entry points ----------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package with entry points."""

    def install(points):
        (tmp_path / "my_package.py").write_text(
            PLUGIN.replace('@assay.register("method")', "") + "class Lime(Fixed): pass"
        )
        info = tmp_path / "my_package-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)
        additions._points.cache_clear()

    yield install
    monkeypatch.undo()
    additions._points.cache_clear()


def test_an_entry_point_is_a_name(installed):
    installed("[assay.methods]\nfixed = my_package:Fixed\n")
    assert "fixed" in METHODS.names
    assert "my_package" not in sys.modules, "nothing is imported before it is used"
    assert assay.explain("builtin", TEXT, "fixed").scores.tolist() == [0, 1, 2]
    assert "fixed" in [entry.name for entry in assay.catalogue("methods")]


@pytest.mark.parametrize(
    ("points", "name", "words"),
    [
        ("[assay.methods]\nlime = my_package:Lime\n", "lime", "there is a method called 'lime' already"),
        ("[assay.methods]\nnone = my_package:Nothing\n", "none", "cannot be loaded: AttributeError"),
        ("[assay.methods]\nother = my_package:Fixed\n", "other", "must have the name of what it loads: fixed"),
        ("[assay.methods]\nmethod_facts = my_package:MethodFacts\n", "method_facts", "method_facts is not a method"),
    ],
)
def test_a_wrong_entry_point_is_one_sentence(installed, points, name, words):
    installed(points)
    with pytest.raises(SpecError) as refusal:
        METHODS.get(name)
    assert words in str(refusal.value)
    assert METHODS.get("occlusion"), "the others still work"


# --- source ----------------------------------------------------------------------------------------------------------


def test_identity_of_own_and_outside_code():
    assert identity(METHODS.make("occlusion")) == ["occlusion", 1]
    assert identity(Backwards()) == ["backwards", 1, source_hash(Backwards)]


def test_code_without_a_source_is_never_found_again():
    """Typed at a prompt: another process gives another hash."""
    namespace = {}
    exec("class Typed:\n    def read(self): pass", namespace)
    assert source_hash(namespace["Typed"]) != source_hash(Backwards)
    exec("class Typed:\n    def read(self): return 1", other := {"__name__": "elsewhere"})
    assert source_hash(other["Typed"])
