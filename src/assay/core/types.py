"""The types that the parts of Assay exchange. Frozen; numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import TargetError, nearest
from assay.core.printable import shortened
from assay.core.spec import Spec

Scale = Literal["logit", "probability", "log_probability", "log_odds", "raw"]
SCALES: tuple[str, ...] = get_args(Scale)
SpecialTokens = Literal["protected", "ranked"]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
PIXELS = 2  # the segment of spans that count pixels of an image


class Span(NamedTuple):
    """Characters [start, end) of a segment: 0 = text, 1 = text_pair, -1 = special tokens, scored only on request.

    Of an image, 0 counts the patches that a model reads, and PIXELS the pixels of the image itself, row by row.
    """

    segment: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Example:
    """One input: a text, a pair of texts or an image."""

    text: str | None = None
    text_pair: str | None = None
    image: Any = None  # PIL image or (height, width, channels) array
    id: str = ""
    label: int | str | float | None = None
    rationales: tuple[tuple[Span, ...], ...] = ()  # evidence for the label, per annotator; of an image, in pixels
    meta: Mapping[str, Any] = field(default_factory=dict)
    removed: tuple[Span, ...] = ()  # always masked: characters of a text, or patches of an image, counted row by row

    def __repr__(self) -> str:
        texts = [repr(shortened(text, 60)) for text in (self.text, self.text_pair) if text is not None]
        image = [] if self.image is None else ["an image"]
        named = [f"id={self.id!r}"] * bool(self.id) + [f"label={self.label!r}"] * (self.label is not None)
        marked = [f"{len(self.rationales)} rationales"] if self.rationales else []
        return f"Example({', '.join([*texts, *image, *named, *marked])})"

    @property
    def content(self) -> str:
        """What the model reads, as a key for random generators; excludes the id and the position in a list."""
        pixels = "" if self.image is None else np.asarray(self.image).tobytes().hex()
        words = (self.text or "", "" if self.text_pair is None else f"\x1d{self.text_pair}", pixels)
        return "\x1e".join((*words, *map(str, map(tuple, self.removed))))


@dataclass(frozen=True, slots=True)
class Unit:
    """What gets a score: characters [start, end) of a text segment, or the pixels in `box` of an image.

    A special token has no characters: start = end is where it stands, and `text` its name, such as [CLS].
    """

    text: str
    start: int
    end: int
    segment: int = 0  # 0 = text, 1 = text_pair
    box: tuple[int, int, int, int] | None = None  # left, top, right, bottom
    seen: bool = True  # False: past the length limit, not read by the model

    @property
    def is_special(self) -> bool:
        """Whether it is a special token."""
        return self.box is None and self.start == self.end


@dataclass(frozen=True, slots=True)
class Target:
    """The output to explain: one class on a scale, or its difference to the class `against`.

    `label` None: the predicted class (for regression: the only output). `scale` None: the default of the method.
    """

    label: int | str | None = None
    against: int | str | None = None
    scale: Scale | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and self.scale not in SCALES:
            raise TargetError(f"unknown scale {self.scale!r}; {nearest(str(self.scale), SCALES)}")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one explanation: sequences run forwards and backwards, and seconds."""

    forwards: float = 0.0
    backwards: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores with what else a method knows."""

    scores: Any  # (U,) or (B,T)
    extra: Mapping[str, Any] = field(default_factory=dict)  # stored in the Attribution unchanged
    logits: Any = None  # (B,C) of the whole inputs, if a white-box method computed them; saves a forward pass


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """Scores of the units of one input, for one target, by one method."""

    units: tuple[Unit, ...]
    scores: Floats  # (U,) signed
    target: Target  # with label index and scale
    label: str  # name of the target class
    method: Spec  # with all parameters
    example_id: str = ""
    value_full: float | None = None  # value of the target on the whole input
    value_empty: float | None = None  # ... with all units removed, if the method computed it
    cost: Cost = Cost()
    extra: Mapping[str, Any] = field(default_factory=dict)
    probabilities: Mapping[str, float] | None = None  # of all classes, by name; None for a regression, or if unknown
    text: str | None = None  # the explained input
    text_pair: str | None = None
    picture: Any = None  # (height, width, 3) uint8: the image as the model reads it; not part of `to_dict`
    in_value: bool = False  # scores are parts of the target's value, so their size means something by itself

    @property
    def prediction(self) -> str | float | None:
        """The predicted class, the value of a regression, or None if it is not known."""
        if self.probabilities:
            return max(self.probabilities, key=lambda label: self.probabilities[label])  # type: ignore[index]
        return self.value_full if self.target.scale == "raw" else None

    @property
    def against(self) -> str | None:
        """The name of the class that the explained one is compared with, if there is one."""
        if self.target.against is None:
            return None
        names = list(self.probabilities or ())
        return names[int(self.target.against)] if names else str(self.target.against)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribution) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.example_id, str(self.method), self.scores.tobytes()))

    def __len__(self) -> int:
        return len(self.units)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; `from_dict` restores an equal Attribution."""
        return {
            "example_id": self.example_id,
            "method": self.method.to_json(),
            "target": {"label": self.target.label, "against": self.target.against, "scale": self.target.scale},
            "label": self.label,
            "units": [_unit_to_dict(unit) for unit in self.units],
            "scores": [float(score) for score in self.scores],
            "value_full": self.value_full,
            "value_empty": self.value_empty,
            "cost": {f: getattr(self.cost, f) for f in ("forwards", "backwards", "seconds")},
            "extra": dict(self.extra),
            "probabilities": None if self.probabilities is None else dict(self.probabilities),
            "text": self.text,
            "text_pair": self.text_pair,
            "in_value": self.in_value,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Attribution:
        return Attribution(
            units=tuple(_unit_from_dict(unit) for unit in data["units"]),
            scores=np.asarray(data["scores"], np.float32),
            target=Target(**data["target"]),
            label=data["label"],
            method=Spec.from_json(data["method"]),
            example_id=data["example_id"],
            value_full=data["value_full"],
            value_empty=data["value_empty"],
            cost=Cost(**data["cost"]),
            extra=dict(data["extra"]),
            probabilities=data.get("probabilities"),  # this and the rest: not in files of earlier versions
            text=data.get("text"),
            text_pair=data.get("text_pair"),
            in_value=data.get("in_value", False),
        )

    def top(self, k: int = 5) -> list[tuple[str, float]]:
        """The k units with the highest scores."""
        order = np.argsort(-self.scores, kind="stable")[:k]
        return [(self.units[i].text, float(self.scores[i])) for i in order]

    def with_id(self, example_id: str) -> Attribution:
        return replace(self, example_id=example_id)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per unit: example, method, label, unit, text, start, end, segment, score."""
        from assay.core.frames import tidy

        return tidy([self])

    def plot(self, ax: Any = None, *, top: int = 15) -> Any:
        """Draw the strongest units as bars, or the heat map of an image, with matplotlib; returns the axes.

        ax: axes to draw on; None makes a figure. top: how many units are shown.
        """
        from assay.core.plot import plot

        return plot(self, ax, top)

    def to_html(self, path: str | None = None) -> str:
        """A self-contained HTML page; written to `path` if one is given."""
        from assay.core.explanation_page import to_html

        return to_html([[self]], path)

    def _repr_html_(self) -> str:
        from assay.core.explanation_page import fragment

        return fragment([[self]])

    def __str__(self) -> str:
        from assay.core.display import terminal

        return terminal(self)

    def __repr__(self) -> str:
        from assay.core.display import summary

        return f"<Attribution {summary(self)}>"


def _unit_to_dict(unit: Unit) -> dict[str, Any]:
    box = None if unit.box is None else list(unit.box)
    return {
        "text": unit.text,
        "start": unit.start,
        "end": unit.end,
        "segment": unit.segment,
        "box": box,
        "seen": unit.seen,
    }


def _unit_from_dict(data: Mapping[str, Any]) -> Unit:
    box = data["box"]
    return Unit(**{**data, "box": None if box is None else tuple(box)})
