"""`explain --input --output`: nothing old passes for new, no line is lost, and one process writes at a time."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.errors import AssayError, SpecError
from assay.core.locks import only_writer

from .disks import small_disk


@pytest.fixture(scope="module")
def model() -> Any:
    return assay.load_model("builtin")


def lines(path: Path, *texts: str, ids: int = 3) -> Path:
    path.write_text("".join(json.dumps({"id": str(i % ids), "text": text}) + "\n" for i, text in enumerate(texts)))
    return path


def explained(path: Path) -> list[tuple[int, str]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["line"], "".join(unit["text"] for unit in row["units"])) for row in rows]


def explain(model: Any, source: Path, output: Path, **more: Any) -> Any:
    return assay.explain_file(model, source, output, "gradient", progress=False, **more)


TEXTS = [
    f"a fine film {word}" for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
]


def test_where_ids_repeat_no_line_is_lost_on_resume(model: Any, tmp_path: Path) -> None:
    source, output = lines(tmp_path / "in.jsonl", *TEXTS), tmp_path / "out.jsonl"
    assert explain(model, source, output).written == 10
    whole = output.read_text()
    output.write_text("".join(whole.splitlines(keepends=True)[:7]) + whole.splitlines()[7][:50])
    report = explain(model, source, output)
    assert (report.present, report.written) == (7, 3)
    assert explained(output) == [(i + 1, text.replace(" ", "")) for i, text in enumerate(TEXTS)]


def test_line_separators_inside_a_text_do_not_break_the_file(model: Any, tmp_path: Path) -> None:
    """Only a line feed ends a line of JSON; Python's splitlines() knows eight others."""
    texts = [f"a fine{separator}film" for separator in ("\u2028", "\u2029", "\x85", "\x0b", "\x1c")]
    source, output = lines(tmp_path / "in.jsonl", *texts), tmp_path / "out.jsonl"
    assert explain(model, source, output).written == 5
    assert explain(model, source, output).present == 5
    assert len(assay.Attributions.from_file(output)) == 5


def test_more_lines_are_added_and_changed_or_missing_ones_refused(model: Any, tmp_path: Path) -> None:
    source, output = lines(tmp_path / "in.jsonl", *TEXTS[:4]), tmp_path / "out.jsonl"
    explain(model, source, output)
    assert explain(model, lines(source, *TEXTS), output).written == 6
    kept = output.read_text()
    lines(source, *TEXTS[:3], "a dreadful film", *TEXTS[4:])
    with pytest.raises(AssayError, match=r"in.jsonl has changed since .*line 4 is another one; use overwrite"):
        explain(model, source, output)
    with pytest.raises(AssayError, match="it has 2 lines, and line 10 was explained before"):
        explain(model, lines(source, *TEXTS[:2]), output)
    assert output.read_text() == kept
    assert explain(model, source, output, overwrite=True).written == 2


def test_another_length_or_other_labels_are_other_settings(model: Any, tmp_path: Path) -> None:
    source, output = lines(tmp_path / "in.jsonl", *TEXTS[:2]), tmp_path / "out.jsonl"
    explain(model, source, output)
    for other in (model.limited(5), assay.load_model((model.hf, model.tokenizer), labels=["bad", "good"])):
        with pytest.raises(SpecError, match="other settings"):
            explain(other, source, output)


def test_a_failed_start_leaves_nothing_behind(model: Any, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="nope"):
        explain(model, tmp_path / "nope.jsonl", tmp_path / "out.jsonl")
    with pytest.raises(AssayError, match="does not exist"):
        explain(model, lines(tmp_path / "in.jsonl", "a"), tmp_path / "no" / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_an_output_of_another_form_is_refused(model: Any, tmp_path: Path) -> None:
    source, output = lines(tmp_path / "in.jsonl", *TEXTS[:2]), tmp_path / "out.jsonl"
    explain(model, source, output)
    for bad in ("[]", "3", "{}", '{"line": "x"}', "null", "\x00", '{"line": 1, "method": 3, "input": ""}'):
        output.write_text(bad + "\n")
        with pytest.raises(SpecError, match="did not write"):
            explain(model, source, output)
    output.write_bytes(b"\xff\xfe\n")
    with pytest.raises(SpecError, match="did not write"):
        explain(model, source, output)


def _hold(path: Path, ready: Any, done: Any) -> None:
    with only_writer(path, "it"):
        ready.set()
        done.wait(60)


def test_a_second_writer_is_refused_and_a_dead_one_holds_nothing(model: Any, tmp_path: Path) -> None:
    source, output = lines(tmp_path / "in.jsonl", *TEXTS[:2]), tmp_path / "out.jsonl"
    fork = multiprocessing.get_context("fork")
    ready, done = fork.Event(), fork.Event()
    other = fork.Process(target=_hold, args=(tmp_path / "out.jsonl.lock", ready, done))
    other.start()
    assert ready.wait(60)
    with pytest.raises(AssayError, match=rf"out.jsonl is being written by process {other.pid} on .*; wait"):
        explain(model, source, output)
    assert not output.exists()
    other.kill()
    other.join()
    assert (tmp_path / "out.jsonl.lock").exists(), "the dead process left its file"
    assert explain(model, source, output).written == 2
    assert not (tmp_path / "out.jsonl.lock").exists()


def test_a_full_disk_is_a_sentence_and_what_is_there_is_resumed(model: Any, tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", *(TEXTS * 13))
    with small_disk(tmp_path / "disk", "96k"):
        output = tmp_path / "disk" / "out.jsonl"
        with pytest.raises(AssayError, match=r"cannot write .*No space left on device; what it holds is kept"):
            explain(model, source, output)
        kept = output.read_bytes().count(b"\n")
        assert 0 < kept < 130


def test_a_device_is_written_without_files_beside_it(model: Any, tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", *TEXTS[:2])
    with pytest.raises(AssayError, match="cannot write /dev/full: No space left"):
        explain(model, source, Path("/dev/full"))
    assert explain(model, source, Path("/dev/null")).written == 2
    assert not list(Path("/dev").glob("full.*"))
    assert Path("/dev/null").is_char_device()
