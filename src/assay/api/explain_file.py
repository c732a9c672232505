"""assay.explain_file: explain every line of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from assay.core.errors import AssayError, InputError, SpecError
from assay.core.files import check_writable, unwritable, write_file
from assay.core.locks import only_writer
from assay.core.notices import said_once
from assay.core.progress import Progress
from assay.core.spec import Spec, as_list
from assay.core.types import Attribution, Example, Target
from assay.core.user_code import identity, is_outside
from assay.datasets.column_notes import LOOKED_AT
from assay.datasets.columns import ColumnMap, as_columns
from assay.datasets.dataset import content_hash
from assay.datasets.examples import as_example, warn_of_unused
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
    special_tokens: str = "protected",
    columns: ColumnMap | str | None = None,
    overwrite: bool = False,
    progress: bool | None = True,
) -> FileReport:
    """Explain every line of a file and write one attribution per line and method. Call it again to resume.

    input: a jsonl, json, csv, tsv or txt file, also .gz. output: a JSON Lines file, with the line number and a hash of
    the input in every row; lines that it holds already are not explained again, unless `overwrite`. A line that has
    changed since then is an error. Lines that cannot be explained are reported and left out.
    The other parameters are those of `explain`.
    """
    input, output = Path(input), Path(output)
    check_writable(output)
    loaded, given = load_model(model), as_columns(columns)
    methods = named_methods([default_method(loaded)] if method is None else as_list(method))
    warn_of_unused([row for row in islice(read_rows(input), LOOKED_AT) if isinstance(row, Mapping)], given)
    session = Session.create(loaded, methods, units, removal, scope, seed, batch_tokens, special_tokens)
    lock = output.with_name(f"{output.name}.lock")
    with nullcontext() if _is_stream(output) else only_writer(lock, str(output)):
        rows = sum(1 for _ in read_rows(input))
        stored = _stored(output, _settings(session, target, given), overwrite=overwrite)
        writer = _Writer(session, target, stored, input, output, given)
        _check_lines(stored, rows, input, output)
        with _appending(output) as file, Progress("explaining", rows * len(session.methods), progress) as bar:
            lines = enumerate(read_rows(input), start=1)
            while chunk := list(islice(lines, CHUNK)):
                writer.write(chunk, file, bar)
    return writer.report


def _is_stream(output: Path) -> bool:
    """Whether the output is a pipe or a device: it cannot be resumed, and no file may stand beside it."""
    return output.exists() and not output.is_file()


def _settings(session: Session, target: Any, columns: ColumnMap | None) -> dict[str, Any]:
    """Everything that changes a number; stored beside the output and compared before resuming."""
    settings = {
        **session.model.identity,
        "methods": [
            identity(method) if is_outside(type(method)) else str(Spec.of(method))
            for method in session.methods.values()
        ],
        "units": session.units,
        "removal": session.removal.name,
        "scope": session.scope,
        "seed": session.seed,
        "target": asdict(target) if isinstance(target, Target) else target,
        **({} if session.special_tokens == "protected" else {"special_tokens": session.special_tokens}),
        **({"columns": dict(columns)} if columns else {}),
    }
    return dict(json.loads(json.dumps(settings)))  # as it is read back


Stored = dict[tuple[int, str], str]  # the hash of the input by line number and method


def _stored(output: Path, settings: dict[str, Any], *, overwrite: bool) -> Stored:
    """What the output holds; an incomplete last line is removed."""
    settings_file = output.with_name(f"{output.name}.settings.json")
    try:
        if overwrite and output.is_file():
            output.unlink()
        if _is_stream(output):
            return {}
        if not output.exists():
            write_file(settings_file, json.dumps(settings, indent=1))
            return {}
        if not settings_file.exists() or _read_settings(settings_file) != settings:
            raise SpecError(f"{output} was written with other settings; name another file or use overwrite")
        text = output.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        if complete != text:
            write_file(output, complete)
        lines = complete.split("\n")[:-1]  # not splitlines(): a text may hold other line separators
        return dict(map(_entry, lines))
    except OSError as error:
        raise unwritable(output, error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, AssayError):
            raise
        raise SpecError(
            f"{output} holds a line that explain did not write; name another file or use overwrite"
        ) from error


def _read_settings(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _entry(line: str) -> tuple[tuple[int, str], str]:
    row = json.loads(line)
    return (int(row["line"]), str(Spec.from_json(row["method"]))), str(row["input"])


def _check_lines(stored: Stored, rows: int, input: Path, output: Path) -> None:
    last = max((line for line, _ in stored), default=0)
    if last > rows:
        raise _changed(input, output, f"it has {rows} lines, and line {last} was explained before")


def _changed(input: Path, output: Path, how: str) -> InputError:
    return InputError(f"{input} has changed since {output} was written: {how}; use overwrite or name another file")


@contextmanager
def _appending(output: Path) -> Iterator[TextIO]:
    try:
        with output.open("a", encoding="utf-8", errors="backslashreplace") as file:
            yield file
    except OSError as error:
        raise AssayError(
            f"cannot write {output}: {error.strerror}; what it holds is kept: free space and run again to resume"
        ) from error


class _Writer:
    """Explains chunks of lines and writes what the output does not hold yet."""

    def __init__(
        self, session: Session, target: Any, stored: Stored, input: Path, output: Path, columns: ColumnMap | None
    ) -> None:
        self.session, self.target, self.stored = session, target, stored
        self.input, self.output, self.columns = input, output, columns
        self.specs = [str(Spec.of(method)) for method in session.methods.values()]
        self.report = FileReport()

    def write(self, chunk: Sequence[tuple[int, Any]], file: TextIO, bar: Progress) -> None:
        readable = [(line, item) for line, row in chunk if (item := self._example(line, row)) is not None]
        hashes = {line: content_hash(item) for line, item in readable}
        missing = [(line, item) for line, item in readable if not self._is_stored(line, hashes[line])]
        self.report.present += len(readable) - len(missing)
        bar.advance((len(chunk) - len(missing)) * len(self.specs))
        for line, attribution in self._explain(missing, bar):
            if (line, str(attribution.method)) not in self.stored:
                row = {"line": line, "input": hashes[line], **attribution.to_dict()}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                self.report.written += 1
        file.flush()

    def _example(self, line: int, row: Any) -> Example | None:
        """The example of a line, or None with the error in the report."""
        try:
            if isinstance(row, InputError):
                raise row
            item = as_example(row, line, self.columns)
            self.session.encode(item, line)
        except InputError as error:
            self.report.errors[line] = error.message
            return None
        return item

    def _is_stored(self, line: int, content: str) -> bool:
        """Whether all methods explained this line before; an error if it was another text then."""
        before = [self.stored.get((line, spec)) for spec in self.specs]
        if any(known not in (None, content) for known in before):
            raise _changed(self.input, self.output, f"line {line} is another one")
        return None not in before

    def _explain(self, numbered: list[tuple[int, Example]], bar: Progress) -> list[tuple[int, Attribution]]:
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
                by_line = zip(numbered, zip(*attributions.values(), strict=True), strict=True)
                return [(line, attribution) for (line, _), several in by_line for attribution in several]
        return []
