"""Generated bad input: specs, plans, packs, notes, records, data files and options.

Each must be read, or be refused with one sentence (an AssayError, exit code 2); nothing else may come out. The quick
tests use a fixed seed and few examples; `make faults` runs more than a thousand.
"""

from __future__ import annotations

import json
import lzma
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import assay
from assay.core.errors import AssayError
from assay.core.spec import check_numbers, parse
from assay.evaluation.metrics import METRICS
from assay.experiments.archive import unpack_records
from assay.experiments.plan import make_plan
from assay.experiments.store import Store, from_text, key_of
from assay.experiments.yaml_node import YamlNode
from assay.explainers import METHODS
from assay.training.recipe import Recipe
from assay.training.scratch import is_scratch, parse_size
from integration.conftest import invoke

QUICK, MANY = 12, 250
COUNTS: dict[str, list[int]] = {}  # tried and refused, by kind


def fuzz(examples: int) -> Callable[[Any], Any]:
    """The same examples in every run, without a time limit and without files of their own."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
    fixed = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=checks)
    return lambda test: seed(20)(fixed(test))


def refused(kind: str, read: Callable[[], Any]) -> bool:
    """Whether the input was refused with a sentence; any other exception fails the test."""
    tried = COUNTS.setdefault(kind, [0, 0])
    tried[0] += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read()
    except AssayError as error:
        tried[1] += 1
        return bool(str(error).strip())
    return False


# --- what is generated -------------------------------------------------------------------------------------------

NAMES = st.sampled_from([*METHODS.names, *METRICS.names, "recipe", "bert", "bilstm_attention", "group"])
KEYS = st.sampled_from(["samples", "steps", "seed", "k", "share", "layers", "width", "epochs", "learning_rate", "x"])
NUMBERS = st.one_of(st.integers(), st.integers(10**6, 10**30), st.floats(), st.sampled_from([0, -1, 1, 2, 0.5]))
VALUES = st.recursive(
    st.one_of(
        NUMBERS.map(str), st.sampled_from(["None", "True", "lime", "''", "'a'", "1e400", "nan", "inf", "-", "*"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(NAMES, inner).map(lambda pair: f"{pair[0]}({pair[1]})"),
    ),
    max_leaves=4,
)
SPECS = st.one_of(
    st.text(max_size=30),
    st.builds(
        lambda name, pairs: f"{name}({', '.join(f'{k}={v}' for k, v in pairs)})",
        NAMES,
        st.lists(st.tuples(KEYS, VALUES), max_size=3),
    ),
    st.builds(lambda name, depth: f"{name}(" * depth, NAMES, st.integers(1, 300)),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)
PLAN_KEYS = st.sampled_from(
    [
        "name",
        "seed",
        "data",
        "models",
        "studies",
        "kind",
        "methods",
        "metrics",
        "source",
        "limit",
        "train",
        "on",
        "load",
        "recipe",
        "seeds",
        "requires",
        "builtin",
        "evaluate",
        "roar",
        "a",
    ]
)
PLAN_WORDS = st.one_of(
    JSON, SPECS, st.sampled_from(["builtin", "evaluate", "accuracy >= 2", "../x", "/nope", "trained_on"])
)
PLANS = st.recursive(
    PLAN_WORDS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(PLAN_KEYS, inner, max_size=4)),
    max_leaves=10,
)
GOOD_PLAN = {"data": {"d": "builtin"}, "models": {"m": "builtin"}, "studies": {"evaluate": {"methods": ["random"]}}}


def read_spec(text: str) -> None:
    name = parse(text).name
    for catalogue in (METHODS, METRICS):
        if name in catalogue.names:
            catalogue.make(text)
    if name == "recipe":
        Recipe.from_spec(text)
    elif is_scratch(text):
        parse_size(text)


def change(content: Any, path: list[int], new: Any) -> Any:
    """The content with one of its parts replaced."""
    if not path or not isinstance(content, dict) or not content:
        return new
    key = list(content)[path[0] % len(content)]
    return {**content, key: change(content[key], path[1:], new)}


CHANGED_PLANS = st.builds(
    lambda path, new: change(GOOD_PLAN, path, new), st.lists(st.integers(0, 3), max_size=4), PLANS
)
RECORD = {
    "key": "0" * 64,
    "spec": {"kind": "x"},
    "rows": {"a": [1]},
    "provenance": {"torch": "2"},
    "files": {"a.json": ""},
}
RECORDS = st.builds(lambda path, new: change(RECORD, path, new), st.lists(st.integers(0, 4), max_size=3), JSON)


def compress(content: bytes) -> bytes:
    return lzma.compress(content, preset=0)  # others take 100 MB each


def checked(record: Any) -> str:
    """As an attacker would write it: with the right checksum."""
    text = json.dumps(record)
    return json.dumps({**json.loads(text), "checksum": key_of(json.loads(text))}) if isinstance(record, dict) else text


# --- the tests ---------------------------------------------------------------------------------------------------


def specs(text: str) -> None:
    refused("specs", lambda: read_spec(text))


def plans(content: Any, folder: Path) -> None:
    refused("plans", lambda: make_plan(YamlNode.parse(json.dumps(content)), Store(folder)))


def plan_texts(content: bytes, folder: Path) -> None:
    (folder / "plan.yaml").write_bytes(content)
    refused("plan texts", lambda: YamlNode.read(folder / "plan.yaml"))


def packs(content: bytes, folder: Path) -> None:
    (folder / "pack.xz").write_bytes(content)
    refused("packs", lambda: unpack_records(folder / "pack.xz", Store(folder / "store")))


def notes(content: str, folder: Path) -> None:
    path = Store(folder).note_path("failed", "k")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    refused("notes", lambda: Store(folder).note("failed", "k"))
    path = Store(folder).path("kk")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    refused("records", lambda: Store(folder).get("kk"))


def data_files(content: bytes, ending: str, folder: Path) -> None:
    (folder / f"d{ending}").write_bytes(content)
    refused("data files", lambda: assay.load_dataset(folder / f"d{ending}"))


ROWS = st.lists(
    st.one_of(
        JSON,
        st.dictionaries(st.sampled_from(["text", "label", "text_pair", "rationale", "id", "tokens"]), JSON, max_size=4),
    ),
    max_size=4,
)
FILES = st.one_of(
    st.binary(max_size=60),
    ROWS.map(lambda rows: "\n".join(map(json.dumps, rows)).encode()),
    ROWS.map(lambda rows: json.dumps(rows).encode()),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(1, 5000).map(lambda depth: b'{"text": ' + b"[" * depth),
)
ENDINGS = st.sampled_from([".jsonl", ".json", ".csv", ".tsv", ".txt", ".jsonl.gz", ".parquet"])
TAGS = ("int", "float", "binary", "timestamp", "set", "omap", "null", "python/object:os.system", "bool", "pairs")
YAML = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    PLANS.map(lambda plan: json.dumps(plan).encode()),
    st.builds(
        lambda a, n: a.encode() * n, st.sampled_from(["[", "{", "a: ", "- ", "&a [*a", "? "]), st.integers(1, 1500)
    ),
    st.sampled_from([f"a: !!{tag} {word}".encode() for tag in TAGS for word in ("x", "[b]", "{b: 1}", "''")]),
)
PACKS = st.one_of(
    st.binary(max_size=60),
    st.binary(max_size=60).map(compress),
    RECORDS.map(lambda record: compress(json.dumps(record).encode())),
    RECORDS.map(lambda record: compress(checked(record).encode())),
    RECORDS.map(lambda record: compress(checked(record).encode())[:-9]),
)
NOTES = st.one_of(RECORDS.map(json.dumps), RECORDS.map(checked), st.text(max_size=40), st.just("[" * 5_000))


@given(text=SPECS)
@fuzz(QUICK)
def test_some_specs(text: str) -> None:
    specs(text)


@given(content=CHANGED_PLANS)
@fuzz(QUICK)
def test_some_plans(content: Any, tmp_path: Path) -> None:
    plans(content, tmp_path)


@given(content=PACKS, note=NOTES, yaml=YAML)
@fuzz(QUICK)
def test_some_packs_notes_records_and_texts_of_plans(content: bytes, note: str, yaml: bytes, tmp_path: Path) -> None:
    packs(content, tmp_path)
    notes(note, tmp_path)
    plan_texts(yaml, tmp_path)


@pytest.mark.faults
def test_a_thousand_bad_inputs_give_a_thousand_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    COUNTS.clear()
    folder = tmp_path
    kinds: list[Any] = [
        given(text=SPECS)(fuzz(MANY)(specs)),
        given(content=CHANGED_PLANS)(fuzz(80)(lambda content: plans(content, folder))),
        given(content=YAML)(fuzz(MANY)(lambda content: plan_texts(content, folder))),
        given(content=PACKS)(fuzz(MANY)(lambda content: packs(content, folder))),
        given(content=NOTES)(fuzz(MANY)(lambda content: notes(content, folder))),
        given(content=FILES, ending=ENDINGS)(fuzz(MANY)(lambda content, ending: data_files(content, ending, folder))),
    ]
    for kind in kinds:
        kind()
    with capsys.disabled():
        sys.stdout.write(f"\n{ {kind: f'{bad} of {all_} refused' for kind, (all_, bad) in COUNTS.items()} }\n")
    assert sum(bad for _, bad in COUNTS.values()) > 1000


COMMANDS: dict[str, list[str]] = {
    "explain": [
        "a film",
        "--method",
        "--units",
        "--target",
        "--scope",
        "--seed",
        "--batch-tokens",
        "--removal",
        "--model",
        "--max-length",
        "--device",
        "--dtype",
        "--html",
        "--input",
        "--output",
        "--text-pair",
        "--prompt",
        "--labels",
    ],
    "evaluate": [
        "--methods",
        "--metrics",
        "--limit",
        "--seed",
        "--protocol",
        "--data",
        "--split",
        "--columns",
        "--scale",
        "--target",
        "--agreement",
        "--report",
        "--json",
        "--store",
        "--markdown",
        "--scope",
        "--batch-tokens",
    ],
    "randomise": ["--methods", "--modes", "--seeds", "--limit", "--units", "--report"],
    "attack": [
        "--methods",
        "--epsilon",
        "--share",
        "--steps",
        "--rate",
        "--objectives",
        "--tolerance",
        "--halve",
        "--alpha",
    ],
    "train": [
        "--base",
        "--data",
        "--output",
        "--epochs",
        "--learning-rate",
        "--save-seconds",
        "--recipe",
        "--limit",
        "--task",
        "--selection",
        "--betas",
        "--clip",
        "--threads",
        "--split",
        "--max-length",
        "--warmup",
        "--seed",
    ],
    "run": ["--only", "--engine", "--workers", "--store", "--threads", "--address"],
    "report": ["--output", "--figure-format", "--store"],
    "status": ["--store"],
    "pack": ["--output", "--store"],
    "unpack": ["--store"],
    "list": ["--long"],
    "data": ["show", "list", "--split", "--examples", "--seed", "--columns"],
}
BAD = [
    "",
    " ",
    "-1",
    "0",
    "nan",
    "inf",
    "1e999",
    "9" * 400,
    "nope",
    "../../x",
    "/dev/full",
    "/dev/null/x",
    "/proc/nope/x",  # no process may create it, not even as root
    "\ud800",
    "a=b",
    ",",
    "(",
    "lime(",
    "lime(samples=10**9)",
    "lime(samples=1000000000000)",
    "[[[",
    "{",
    "🙂",
    "x" * 5000,
    "None",
    "--",
    "=",
    "=,=",
    "true",
    "1,2",
    "lime,",
    "bert(layers=0)",
    "nope:nope",
    "a.yaml",
    "builtin(",
    "cuda:99",
]


def bad_commands() -> list[list[str]]:
    """Every option of every command with every bad value."""
    return [[command, option, value] for command, options in COMMANDS.items() for option in options for value in BAD]


@pytest.mark.faults
@pytest.mark.filterwarnings("ignore")  # as on the command line, where they are printed
@pytest.mark.parametrize("command", COMMANDS)
def test_bad_options_end_with_a_sentence(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands that would do their work have little of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    limited = {
        "evaluate": ["--limit", "2", "--methods", "random", "--metrics", "sufficiency"],
        "attack": ["--limit", "1", "--methods", "gradient", "--steps", "2"],
        "randomise": ["--limit", "1", "--methods", "gradient"],
        "train": ["--base", "bert(layers=0)", "--data", "builtin", "--output", "m"],
        "explain": ["--method", "gradient"],
    }
    codes: dict[int, int] = {}
    for _, option, value in [line for line in bad_commands() if line[0] == command]:
        given = [option, value]
        done = invoke(command, *limited.get(command, []), *given)
        codes[done.exit_code] = codes.get(done.exit_code, 0) + 1
        assert done.exit_code in (0, 1, 2), (given, done.stderr)
        assert "Traceback" not in done.output, (given, done.output)
        if done.exit_code == 2:
            assert done.stderr.startswith(("error: ", "warning: ")), (given, done.stderr)
    with capsys.disabled():
        sys.stdout.write(f"\n{command}: exit codes {codes}\n")


def test_numbers_are_checked_before_anything_is_allocated() -> None:
    for text in (
        "lime(samples=1000000000000)",
        "integrated_gradients(steps=1000000000)",
        "kernel_shap(samples=10000001)",
    ):
        with pytest.raises(AssayError, match="too large; give at most 10,000,000"):
            assay.explain("builtin", "a film", text)
    with pytest.raises(AssayError, match="samples=1e\\+12 is too large"):
        assay.explain("builtin", "a film", type(METHODS.make("lime"))(samples=10**12))
    with pytest.raises(AssayError, match="no method is named"):
        assay.explain("builtin", "a film", [])
    check_numbers("seed", 2**62)


def test_a_record_that_is_none_is_refused() -> None:
    for text in ("[]", "3", '{"key": 3}', "null"):
        with pytest.raises(ValueError, match="it"):
            from_text(text)
