"""The legend of a figure: the face of each method, and what bands, error bars and dots mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.reports.aggregate import Point
from assay.reports.method_style import MethodStyle

MARKS = {"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "plus": "P", "cross": "X", "ring": "o"}
DARK, LIGHT = 0.28, 0.12  # opacity of the two bands
EDGE = 0.6  # width of the line around the range of trainings, which would drown where many overlap
GREY = "#4b5560"


def legend(
    figure: Any, looks: Mapping[str, MethodStyle], shown: Sequence[Point], *, bars: bool, note: str = ""
) -> None:
    """Methods first, then the two variances; as many names side by side as the figure is wide. note: dotted lines."""
    from matplotlib.lines import Line2D

    signs = [*_methods(looks.values(), bars)]
    if note:
        signs.append(Line2D([], [], color="black", linestyle=":", label=note))
    signs += _variances(shown, bars)
    columns = max(2, int(figure.get_figwidth() / 2.3))
    figure.legend(handles=signs, loc="outside lower center", ncols=min(len(signs), columns), frameon=False, fontsize=9)


def _methods(looks: Iterable[MethodStyle], bars: bool) -> Iterator[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    for f in looks:
        if bars:
            yield Patch(color=f.colour, alpha=0.85, linewidth=0, label=f.short)
        else:
            inside = "white" if f.marker == "ring" else f.colour
            yield Line2D([], [], color=f.colour, marker=MARKS[f.marker], markerfacecolor=inside, label=f.short,
                         linestyle="--" if f.control else "-")  # fmt: skip


def _variances(shown: Sequence[Point], bars: bool) -> Iterator[Any]:
    """Only what can be seen: one training has no range."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

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
    """ "200", or "16 to 200" where a figure mixes them, as one of an unfinished run does."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(high) if low == high else f"{low} to {high}"
