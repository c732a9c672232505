"""List data sets, or show the labels, rationales, lengths and examples of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

import assay
from assay.cli._options import OPTIONS, ColumnRoles, LabelNames, command_app
from assay.core.console import Console
from assay.datasets.images import size_of

if TYPE_CHECKING:
    from assay.core.types import Example
    from assay.datasets.dataset import Dataset

WIDTH = 600  # characters shown of a text
app = command_app(
    "data",
    "assay data list",
    "assay data show builtin",
    "assay data show reviews/ --split test --examples 5",
)


@app.command(name="list", help_epilogue="")
def list_data(folder: Annotated[Path | None, Parameter(help="Folder of data sets.")] = None, /) -> None:
    """List the built-in data sets, or those in a folder."""
    Console(soft_wrap=True).print(_table(assay.list_datasets(folder).items()))


@app.command(help_epilogue="", group_parameters=OPTIONS)
def show(
    data: Annotated[str, Parameter(help="File, folder, hub id, or a name from `assay data list`.")],
    /,
    *,
    split: Annotated[str | None, Parameter(help="Split of a folder or hub data set.")] = None,
    columns: ColumnRoles = None,
    label_map: LabelNames = None,
    examples: Annotated[int, Parameter(help="Number of examples to show.")] = 3,
    seed: Annotated[int, Parameter(help="Seed for choosing the examples.")] = 0,
) -> None:
    """Show the labels, rationales, lengths and some examples of a data set."""
    console = Console(soft_wrap=True)
    dataset = assay.load_dataset(data, split=split, columns=columns, label_map=label_map)
    console.print(_table(_summary(dataset)))
    for example in dataset.take(examples, seed) if examples else ():
        console.print()
        console.print(_example(example, dataset, plain=not console.is_terminal or console.no_color))


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for key, value in rows:
        table.add_row(Text(key, style="bold", no_wrap=True), Text(value))
    return table


def _summary(data: Dataset) -> Iterator[tuple[str, str]]:
    marked = sum(1 for example in data if any(example.rationales))
    annotators = sorted({len(example.rationales) for example in data if example.rationales})
    yield "name", data.name
    yield "split", data.split or "-"
    yield "columns", ", ".join(f"{role}={name}" for role, name in data.roles.items()) or "-"
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
    sizes = {size_of(example.image) for example in data}  # width x height
    smallest, largest = (" x ".join(map(str, size)) for size in (min(sizes), max(sizes)))
    return "image size", f"{smallest} pixels" if len(sizes) == 1 else f"{smallest} to {largest} pixels (width x height)"


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
