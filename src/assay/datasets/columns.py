"""Which column of a table is the text, the label, the rationale, ...: guessed by name, or as the user says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache

from assay.core.errors import SpecError, nearest

TEXT = (
    "text", "sentence", "sentence1", "premise", "question1", "source", "context", "story", "passage", "document",
    "review", "content", "tweet", "comment", "post", "question",
)  # fmt: skip
PAIRS = (  # both must be there, and no column "text"
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("sentence_a", "sentence_b"),
    ("text1", "text2"), ("source", "target"), ("context", "question"), ("story", "question"), ("passage", "question"),
    ("question", "sentence"),
)  # fmt: skip
PAIR = ("text_pair", "sentence2", "hypothesis", "sentence_b")  # beside any text
NAMES = {
    "id": ("id", "idx", "guid", "pairID"),
    "image": ("image", "img", "pixel_values"),
    "label": ("label", "gold_label", "labels", "class", "category", "sentiment", "polarity", "answer", "target"),
    "score": ("score", "similarity_score", "similarity", "rating", "stars"),
    "label_name": ("label_name", "label_text"),
    "tokens": ("tokens",),
    "rationales": ("rationales",),
    "annotator_labels": ("annotator_labels",),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role, None where there is none. The roles are what `columns={role: column}` may name."""

    id: str | None = None
    text: str | None = None
    text_pair: str | None = None
    image: str | None = None
    label: str | None = None
    score: str | None = None  # a number to predict: regression
    label_name: str | None = None  # the name of an integer label
    tokens: str | None = None  # what token rationales count, for the text ...
    tokens_pair: str | None = None  # ... and for the second text
    rationale: str | None = None  # one annotator
    rationale_pair: str | None = None  # the same annotator's marks in the second text
    rationales: str | None = None  # a list with one rationale per annotator; it goes before `rationale`
    annotator_labels: str | None = None  # a label per annotator: who disagrees with the label does not justify it

    def bare(self) -> Columns:
        """Without rationales: what is needed to explain an input."""
        return replace(self, rationale=None, rationale_pair=None, rationales=None, annotator_labels=None)

    @property
    def used(self) -> frozenset[str]:
        """The columns that an Example holds in fields of its own; the others are its meta data."""
        return _used(self)


ROLES = tuple(f.name for f in fields(Columns))


@cache  # asked for every row of a file
def _used(columns: Columns) -> frozenset[str]:
    kept = ("annotator_labels", "label_name")
    return frozenset(name for role in ROLES if role not in kept and (name := getattr(columns, role)))


def guess(names: Collection[str], given: Mapping[str, str | None] | None = None) -> Columns:
    """The columns among `names`; `given` says otherwise for some roles (None: there is none)."""
    said = dict(given or {})
    _check(said, names)
    out = Columns(**said)
    out = _texts(out, said, names)
    out = _labels(out, said, names)
    for role in ("id", "image", "label_name"):
        out = _fill(out, said, role, NAMES[role], names)
    return _rationales(out, said, names)


def _check(said: Mapping[str, str | None], names: Collection[str]) -> None:
    for role, column in said.items():
        if role not in ROLES:
            raise SpecError(f"columns has no role {role!r}; {nearest(role, ROLES)}")
        if column is not None and column not in names:
            raise SpecError(f"columns={{{role!r}: {column!r}}}: there is no such column; {nearest(column, names)}")


def _fill(
    out: Columns, said: Mapping[str, str | None], role: str, among: Collection[str], names: Collection[str]
) -> Columns:
    """Set a role that the user left open to the first of the usual names that is there and not used otherwise."""
    if role in said:
        return out
    taken = {getattr(out, r) for r in ROLES}
    return replace(out, **{role: next((name for name in among if name in names and name not in taken), None)})


def _texts(out: Columns, said: Mapping[str, str | None], names: Collection[str]) -> Columns:
    """Text and pair together; a user who names the text alone means that there is no pair."""
    if "text" in said:
        return out
    if "text" not in names and "text_pair" not in said:
        for first, second in PAIRS:
            if first in names and second in names:
                return replace(out, text=first, text_pair=second)
    out = _fill(out, said, "text", TEXT, names)
    return _fill(out, said, "text_pair", PAIR, names) if out.text else out


def _labels(out: Columns, said: Mapping[str, str | None], names: Collection[str]) -> Columns:
    """A label, or else a score: naming one of them settles it."""
    if said.get("label") or said.get("score"):
        return out
    out = _fill(out, said, "label", NAMES["label"], names)
    return out if out.label else _fill(out, said, "score", NAMES["score"], names)


def _rationales(out: Columns, said: Mapping[str, str | None], names: Collection[str]) -> Columns:
    """A rationale named by the user goes before any guess; X_tokens, X_tags and X_rationale belong to the text X."""
    text, pair = out.text, out.text_pair
    out = _fill(out, said, "tokens", (f"{text}_tokens", *NAMES["tokens"]), names)
    out = _fill(out, said, "tokens_pair", (f"{pair}_tokens",), names)
    if said.get("rationale") or said.get("rationale_pair"):
        return out
    for role in ("rationales", "annotator_labels"):
        out = _fill(out, said, role, NAMES[role], names)
    tags = (f"{text}_tags",) if out.tokens else ()
    out = _fill(out, said, "rationale", ("rationale", f"{text}_rationale", *tags, "rationale_tokens"), names)
    tags = (f"{pair}_tags",) if out.tokens_pair else ()
    return _fill(out, said, "rationale_pair", (f"{pair}_rationale", *tags), names) if pair else out
