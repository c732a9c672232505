"""`assay data list | show NAME`: which data sets there are, and what is in one."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli._options import Columns, Split, read
from assay.core.errors import SpecError

if TYPE_CHECKING:
    from assay.core.types import Example
    from assay.datasets.dataset import Dataset

WIDTH = 600  # characters shown of a text


class Action(StrEnum):
    list = "list"
    show = "show"


def run(
    action: Annotated[Action, typer.Argument(help="list what there is, or show one data set")],
    name: Annotated[
        str | None, typer.Argument(help="show: built-in name, file, folder or hub id; list: a folder of data sets")
    ] = None,
    split: Split = None,
    columns: Columns = None,
    examples: Annotated[int, typer.Option(help="how many examples to show")] = 3,
    seed: Annotated[int, typer.Option(help="which examples to show")] = 0,
) -> None:
    """List data sets, or show what is in one: labels, rationales, lengths and examples."""
    console = Console(highlight=False, soft_wrap=True)
    if action is Action.list:
        console.print(_table(_folder(Path(name)) if name else _own()))
        return
    if name is None:
        raise SpecError("show needs a name, e.g. `assay data show builtin`; `assay data list` shows what there is")
    data = read(name, split, columns)
    console.print(_table(_summary(data)))
    for example in data.take(examples, seed) if examples else ():
        console.print()
        console.print(_example(example, data, plain=not console.is_terminal or console.no_color))


def _table(rows: Any) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for key, value in rows:
        table.add_row(Text(key, style="bold", no_wrap=True), Text(value))
    return table


# --- list ------------------------------------------------------------------------------------------------------------


def _own() -> Iterator[tuple[str, str]]:
    """Built-in data and generators, with the first line of their files."""
    from assay.datasets.sources import sources, wraps

    for name, function in sources().items():
        line = (inspect.getdoc(inspect.getmodule(function)) or "").split("\n")[0]
        yield f"{name}(DATA)" if wraps(function) else name, line


def _folder(folder: Path) -> Iterator[tuple[str, str]]:
    """The data sets of a folder, each a file or a folder of files, with their splits."""
    from assay.datasets.splits import split_files

    if not folder.is_dir():
        raise SpecError(f"{folder} is no folder; give one that holds data sets, or none for the built-in ones")
    found = {path.name: list(split_files(path)) for path in sorted(folder.iterdir()) if path.is_dir()}
    found |= {paths[0].name: ["one file"] for paths in split_files(folder).values()}
    if not any(found.values()):
        raise SpecError(f"{folder} holds no data sets; give a folder with csv, tsv, jsonl, json, parquet or npz files")
    yield from ((name, ", ".join(splits)) for name, splits in found.items() if splits)


# --- show ------------------------------------------------------------------------------------------------------------


def _summary(data: Dataset) -> Iterator[tuple[str, str]]:
    marked = sum(1 for example in data if any(example.rationales))
    annotators = sorted({len(example.rationales) for example in data if example.rationales})
    yield "name", data.name
    yield "split", data.split or "-"
    yield "task", data.task
    yield "examples", f"{len(data):,}"
    yield from _labels(data)
    more = f" ({'-'.join(map(str, dict.fromkeys((annotators[0], annotators[-1]))))} per example)" if annotators else ""
    yield "with rationales", f"{marked / max(1, len(data)):.0%}{more}"
    yield _size(data)
    yield "fingerprint", data.fingerprint[:16]


def _labels(data: Dataset) -> Iterator[tuple[str, str]]:
    values = [example.label for example in data if example.label is not None]
    if not values:
        yield "labels", "none"
    elif data.labels is None:
        numbers = [float(value) for value in values]
        yield "scores", f"{min(numbers):.3g} to {max(numbers):.3g}, mean {sum(numbers) / len(numbers):.3g}"
    else:
        counts = Counter(data.index_of(value) for value in values)
        yield "labels", ", ".join(f"{label} {counts[i]:,}" for i, label in enumerate(data.labels))


def _size(data: Dataset) -> tuple[str, str]:
    lengths = [len(f"{e.text} {e.text_pair or ''}".split()) for e in data if e.text is not None]
    if lengths:
        return "mean length", f"{sum(lengths) / len(lengths):.1f} words"
    return "image size", " x ".join(map(str, getattr(data[0].image, "shape", getattr(data[0].image, "size", "?"))))


def _example(example: Example, data: Dataset, *, plain: bool) -> Text:
    label = example.label if data.labels is None or example.label is None else data.labels[data.index_of(example.label)]
    lines = [Text(f"{example.id}  {'' if label is None else label}", style="dim")]
    for segment, text in enumerate((example.text, example.text_pair)):
        if text is not None:
            lines.append(_marked(text, _majority(example, segment, len(text)), plain))
    return Text("\n").join(lines)


def _majority(example: Example, segment: int, length: int) -> list[bool]:
    """Which characters at least half of the annotators marked."""
    votes = [0] * length
    for spans in example.rationales:
        chars = {i for span in spans if span.segment == segment for i in range(span.start, span.end)}
        votes = [vote + (i in chars) for i, vote in enumerate(votes)]
    return [vote > 0 and 2 * vote >= len(example.rationales) for vote in votes]


def _marked(text: str, marks: list[bool], plain: bool) -> Text:
    """Underlined where marked; in brackets where underlining cannot be seen. A long text is cut around its marks."""
    first = marks.index(True) if True in marks else 0
    start = 0 if first < WIDTH // 2 else first - WIDTH // 4
    end = min(len(text), start + WIDTH)
    out = Text("... " if start else "")
    for i in range(start + 1, end + 1):
        if i == end or marks[i] != marks[start]:
            brackets = ("«", "»") if plain and marks[start] else ("", "")
            out.append(text[start:i].join(brackets), style="bold underline" if marks[start] else "")
            start = i
    return out.append("" if end == len(text) else " ...")
