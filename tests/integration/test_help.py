"""Help, version and lists: quick, complete and readable."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import assay
from assay.cli.main import COMMANDS

from .conftest import invoke

NAMES = [name for names in COMMANDS.values() for name in names]
SCRIPT = """
import sys
from assay.cli.main import main
sys.argv = ["assay", *sys.argv[1:]]
main()
print("imported:", *sorted({"torch", "transformers", "numpy", "pandas"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "list --help",
        "list methods",
        "list methods --long",
        "list metrics --long",
        "list families",
        "list removals",
        "list agreement",
        "list performance",
        "list attack_measures",
        "list studies",
    ],
)
def test_help_and_lists_import_nothing_heavy(arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments.split()], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "imported:"
    assert len(done.stdout.splitlines()) > 1


@pytest.mark.parametrize("command", ["attack", "evaluate", "explain", "randomise"])
def test_the_help_of_a_command_does_not_import_torch(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, command, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    assert not {"torch", "transformers"} & set(done.stdout.splitlines()[-1].split())


def test_version() -> None:
    assert invoke("--version").stdout == f"assay {assay.__version__}\n"


def test_all_commands_are_listed_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = invoke("--help").stdout.splitlines()
    assert [m[1] for line in lines if (m := re.match(r"│ (\w+) +\w", line))] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_examples_and_every_option_help(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = invoke(name, "--help").stdout
    examples = text.partition("Examples:\n")[2].splitlines()
    assert len(examples) >= 2
    assert all(example.startswith(f"  assay {name}") for example in examples)
    options = [line for line in text.splitlines() if re.match(r"│ \*? +--|│ --", line)]
    assert all(re.search(r"  \S+ .*\w", line.split("--", 1)[1]) for line in options), text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explian"], 'unknown command "explian". Did you mean "explain"?'),
        (["evaluate", "--method", "lime"], "unknown option: --method. Did you mean --methods?"),
        (["evaluate", "--seed", "x"], "--seed"),
        (["train"], "--base"),
        (["list"], "KIND"),
        (["list", "method"], "methods"),
    ],
)
def test_wrong_options_are_one_sentence(arguments: list[str], words: str) -> None:
    outcome = invoke(*arguments)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: ")
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stderr.count("\n") == 1
