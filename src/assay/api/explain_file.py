"""assay.explain_file: explain every line of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from assay.core.errors import AssayError, InputError, SpecError
from assay.core.notices import said_once
from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Example
from assay.datasets.examples import as_example
from assay.datasets.read import read_rows
from assay.explainers.methods import default_method, named_methods
from assay.explainers.session import CHUNK, Session
from assay.models.load import load_model


@dataclass
class FileReport:
    """The outcome of `explain_file`."""

    written: int = 0
    """Attributions written by this call."""
    present: int = 0
    """Lines whose attributions were in the file before."""
    errors: dict[int, str] = field(default_factory=dict)
    """The reason for every line that could not be explained, by its number from 1."""


@said_once
def explain_file(
    model: Any,
    input: str | Path,
    output: str | Path,
    method: Any = None,
    *,
    target: Any = None,
    units: str = "token",
    removal: str | None = None,
    scope: int | str | None = None,
    seed: int = 0,
    batch_tokens: int | None = None,
    overwrite: bool = False,
    progress: bool | None = True,
) -> FileReport:
    """Explain every line of a file and write one attribution per line and method. Call it again to resume.

    input: a jsonl, json, csv, tsv or txt file, also .gz. output: a JSON Lines file; lines that it holds already are
    not explained again, unless `overwrite`. Lines that cannot be explained are reported and left out.
    The other parameters are those of `explain`.
    """
    input, output = Path(input), Path(output)
    loaded = load_model(model)
    chosen = default_method(loaded) if method is None else method
    methods = named_methods(chosen if isinstance(chosen, list) else [chosen])
    session = Session.create(loaded, methods, units, removal, scope, seed, batch_tokens)
    writer = _Writer(session, target, _stored(output, _settings(session, target), overwrite=overwrite))
    total = sum(1 for _ in read_rows(input)) * len(session.methods)
    with output.open("a", encoding="utf-8") as file, Progress("explaining", total, progress) as bar:
        lines = enumerate(read_rows(input), start=1)
        while chunk := list(islice(lines, CHUNK)):
            writer.write(chunk, file, bar)
    return writer.report


def _settings(session: Session, target: Any) -> dict[str, Any]:
    """Everything that changes a number; stored beside the output and compared before resuming."""
    return {
        "model": session.model.fingerprint,
        "methods": [str(Spec.of(method)) for method in session.methods.values()],
        "units": session.units,
        "removal": session.removal.name,
        "scope": session.scope,
        "seed": session.seed,
        "target": target,
    }


def _stored(output: Path, settings: dict[str, Any], *, overwrite: bool) -> set[tuple[str, str]]:
    """The (example id, method) pairs in the output; an incomplete last line is removed."""
    settings_file = output.with_name(output.name + ".settings.json")
    try:
        if overwrite:
            output.unlink(missing_ok=True)
        if not output.exists():
            settings_file.write_text(json.dumps(settings, indent=1))
            return set()
        if not settings_file.exists() or json.loads(settings_file.read_text()) != settings:
            raise SpecError(f"{output} was written with other settings; name another file or use overwrite")
        text = output.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        if complete != text:
            output.write_text(complete, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {output}: {error.strerror}") from error
    attributions = [json.loads(line) for line in complete.splitlines()]
    return {(row["example_id"], str(Spec.from_json(row["method"]))) for row in attributions}


class _Writer:
    """Explains chunks of lines and writes what the output does not hold yet."""

    def __init__(self, session: Session, target: Any, stored: set[tuple[str, str]]) -> None:
        self.session, self.target, self.stored = session, target, stored
        self.specs = [str(Spec.of(method)) for method in session.methods.values()]
        self.report = FileReport()

    def write(self, chunk: Sequence[tuple[int, Any]], file: TextIO, bar: Progress) -> None:
        readable = [(line, item) for line, row in chunk if (item := self._example(line, row)) is not None]
        missing = [(line, item) for line, item in readable if not self._is_stored(item)]
        self.report.present += len(readable) - len(missing)
        bar.advance((len(chunk) - len(missing)) * len(self.specs))
        new = [a for a in self._explain(missing, bar) if (a.example_id, str(a.method)) not in self.stored]
        file.writelines(json.dumps(a.to_dict(), ensure_ascii=False) + "\n" for a in new)
        file.flush()
        self.report.written += len(new)

    def _example(self, line: int, row: Any) -> Example | None:
        """The example of a line, or None with the error in the report."""
        try:
            if isinstance(row, InputError):
                raise row
            item = as_example(row, line)
            self.session.encode(item, line)
        except InputError as error:
            self.report.errors[line] = error.message
            return None
        return item

    def _is_stored(self, item: Example) -> bool:
        return all((item.id, spec) in self.stored for spec in self.specs)

    def _explain(self, numbered: list[tuple[int, Example]], bar: Progress) -> list[Any]:
        """Attributions line by line; lines that fail only now, e.g. with NaN logits, are left out."""
        while numbered:
            try:
                attributions = self.session.explain_chunk(numbered, [self.target] * len(numbered), bar)
            except InputError as error:
                if error.index is None:
                    raise
                self.report.errors[error.index] = error.message
                numbered = [(line, item) for line, item in numbered if line != error.index]
            else:
                return [a for line in zip(*attributions.values(), strict=True) for a in line]
        return []
