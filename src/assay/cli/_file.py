"""Explaining a file: good lines are written as they come, bad ones reported, an interrupted run goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from assay.core.errors import AssayError, InputError, SpecError
from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Example
from assay.datasets.examples import as_example
from assay.datasets.read import read_rows
from assay.explainers.explain import CHUNK, Job


@dataclass
class Report:
    """What went wrong, line by line."""

    bad: dict[int, str] = field(default_factory=dict)
    written: int = 0
    skipped: int = 0


def explain_file(job: Job, source: Path, output: Path, target: str | None, *, overwrite: bool) -> int:
    """Explain every line of `source` into `output`; returns the exit code: 1 if any line could not be explained."""
    done = _prepare(output, _settings(job, target), overwrite=overwrite)
    report = Report()
    total = sum(1 for _ in read_rows(source)) * len(job.methods)
    with output.open("a", encoding="utf-8") as out, Progress("explaining", total, show=True) as bar:
        lines = enumerate(read_rows(source), start=1)
        while chunk := list(islice(lines, CHUNK)):
            _chunk(job, chunk, target, done, out, bar, report)
    _say(report, output)
    return 1 if report.bad else 0


def _settings(job: Job, target: str | None) -> dict[str, Any]:
    """All that changes a number: written beside the output and compared before going on."""
    return {
        "model": job.model.fingerprint,
        "methods": [str(Spec.of(method)) for method in job.methods.values()],
        "units": job.units,
        "removal": type(job.removal).__name__ + getattr(job.removal, "token", ""),
        "scope": job.scope,
        "seed": job.seed,
        "target": target,
    }


def _prepare(output: Path, settings: dict[str, Any], *, overwrite: bool) -> set[tuple[str, str]]:
    """Which (line, method) are there already; a half-written last line is cut off."""
    beside = output.with_name(output.name + ".settings.json")
    if overwrite:
        output.unlink(missing_ok=True)
    try:
        if not output.exists():
            beside.write_text(json.dumps(settings, indent=1))
            return set()
        if not beside.exists() or json.loads(beside.read_text()) != settings:
            raise SpecError(
                f"{output} holds attributions made with other settings; name another file or add --overwrite"
            )
        text = output.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            output.write_text(whole, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {output}: {error.strerror}") from error
    there = [json.loads(line) for line in whole.splitlines()]
    return {(row["example_id"], str(Spec.from_json(row["method"]))) for row in there}


def _chunk(
    job: Job,
    chunk: list[tuple[int, Any]],
    target: str | None,
    done: set[tuple[str, str]],
    out: TextIO,
    bar: Progress,
    report: Report,
) -> None:
    good = [(line, item) for line, raw in chunk if (item := _good(job, line, raw, report)) is not None]
    names = [str(Spec.of(method)) for method in job.methods.values()]
    todo = [(line, item) for line, item in good if any((item.id, name) not in done for name in names)]
    report.skipped += len(good) - len(todo)
    bar.advance((len(chunk) - len(todo)) * len(names))
    while todo:
        try:
            found = job.run(todo, [target] * len(todo), bar)
            break
        except InputError as error:  # found out only while running, e.g. NaN logits: leave that line out
            if error.index is None:
                raise
            report.bad[error.index] = error.message
            todo = [(line, item) for line, item in todo if line != error.index]
    else:
        return
    made = [a for group in zip(*found.values(), strict=True) for a in group]
    fresh = [a for a in made if (a.example_id, str(a.method)) not in done]
    out.writelines(json.dumps(a.to_dict(), ensure_ascii=False) + "\n" for a in fresh)
    out.flush()
    report.written += len(fresh)


def _good(job: Job, line: int, raw: Any, report: Report) -> Example | None:
    try:
        if isinstance(raw, InputError):
            raise raw
        item = as_example(raw, line)
        job.encode(item, line)
    except InputError as error:
        report.bad[line] = error.message
        return None
    return item


def _say(report: Report, output: Path) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for line, message in sorted(report.bad.items()):
        console.print(f"line {line}: {message}", style="red", markup=False)
    already = f", {report.skipped} lines were there already" if report.skipped else ""
    console.print(
        f"wrote {report.written} attributions to {output}{already}; {len(report.bad)} bad lines", markup=False
    )
