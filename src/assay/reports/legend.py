"""The legend of a figure: the style of each method, and the meaning of bands, error bars and dots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.reports.aggregate import Point
from assay.reports.method_style import MethodStyle

MARKS = {"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "plus": "P", "cross": "X", "ring": "o"}
DARK, LIGHT = 0.28, 0.12  # opacity of the two bands
EDGE = 0.6  # width of the line around the range of trainings, which is hard to see where many overlap
GREY = "#4b5560"


def legend(
    figure: Any, styles: Mapping[str, MethodStyle], shown: Sequence[Point], *, bars: bool, note: str = ""
) -> None:
    """Add a legend below the figure: methods, then examples and trainings. note: the meaning of dotted lines."""
    from matplotlib.lines import Line2D

    handles = [*_methods(styles.values(), bars)]
    if note:
        handles.append(Line2D([], [], color="black", linestyle=":", label=note))
    handles += _variances(shown, bars)
    columns = max(2, int(figure.get_figwidth() / 2.3))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), columns), frameon=False, fontsize=9
    )


def _methods(styles: Iterable[MethodStyle], bars: bool) -> Iterator[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    for style in styles:
        if bars:
            yield Patch(color=style.colour, alpha=0.85, linewidth=0, label=style.short)
        else:
            fill = "white" if style.marker == "ring" else style.colour
            yield Line2D([], [], color=style.colour, marker=MARKS[style.marker], markerfacecolor=fill,
                         label=style.short, linestyle="--" if style.control else "-")  # fmt: skip


def _variances(shown: Sequence[Point], bars: bool) -> Iterator[Any]:
    """Intervals over examples, and the range of trainings if there are several."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if not any(p.n for p in shown):  # numbers without examples, such as those of one synthetic problem
        return
    over = f"95 % over {_count([p.n for p in shown if p.n])} examples"
    yield (
        Line2D([], [], color="black", linestyle="", marker="|", markersize=10, label=over)
        if bars
        else Patch(color=GREY, alpha=DARK, linewidth=0, label=over)
    )
    runs = [len(p.runs) for p in shown if p.n]
    if max(runs, default=0) > 1:
        yield (
            Line2D([], [], marker="o", color="black", markerfacecolor="white", linestyle="", markersize=3,
                   label=f"each of {_count(runs)} trainings")
            if bars
            else Patch(facecolor=(GREY, LIGHT), edgecolor=GREY, linewidth=EDGE,
                       label=f"range of {_count(runs)} trainings")
        )  # fmt: skip


def _count(numbers: Sequence[int]) -> str:
    """A number, or a range such as "16 to 200" if points differ, as in an unfinished run."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(high) if low == high else f"{low} to {high}"
