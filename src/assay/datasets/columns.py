"""Column roles: which column of a table holds the text, the label, the rationale, ...

This is the only place that knows column names. To read a column under another name, add it to ALIASES or, if it is
half of a text pair, to TEXT_PAIRS.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache

from assay.core.errors import SpecError, nearest

TEXT_PAIRS = (  # (text, text_pair): used if both columns exist and there is no column "text"
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("sentence_a", "sentence_b"),
    ("text1", "text2"), ("source", "target"), ("context", "question"), ("story", "question"), ("passage", "question"),
    ("question", "sentence"),
)  # fmt: skip
ALIASES: dict[str, tuple[str, ...]] = {  # role: column names, the first that exists is used
    "id": ("id", "idx", "guid", "pairID"),
    "text": (
        "text", "sentence", "sentence1", "premise", "question1", "source", "context", "story", "passage", "document",
        "review", "content", "tweet", "comment", "post", "question",
    ),
    "text_pair": ("text_pair", "sentence2", "hypothesis", "sentence_b"),
    "image": ("image", "img", "pixel_values"),
    "label": ("label", "gold_label", "labels", "class", "category", "sentiment", "polarity", "answer", "target"),
    "score": ("score", "similarity_score", "similarity", "rating", "stars"),
    "label_name": ("label_name", "label_text"),
    "tokens": ("tokens",),
    "rationales": ("rationales",),
    "annotator_labels": ("annotator_labels",),
}  # fmt: skip

ColumnMap = Mapping[str, str | None]  # {role: column}; None: no column has this role


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role, or None. The field names are the roles that `columns={role: column}` accepts."""

    id: str | None = None
    text: str | None = None
    text_pair: str | None = None
    image: str | None = None
    label: str | None = None
    score: str | None = None  # regression target
    label_name: str | None = None  # name of an integer label
    tokens: str | None = None  # tokens that token-level rationales refer to, for the text ...
    tokens_pair: str | None = None  # ... and for the second text
    rationale: str | None = None  # of a single annotator
    rationale_pair: str | None = None  # the same annotator's rationale in the second text
    rationales: str | None = None  # a list with one rationale per annotator; takes precedence over `rationale`
    annotator_labels: str | None = None  # one label per annotator; annotators who disagree with `label` are left out

    def without_rationales(self) -> Columns:
        """The columns needed to explain an input."""
        return replace(self, rationale=None, rationale_pair=None, rationales=None, annotator_labels=None)

    @property
    def used(self) -> frozenset[str]:
        """The columns stored in fields of an Example; all others go to its `meta`."""
        return _used(self)


ROLES = tuple(f.name for f in fields(Columns))


@cache  # called for every row of a file
def _used(columns: Columns) -> frozenset[str]:
    also_in_meta = ("annotator_labels", "label_name")
    return frozenset(name for role in ROLES if role not in also_in_meta and (name := getattr(columns, role)))


def guess_columns(names: Collection[str], given: ColumnMap | None = None) -> Columns:
    """Assign the columns `names` to roles by ALIASES and TEXT_PAIRS; `given` overrides single roles."""
    given = dict(given or {})
    _check_given(given, names)
    columns = Columns(**given)
    columns = _guess_texts(columns, given, names)
    columns = _guess_labels(columns, given, names)
    for role in ("id", "image", "label_name"):
        columns = _guess(columns, given, role, ALIASES[role], names)
    return _guess_rationales(columns, given, names)


@lru_cache(256)  # called for every row, and rows share their columns
def columns_of_row(names: tuple[str, ...]) -> Columns:
    """The columns of a single input, without rationales."""
    return guess_columns(names).without_rationales()


def _check_given(given: ColumnMap, names: Collection[str]) -> None:
    for role, column in given.items():
        if role not in ROLES:
            raise SpecError(f"columns: unknown role {role!r}; {nearest(role, ROLES)}")
        if column is not None and column not in names:
            raise SpecError(f"columns={{{role!r}: {column!r}}}: no such column; {nearest(column, names)}")


def _guess(columns: Columns, given: ColumnMap, role: str, aliases: Collection[str], names: Collection[str]) -> Columns:
    """Set a role that the user did not set to its first alias that exists and has no other role."""
    if role in given:
        return columns
    taken = {getattr(columns, r) for r in ROLES}
    return replace(columns, **{role: next((name for name in aliases if name in names and name not in taken), None)})


def _guess_texts(columns: Columns, given: ColumnMap, names: Collection[str]) -> Columns:
    """Text and pair together. A user who sets only the text wants no pair."""
    if "text" in given:
        return columns
    if "text" not in names and "text_pair" not in given:
        for first, second in TEXT_PAIRS:
            if first in names and second in names:
                return replace(columns, text=first, text_pair=second)
    columns = _guess(columns, given, "text", ALIASES["text"], names)
    return _guess(columns, given, "text_pair", ALIASES["text_pair"], names) if columns.text else columns


def _guess_labels(columns: Columns, given: ColumnMap, names: Collection[str]) -> Columns:
    """A label, or a score if there is no label."""
    if given.get("label") or given.get("score"):
        return columns
    columns = _guess(columns, given, "label", ALIASES["label"], names)
    return columns if columns.label else _guess(columns, given, "score", ALIASES["score"], names)


def _guess_rationales(columns: Columns, given: ColumnMap, names: Collection[str]) -> Columns:
    """A rationale set by the user switches the guesses off. X_tokens, X_tags and X_rationale belong to the text X."""
    text, pair = columns.text, columns.text_pair
    columns = _guess(columns, given, "tokens", (f"{text}_tokens", *ALIASES["tokens"]), names)
    columns = _guess(columns, given, "tokens_pair", (f"{pair}_tokens",), names)
    if given.get("rationale") or given.get("rationale_pair"):
        return columns
    for role in ("rationales", "annotator_labels"):
        columns = _guess(columns, given, role, ALIASES[role], names)
    tags = (f"{text}_tags",) if columns.tokens else ()
    aliases = ("rationale", f"{text}_rationale", *tags, "rationale_tokens")
    columns = _guess(columns, given, "rationale", aliases, names)
    tags = (f"{pair}_tags",) if columns.tokens_pair else ()
    return _guess(columns, given, "rationale_pair", (f"{pair}_rationale", *tags), names) if pair else columns
