"""What a visitor wants explained, as typed and as checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from assay.core.errors import InputError, SpecError, TargetError
from assay.core.spec import split
from assay.web.explain.models import ServedModel

LONGEST = 20_000  # characters of a text
MOST_METHODS = 8
PLACE = re.compile(r"([01]):(\d{1,6})-(\d{1,6})")


@dataclass(frozen=True)
class Typed:
    """The fields of the form as they were typed, for showing it again."""

    model: str = ""
    text: str = ""
    text_pair: str = ""
    image: str = ""  # id of an image in the database
    methods: Sequence[str] = ()
    more_methods: str = ""
    target: str = ""
    against: str = ""
    units: str = ""
    removal: str = ""
    base: str = ""  # the explanation to compare with


@dataclass(frozen=True)
class Wanted:
    """A checked request. Classes are given by their index; None is the predicted one."""

    model: str
    methods: tuple[str, ...]
    text: str | None = None
    text_pair: str | None = None
    image: str | None = None
    target: int | None = None
    against: int | None = None
    units: str = "word"
    removal: str | None = None
    base: str | None = None
    removed: tuple[int, ...] = ()  # patches of the image that are taken out, counted row by row
    labels: tuple[str, ...] = field(default=(), compare=False)  # of the model, to read the indices by

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Wanted:
        lists = {name: tuple(content.get(name, ())) for name in ("methods", "labels", "removed")}
        return Wanted(**{**content, **lists})

    def typed(self) -> Typed:
        """The form that asks for this."""
        return Typed(
            model=self.model,
            text=self.text or "",
            text_pair=self.text_pair or "",
            image=self.image or "",
            methods=self.methods,
            target="" if self.target is None else str(self.target),
            against="" if self.against is None else str(self.against),
            units=self.units,
            removal=self.removal or "",
            base=self.base or "",
        )

    def without(self, place: str) -> Wanted:
        """The same without a word or a patch, given by its place, such as 0:12-17."""
        match = PLACE.fullmatch(place)
        if self.image is not None:
            return self._without_patch(match)
        which = ("text", "text_pair")[int(match[1])] if match else "text"
        text = getattr(self, which)
        if match is None or text is None or not int(match[2]) < int(match[3]) <= len(text):
            raise InputError("this word is not in the text (any more); reload the page and click it again")
        left = _cut(text, int(match[2]), int(match[3]))
        return replace(self, text=left) if which == "text" else replace(self, text_pair=left)

    def _without_patch(self, match: re.Match[str] | None) -> Wanted:
        if match is None or int(match[3]) != int(match[2]) + 1 or match[1] != "0":
            raise InputError("there is no such patch in the image; reload the page and click it again")
        return replace(self, removed=tuple(sorted({*self.removed, int(match[2])})))


def _cut(text: str, start: int, end: int) -> str:
    """The text without some characters, and without the space that would be left over."""
    before, after = text[:start], text[end:]
    if before.endswith(" ") and (after.startswith(" ") or not after or not after[0].isalnum()):
        before = before[:-1]
    elif not before:
        after = after.removeprefix(" ")
    return before + after


def check(typed: Typed, served: ServedModel) -> Wanted:
    """The request that was typed, or a sentence about what is wrong with it."""
    text, pair, image = _inputs(typed, served)
    methods = tuple(dict.fromkeys([*typed.methods, *split(typed.more_methods)]))
    if not methods:
        raise SpecError("no method is chosen; choose at least one")
    if len(methods) > MOST_METHODS:
        raise SpecError(f"{len(methods)} methods are chosen; choose at most {MOST_METHODS}")
    for method in methods:
        served.method(method)  # raises
    target, against = (_label(value, served) for value in (typed.target, typed.against))
    if target is not None and target == against:
        raise TargetError("a class against itself is always 0; choose another class to contrast with")
    units = typed.units or served.units[0]
    if units not in served.units:
        raise SpecError(f"unknown units {units!r} for this model; choose {', '.join(served.units)}")
    if typed.removal and typed.removal not in served.removals:
        raise SpecError(f"unknown removal {typed.removal!r} for this model; choose {', '.join(served.removals)}")
    return Wanted(
        served.id, methods, text, pair, image, target, against, units, typed.removal or None, typed.base or None,
        labels=tuple(served.model.labels),
    )  # fmt: skip


def _inputs(typed: Typed, served: ServedModel) -> tuple[str | None, str | None, str | None]:
    if served.images:
        if not typed.image:
            raise InputError("there is no image; choose a file (PNG, JPEG, WebP, GIF or BMP) or an example of the data")
        return None, None, typed.image
    text, pair = (given.replace("\r\n", "\n") for given in (typed.text, typed.text_pair))
    if not text.strip():
        raise InputError("there is no text; type one, or choose an example")
    for name, given in (("text", text), ("second text", pair)):
        if len(given) > LONGEST:
            raise InputError(f"the {name} has {len(given):,} characters; give at most {LONGEST:,}")
        if "\x00" in given:
            raise InputError(f"the {name} contains a null character; remove it")
    return text, pair if pair.strip() else None, None


def _label(value: str, served: ServedModel) -> int | None:
    """The index of a class; its name might be that of another one's index."""
    if not value:
        return None
    if served.model.task == "regression":
        raise TargetError("a regression model has no classes to choose from")
    if not re.fullmatch(r"\d{1,6}", value) or int(value) >= len(served.model.labels):
        raise TargetError(f"unknown class {value!r}; choose one of the {len(served.model.labels)} classes of the model")
    return int(value)
