"""An Attribution as terminal text: colours where there are any, and always numbers. Red supports the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.text import Text

from assay.core.console import Console
from assay.core.heat import AGAINST, FOR, SEPARATOR, by_segment, strongest
from assay.core.printable import one_line, shortened

if TYPE_CHECKING:
    from assay.core.types import Attribution

NUMBERS = 12  # scores printed below a coloured text
PLAIN_NUMBERS = 60  # ... and where there are no colours
FEW_COLOURS = ("standard", "windows")  # 8 colours: no shades, and light backgrounds may be missing


def terminal(attribution: Attribution, *, color: bool | None = None) -> str:
    """Text for a terminal. color: None uses colours if standard output is a terminal."""
    system: Literal["auto", "truecolor"] | None = {None: "auto", True: "truecolor", False: None}[color]
    console = Console(force_terminal=color, color_system=system)
    with console.capture() as capture:
        colours = None if console.no_color else console.color_system
        console.print(rich_text(attribution, colours=colours), soft_wrap=True)
    return capture.get().rstrip("\n")


def rich_text(attribution: Attribution, method: str | None = None, *, colours: str | None = "truecolor") -> Text:
    """Label and method (its name, or `method` if given), the coloured text, and numbers.

    colours: what the terminal has, as rich names it; None for no colours.
    """
    out = Text()
    out.append(title(attribution), style="bold")
    out.append(f" {details(attribution, method)}\n", style="dim")
    if all(unit.box is None for unit in attribution.units):
        out.append_text(_coloured(attribution, colours)).append("\n")
    return out.append_text(_numbers(attribution, PLAIN_NUMBERS if colours is None else NUMBERS))


def summary(attribution: Attribution) -> str:
    """One line: the input, the method, the class and the strongest units."""
    what = "an image" if attribution.text is None else repr(shortened(attribution.text, 40))
    top = ", ".join(_score(attribution, i) for i in strongest(attribution, 3))
    return f"of {what} by {attribution.method.name} for {title(attribution)!r}: {top} ({len(attribution)} units)"


def title(attribution: Attribution) -> str:
    """The explained class, and the one it is compared with."""
    against = "" if attribution.against is None else f" against {attribution.against}"
    return one_line(f"{attribution.label}{against}")


def details(attribution: Attribution, method: str | None = None) -> str:
    """The explained value, the probability, the method, and the words and numbers among its extras."""
    return one_line(" · ".join([*_answer(attribution), method or attribution.method.name, *extras(attribution)]))


def extras(attribution: Attribution) -> list[str]:
    """The words and numbers among the extras of a method."""
    return [
        _format(key, extra).replace("_", " ")
        for key, extra in attribution.extra.items()
        if isinstance(extra, str | int | float)
    ]


def _answer(attribution: Attribution) -> list[str]:
    """The value, the probability where the value is another, and the prediction where it is another class."""
    a = attribution
    probability = None if a.probabilities is None else a.probabilities.get(a.label)
    other = a.prediction is not None and a.probabilities is not None and a.prediction != a.label
    return [
        *([] if a.value_full is None else [f"{a.target.scale} {a.value_full:.3f}"]),
        *([] if probability is None or a.target.scale == "probability" else [f"probability {probability:.3f}"]),
        *([f"predicted {a.prediction}"] if other else []),
    ]


def _format(name: str, extra: str | float) -> str:
    if isinstance(extra, bool):
        return name if extra else f"not {name}"
    return f"{name} {extra}" if isinstance(extra, str) else f"{name} {extra:.3g}"


def _coloured(attribution: Attribution, colours: str | None) -> Text:
    """The text with a colour per unit; the text of a pair that was not scored is dim."""
    texts = []
    for units, rest in by_segment(attribution):
        text = Text()
        for gap, unit, strength in units:
            text.append(gap)
            text.append(unit.text, style=_style(strength, colours) if unit.seen else "dim strike")
        texts.append(text.append(rest, style="" if units else "dim"))
    return Text(SEPARATOR).join(texts)


def _numbers(attribution: Attribution, count: int) -> Text:
    """The largest scores, from the highest to the lowest."""
    shown = strongest(attribution, count)
    left = len(attribution) - len(shown)
    more = f", {left} more with smaller scores" if left else ""
    return Text(", ".join(_score(attribution, i) for i in shown) + more, style="dim")


def _score(attribution: Attribution, i: int) -> str:
    unit = attribution.units[i]
    return (
        f"{one_line(unit.text)} {float(attribution.scores[i]):+.3g}" if unit.seen else f"{one_line(unit.text)} unread"
    )


def _style(strength: float, colours: str | None) -> str:
    if colours is None or abs(strength) < 0.05:
        return ""
    if colours not in FEW_COLOURS:
        return f"{'white' if abs(strength) > 0.6 else 'black'} on {_hex(strength)}"
    if abs(strength) > 0.6:
        return "bold white on red" if strength > 0 else "bold white on blue"
    if abs(strength) < 0.2:
        return ""
    return "red" if strength > 0 else "cyan"  # blue letters cannot be read on black


def _hex(strength: float) -> str:
    """The colour of a strength on white, opaque."""
    base, alpha = (FOR if strength > 0 else AGAINST), min(1.0, abs(strength)) * 0.85
    return "#" + "".join(f"{round(255 - alpha * (255 - channel)):02x}" for channel in base)
