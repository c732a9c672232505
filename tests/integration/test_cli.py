"""The command line as a user meets it: a real process, the built-in model, real files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import assay
from assay.core.types import Attribution

from .conftest import Refused, invoke_in

ASSAY = [sys.executable, "-m", "assay"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run([*ASSAY, *arguments], cwd=cwd, env=plain, capture_output=True, text=True, timeout=900)


def test_explain_without_arguments_explains_three_built_in_sentences(tmp_path: Path) -> None:
    done = run("explain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("integrated_gradients") == 3


def test_json_and_html_of_two_methods(tmp_path: Path) -> None:
    text = "a modest <b>pleasure</b>"
    methods = ("--method", "lime(samples=50, seed=3),occlusion", "--units", "word")
    done = invoke_in(tmp_path, "explain", *methods, "--json", "--html", "o.html", text)
    assert done.exit_code == 0, done.stderr
    rows = [Attribution.from_dict(json.loads(line)) for line in done.stdout.splitlines()]
    assert [str(row.method).split("(")[0] for row in rows] == ["lime", "occlusion"]
    assert [unit.text for unit in rows[0].units][:2] == ["a", "modest"]
    page = (tmp_path / "o.html").read_text()
    assert "&lt;" in page
    assert "<b>pleasure" not in page
    assert not re.search(r"(src|href)=.?https?:", page), "the page must not need the network"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "integrated_gradient", "x"], ["did you mean 'integrated_gradients'"]),
        (["--method", "lime(sample=5)", "x"], ["lime has no parameter 'sample'", "did you mean 'samples'"]),
        (["--method", "lime(samples=many)", "x"], ["samples must be a whole number"]),
        (["--target", "posittive", "x"], ["unknown label 'posittive'", "positive"]),
        (["--target", "positive", "--against", "positive", "x"], ["'positive' against itself is always 0"]),
        (["--against", "positive", "a fine film"], ["against names the predicted class"]),
        (["--scale", "volts", "x"], ["volts", "log_odds"]),
        (["--device", "cuda:7", "x"], ["the device 'cuda:7' is not available here; use cpu"]),
        (["--dtype", "float99", "x"], ["unknown precision 'float99'"]),
        (["--removal", "mean_colour", "x"], ["a text has no colours", "mask_token"]),
        (["--model", "no/such/folder", "x"], ["cannot load 'no/such/folder'"]),
        ([""], ["the text is empty"]),
        (["--input", "x.jsonl"], ["--input and --output go together"]),
    ],
)
def test_bad_input_ends_in_a_sentence(arguments: list[str], words: list[str], refused: Refused, tmp_path: Path) -> None:
    said = refused("explain", *arguments, cwd=tmp_path)
    for word in words:
        assert word in said


def test_target_against_and_scale_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a dull film\n")
    options = ("--method", "gradient_x_input", "--target", "negative", "--against", "positive", "--scale", "logit")
    shown = invoke_in(tmp_path, "explain", *options, "--json", "a dull film")
    invoke_in(tmp_path, "explain", *options, "--input", "in.txt", "--output", "out.jsonl")
    for text in (shown.stdout, (tmp_path / "out.jsonl").read_text()):
        assert json.loads(text)["target"] == {"label": 0, "against": 1, "scale": "logit"}
    other = invoke_in(tmp_path, "explain", *options[:-1], "probability", "--input", "in.txt", "--output", "out.jsonl")
    assert "other settings" in other.stderr


def test_a_mistake_leaves_no_traceback(tmp_path: Path) -> None:
    done = run("explain", "--target", "posittive", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown label 'posittive'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_with_bad_lines_keeps_the_good_ones(tmp_path: Path) -> None:
    lines = [
        '{"text": "a fine film", "id": "one"}',
        '{"text": ""}',
        "no json",
        '{"words": 1}',
        '{"text": "a dull film"}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    command = ("explain", "--method", "occlusion", "--input", "in.jsonl", "--output", "out.jsonl")
    done = invoke_in(tmp_path, *command)
    assert done.exit_code == 1
    assert [f"line {n}:" in done.stderr for n in range(1, 6)] == [False, True, True, True, False]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["example_id"] for row in rows] == ["one", "5"]
    again = invoke_in(tmp_path, *command)
    assert "wrote 0 attributions" in again.stderr
    assert "2 lines were there already" in again.stderr
    other = invoke_in(tmp_path, "explain", "--method", "lime", *command[3:])
    assert other.exit_code == 2
    assert "other settings" in other.stderr


@pytest.mark.kill
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    texts = [f"film number {i} is a modest pleasure that accomplishes its goals" for i in range(400)]
    (tmp_path / "in.txt").write_text("\n".join(texts) + "\n")
    command = ("explain", "--method", "lime(samples=200)", "--input", "in.txt", "--output")
    victim = subprocess.Popen([*ASSAY, *command, "killed.jsonl"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.time() + 600
    while time.time() < deadline and not _lines(tmp_path / "killed.jsonl"):
        time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    kept = _lines(tmp_path / "killed.jsonl")
    assert 0 < len(kept) < 400, "the kill must come in the middle"
    with (tmp_path / "killed.jsonl").open("a") as out:
        out.write('{"example_id": "half a li')  # as a kill in mid-write leaves it
    assert run(*command, "killed.jsonl", cwd=tmp_path).returncode == 0
    assert run(*command, "whole.jsonl", cwd=tmp_path).returncode == 0
    killed, whole = (_scores(tmp_path / name) for name in ("killed.jsonl", "whole.jsonl"))
    assert killed.keys() == whole.keys()
    assert len(killed) == 400
    for name, scores in whole.items():
        assert killed[name] == pytest.approx(scores, abs=1e-5)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _scores(path: Path) -> dict[str, list[float]]:
    return {row["example_id"]: row["scores"] for row in map(json.loads, _lines(path))}


@pytest.mark.parametrize(
    ("listing", "name"),
    [
        ("methods", "kernel_shap"),
        ("metrics", "top_k_mass"),
        ("agreement", "top_k_overlap"),
        ("performance", "auroc"),
        ("attack_measures", "rank_change"),
        ("families", "deberta_v2"),
        ("removals", "zero"),
    ],
)
def test_list(listing: str, name: str, tmp_path: Path) -> None:
    short, long = invoke_in(tmp_path, "list", listing), invoke_in(tmp_path, "list", listing, "--long")
    assert name in short.stdout
    assert len(long.stdout) > len(short.stdout)


def test_list_of_some_names(tmp_path: Path) -> None:
    shown = invoke_in(tmp_path, "list", "methods", "decompx", "alti").stdout
    assert [line.split()[0] for line in shown.splitlines() if not line.startswith(" ")] == ["decompx", "alti"]
    wrong = invoke_in(tmp_path, "list", "removals", "zeros")
    assert wrong.exit_code != 0
    assert "'zeros' is not in the list of removals; did you mean 'zero'?" in " ".join(wrong.stderr.split())


def test_list_says_what_a_method_costs_and_where_it_works(tmp_path: Path) -> None:
    shown = " ".join(invoke_in(tmp_path, "list", "methods", "--long").stdout.split())
    for words in (
        "search; signed, not complete, per class; explains the probability by default",
        "passes per input: at most (beam n (n + 1) + n) f memory per input: beam x n x n masks families: all",
        "families: all but deberta_v2",
        "f forward pass, b backward pass, n units",
    ):
        assert words in shown


def test_a_shell_cannot_write_a_new_line_so_a_prompt_may_say_it(tmp_path: Path) -> None:
    """Otherwise the model would read a backslash and an n."""
    from assay.models.load import load_model, save_model
    from families import WORDS, fresh

    save_model(fresh("llama-prompted"), tmp_path / "lm")
    given = ["--prompt", r"Review: {text}\nSentiment:", "--labels", "negative= bad,positive= good", "--removal", "zero"]
    shown = invoke_in(tmp_path, "explain", "--model", "lm", *given, "--method", "occlusion", "--json", "the soup")
    assert shown.exit_code == 0, shown.stderr
    model = load_model(tmp_path / "lm", prompt="Review: {text}\nSentiment:", labels=WORDS)
    expected = assay.explain(model, "the soup", "occlusion", removal="zero", progress=False)
    assert json.loads(shown.stdout)["scores"] == pytest.approx(expected.scores.tolist(), abs=1e-6)
