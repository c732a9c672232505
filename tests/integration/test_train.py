"""`assay train` as a user meets it: a real process, killed and started again, then used by `assay explain`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assay.cli._training import CHECKPOINT, EARLIER, Printer
from assay.fitting import masks, search
from assay.models.load import save_model
from assay.training import checkpoint
from families import fresh

from .conftest import Refused, invoke_in

ASSAY = [sys.executable, "-m", "assay"]
PLAIN = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
BASE = "bert(layers=1, width=32, heads=2, vocabulary=200, positions=40)"
TEXT = "the old sailor slept while rain fell on a quiet village and nobody knew why"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ASSAY, *arguments], cwd=cwd, env=PLAIN, capture_output=True, text=True, timeout=900)


def options(output: str, *more: str) -> list[str]:
    given = ["--base", BASE, "--data", "data", "--output", output, "--threads", "1", "--batch-size", "8"]
    return ["train", *given, "--learning-rate", "3e-3", "--epochs", "8", *more]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set whose label is one word of the text."""
    rng = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    for split, count in (("train", 96), ("dev", 24)):
        rows = [
            {
                "text": " ".join([*rng.choice(TEXT.split(), 5), ["green", "funny"][i % 2]]),
                "label": ["calm", "bright"][i % 2],
            }
            for i in range(count)
        ]
        (tmp_path / "data" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_train_then_explain(folder: Path) -> None:
    done = run(*options("model"), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "96 examples to learn from, 24 to choose the checkpoint by" in done.stdout
    assert len(re.findall(r"epoch \d\.00  training loss .*accuracy", done.stdout)) == 8
    best = re.findall(r"validation: (.*)  \*$", done.stdout, re.MULTILINE)[-1]
    assert f"best checkpoint: {best}, epoch" in done.stdout, "the first of equally accurate checkpoints"
    assert "accuracy 1.0000" in best
    assert "most frequent label" not in done.stdout
    explained = invoke_in(folder, "explain", "--model", "model", "--method", "occlusion", "--json", "funny old rain")
    assert explained.exit_code == 0, explained.stderr
    assert json.loads(explained.stdout)["label"] == "bright"
    again = invoke_in(folder, *options("model"))
    assert again.exit_code == 2
    assert "holds a finished training" in again.stderr


def test_a_classifier_that_has_learnt_nothing_is_not_passed_over(folder: Path) -> None:
    given = [{"3e-3": "1e-12", "8": "1"}.get(word, word) for word in options("model")]  # rate, epochs
    done = invoke_in(folder, *given)
    assert done.exit_code == 0, done.stderr
    assert "always predicting the most frequent label (50.0 % of the validation examples)" in done.stdout


@pytest.mark.parametrize("command", ["train", "fit"])
def test_ctrl_c_says_what_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Epochs are printed before the first checkpoint; a fit keeps the answers to its masks even before that."""
    fit = ["fit", "aml", "--model", "builtin", "--data", "data", "--output", "out", "--masks", "2"]
    arguments = options("out") if command == "train" else [*fit, "--limit", "20", "--batch-size", "8"]
    monkeypatch.setattr("assay.training.checkpoint.SPACING", 0)

    def interrupted(at: str, *more: str) -> str:
        def pressed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Printer, at, pressed)
            outcome = invoke_in(folder, *arguments, *more)
        assert outcome.exit_code == 130
        return outcome.stderr

    assert "nothing is kept" in interrupted("sizes")
    first = interrupted("check")
    assert "before the first checkpoint" in first
    assert ("nothing is kept" if command == "train" else "only what ran before the training is kept") in first
    kept = interrupted("check", "--save-seconds", "0")
    assert "kept up to its last checkpoint; rerun the same command to resume" in kept
    anew = interrupted("check", "--save-seconds", "0", "--overwrite")
    assert "kept up to its last checkpoint; rerun the same command without --overwrite to resume" in anew


def test_the_names_of_what_an_unfinished_run_leaves() -> None:
    assert (checkpoint.NAME, (masks.FILE, search.FILE)) == (CHECKPOINT, EARLIER)


@pytest.mark.kill
def test_killed_and_started_again(folder: Path) -> None:
    """Ends with the weights of an undisturbed run."""
    assert run(*options("whole"), cwd=folder).returncode == 0
    quick = [*options("cut"), "--save-seconds", "0"]
    process = subprocess.Popen([*ASSAY, *quick], cwd=folder, env=PLAIN, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    while not (folder / "cut" / "checkpoint.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "cut" / "training.json").exists(), "it was still at work"
    assert run(*quick, cwd=folder).returncode == 0
    whole, cut = (json.loads((folder / name / "training.json").read_text()) for name in ("whole", "cut"))
    assert whole["fingerprint"] == cut["fingerprint"]
    assert [c["scores"] for c in whole["history"]["checks"]] == [c["scores"] for c in cut["history"]["checks"]]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--selection", "acuracy"], "did you mean 'accuracy'"),
        (["--selection", "pearson"], "is not a score of a classification model"),
        (["--split", "trian"], "did you mean 'train'"),
        (["--columns", "text"], "write name=value"),
        (["--recipe", "recipe(optimizer=sgd)"], "did you mean 'optimiser'"),
        (["--epochs", "0"], "epochs=0: give a whole number, at least 1"),
        (["--epochs", "-1"], "epochs=-1: give a whole number, at least 1"),
        (["--learning-rate", "nan"], "learning_rate=nan is not allowed; give a finite number"),
        (["--save-seconds", "-1"], "save_seconds=-1.0: give a number, at least 0"),
        (["--limit", "0"], "limit=0: give a whole number, at least 1"),
        (["--device", "gpu"], "the device 'gpu' is not available here"),
        (["--base", "nowhere/at/all"], "cannot load"),
    ],
)
def test_mistakes_are_sentences(folder: Path, more: list[str], words: str, refused: Refused) -> None:
    assert words in refused(*options("model", *more), cwd=folder)
    assert not (folder / "model").exists()


def test_lora_on_the_command_line(folder: Path) -> None:
    """Adapters alone, then a model that loads like any other."""
    save_model(fresh("llama"), folder / "base")
    given = ["train", "--base", "base", "--data", "data", "--threads", "1", "--epochs", "1", "--learning-rate", "1e-2"]
    lora = ["--lora", "--lora-rank", "2", "--lora-alpha", "4", "--lora-targets", "q_proj,o_proj", "--no-lora-merged"]
    done = invoke_in(folder, *given, *lora, "--output", "model")
    assert done.exit_code == 0, done.stderr
    config = json.loads((folder / "model" / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], sorted(config["target_modules"])) == (2, 4, ["o_proj", "q_proj"])
    more = ["--method", "gradient", "--removal", "zero", "--json", "funny old rain"]
    explained = invoke_in(folder, "explain", "--model", "model", *more)
    assert explained.exit_code == 0, explained.stderr
    assert json.loads(explained.stdout)["label"] in ("bright", "calm")
    refused = invoke_in(folder, *given, "--lora-rank", "2", "--output", "other")
    assert refused.exit_code == 2
    assert "lora_rank is a setting of LoRA" in refused.stderr
