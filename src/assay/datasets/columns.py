"""Column roles: which column of a table holds the text, the label, the rationale, ...

This is the only place that knows column names. To read a column under another name, add it to ALIASES or, if it is
half of a text pair, to TEXT_PAIRS. Names are compared without case, and "Comment Text" is comment_text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache

from assay.core.errors import SpecError, nearest
from assay.core.spec import as_pairs

FIXED_ORDER = (  # (text, text_pair): used if both columns exist and there is no column "text"
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("sentence_a", "sentence_b"),
    ("text1", "text2"), ("text_a", "text_b"), ("source", "target"), ("story", "question"), ("question", "sentence"),
)  # fmt: skip
EITHER_ORDER = (  # the same, but models are trained on both orders
    ("context", "question"), ("passage", "question"), ("document", "question"), ("article", "question"),
    ("context", "query"), ("passage", "query"), ("document", "query"), ("passage", "query_and_answer"),
    ("evidence", "claim"), ("document", "claim"), ("abstract", "claim"),
)  # fmt: skip
TEXT_PAIRS = (*FIXED_ORDER, *EITHER_ORDER)
ALIASES: dict[str, tuple[str, ...]] = {  # role: column names, the first that exists is used
    "id": ("id", "idx", "guid", "pairID", "annotation_id"),
    "text": (
        "text", "sentence", "sentence1", "premise", "question1", "source", "context", "story", "passage", "document",
        "article", "review", "review_text", "review_body", "reviewText", "content", "tweet", "tweet_text", "comment",
        "comment_text", "comment_body", "post", "post_text", "message", "utterance", "statement", "body", "abstract",
        "question", "query", "claim", "headline", "title",
    ),
    "text_pair": ("text_pair", "sentence2", "hypothesis", "sentence_b"),
    "image": ("image", "img", "pixel_values"),
    "label": (
        "label", "gold_label", "labels", "class", "category", "classification", "sentiment", "polarity", "emotion",
        "intent", "topic", "stance", "answer", "target",
    ),
    "score": ("score", "similarity_score", "similarity", "rating", "stars", "star_rating"),
    "label_name": ("label_name", "label_text"),
    "tokens": ("tokens",),
    "rationale": ("rationale", "rationale_tokens", "spans", "evidences"),
    "rationales": ("rationales",),
    "annotator_labels": ("annotator_labels",),
}  # fmt: skip

IMAGE_FILES = ("file_name", "filename", "image_path", "image_file")  # of images, where there is no text

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
    def chosen(self) -> dict[str, str]:
        """The columns by role, without the roles that have none."""
        return {role: name for role in ROLES if (name := getattr(self, role)) is not None}

    @property
    def used(self) -> frozenset[str]:
        """The columns stored in fields of an Example; all others go to its `meta`."""
        return _used(self)


ROLES = tuple(f.name for f in fields(Columns))


@cache  # called for every row of a file
def _used(columns: Columns) -> frozenset[str]:
    also_in_meta = ("annotator_labels", "label_name")
    return frozenset(name for role in ROLES if role not in also_in_meta and (name := getattr(columns, role)))


def as_columns(given: ColumnMap | str | None) -> ColumnMap | None:
    """Roles as a dict, or as the command line writes them: "text=review,label=stars"; "label=" switches a role off."""
    return None if given is None else as_pairs(given, "text=review,label=stars")


def guess_columns(names: Collection[str], given: ColumnMap | None = None) -> Columns:
    """Assign the columns `names` to roles by ALIASES and TEXT_PAIRS; `given` overrides single roles."""
    given = dict(given or {})
    _check_given(given, names)
    columns = Columns(**given)
    columns = _guess_texts(columns, given, names)
    columns = _guess_labels(columns, given, names)
    for role in ("id", "image", "label_name"):
        columns = _guess(columns, given, role, ALIASES[role], names)
    columns = _guess_rationales(columns, given, names)
    if columns.text is columns.tokens is columns.image is None:
        columns = _guess(columns, given, "image", IMAGE_FILES, names)
    return columns


@lru_cache(256)  # called for every row, and rows share their columns
def columns_of_row(names: tuple[str, ...], given: tuple[tuple[str, str | None], ...] = ()) -> Columns:
    """The columns of a single input, without rationales."""
    return guess_columns(names, dict(given)).without_rationales()


def _check_given(given: ColumnMap, names: Collection[str]) -> None:
    for role, column in given.items():
        if role not in ROLES:
            raise SpecError(f"columns: unknown role {role!r}; {nearest(str(role), ROLES)}")
        if column is not None and column not in names:
            raise SpecError(f"there is no column {column!r} for {role}; {nearest(str(column), map(str, names))}")


def plain_name(name: object) -> str:
    """A column's name for comparisons: "Comment Text" is comment_text."""
    return re.sub(r"[\s_-]+", "_", str(name).strip().casefold())


def find(alias: str, names: Collection[str]) -> str | None:
    """The column with this name; one written in just this way comes first."""
    if alias in names:
        return alias
    return next((name for name in names if plain_name(name) == plain_name(alias)), None)


def _guess(columns: Columns, given: ColumnMap, role: str, aliases: Collection[str], names: Collection[str]) -> Columns:
    """Set a role that the user did not set to its first alias that exists and has no other role."""
    if role in given:
        return columns
    taken = {getattr(columns, r) for r in ROLES}
    found = (find(alias, names) for alias in aliases)
    return replace(columns, **{role: next((name for name in found if name is not None and name not in taken), None)})


def _guess_texts(columns: Columns, given: ColumnMap, names: Collection[str]) -> Columns:
    """Text and pair together. A user who sets only the text wants no pair."""
    if "text" in given:
        return columns
    if find("text", names) is None and "text_pair" not in given:
        for pair in TEXT_PAIRS:
            first, second = (find(name, names) for name in pair)
            if first is not None and second is not None:
                return replace(columns, text=first, text_pair=second)
    columns = _guess(columns, given, "text", ALIASES["text"], names)
    return _guess(columns, given, "text_pair", ALIASES["text_pair"], names) if columns.text else columns


def _guess_labels(columns: Columns, given: ColumnMap, names: Collection[str]) -> Columns:
    """A label, or a score if there is no label."""
    if given.get("label") or given.get("score"):
        return columns
    columns = _guess(columns, given, "label", ALIASES["label"], names)
    return columns if columns.label else _guess(columns, given, "score", ALIASES["score"], names)


def first_of_pair(second: str | None, names: Collection[str]) -> str | None:
    """The column that a known pair puts before this one."""
    firsts = (find(first, names) for first, other in TEXT_PAIRS if other == plain_name(second))
    return next((name for name in firsts if name is not None), None)


def is_swapped(columns: Columns) -> bool:
    """Whether the user reads a known pair the other way round, such as the query before the document."""
    return (plain_name(columns.text_pair), plain_name(columns.text)) in TEXT_PAIRS


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
    tags_pair = (f"{pair}_tags",) if columns.tokens_pair else ()
    own, own_pair = (f"{text}_rationale", *tags), (f"{pair}_rationale", *tags_pair)
    general = () if "rationale" in given else ALIASES["rationale"]
    if is_swapped(columns):  # such a column is about the document, wherever it is read
        columns = _guess(columns, given, "rationale", own, names)
        return _guess(columns, given, "rationale_pair", (*general, *own_pair), names)
    columns = _guess(columns, given, "rationale", (*general[:1], *own, *general[1:]), names)
    return _guess(columns, given, "rationale_pair", own_pair, names) if pair else columns
