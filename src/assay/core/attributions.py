"""A list of Attributions with exports to pandas, datasets and HTML, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, SupportsIndex, overload

from assay.core import foreign
from assay.core.cells import parse_cell, plain_cell
from assay.core.errors import InputError
from assay.core.foreign import UNSAID
from assay.core.foreign_file import read_scores
from assay.core.frames import from_tidy, tidy
from assay.core.optional import optional
from assay.core.types import Attribution

JSON_COLUMNS = (
    "method",
    "extra",
    "probabilities",
)  # of any shape: stored as JSON text so that the table has one schema

_LISTS = ("units", "scores", "target", "cost")
_WIDE = frozenset(f.name for f in fields(Attribution))
REPR = 3  # attributions that `repr` lists


class Attributions(list[Attribution]):
    """What `explain` returns for several inputs: a list with exports."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Attribution: ...

    @overload
    def __getitem__(self, index: slice) -> Attributions: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Attribution | Attributions:
        return Attributions(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def to_dataset(self) -> Any:
        """A datasets.Dataset with one row per attribution."""
        datasets = optional("datasets", "data")
        features, rows = _features(datasets), [_to_row(a) for a in self]
        columns = {name: [row[name] for row in rows] for name in features}  # by column: works for an empty list too
        return datasets.Dataset.from_dict(columns, features=features)

    def to_pandas(self, *, wide: bool = False) -> Any:
        """A pandas DataFrame with one row per unit: example, method, label, unit, text, start, end, segment, score.

        wide: one row per attribution instead, with lists of units and scores and all that an attribution holds.
        """
        return optional("pandas", "data").DataFrame([_to_row(a) for a in self]) if wide else tidy(self)

    @staticmethod
    def from_dataset(dataset: Any) -> Attributions:
        return Attributions(_from_row(row) for row in dataset)

    @staticmethod
    def from_pandas(frame: Any) -> Attributions:
        """The attributions of a frame of `to_pandas`. One row per unit does not hold values, costs and extras."""
        if "unit" in frame.columns:
            return Attributions(from_tidy(frame))
        return Attributions(_from_row(_plain_row(row)) for row in frame.to_dict("records"))

    # --- scores made elsewhere; `assay.evaluate(scores={name: attributions})` judges them ---------------------------

    @staticmethod
    def from_words(
        texts: Any, words: Any, scores: Any, *, label: Any = UNSAID, name: str = "scores", ids: Any = None
    ) -> Attributions:
        """Scores of words or tokens, each a list per text; they are found in the text in order.

        texts: texts or pairs (text, text_pair), whose words follow each other in one list. label: the class that the
        scores explain, by name or index, or a list with one per text; None: no class in particular. Tokens may carry
        the marks of a tokenizer (##ing, Ġword); special tokens are left out, as in Assay's own methods.
        """
        return Attributions(foreign.from_words(texts, words, scores, label=label, name=name, ids=ids))

    @staticmethod
    def from_spans(
        texts: Any, spans: Any, scores: Any, *, label: Any = UNSAID, name: str = "scores", ids: Any = None
    ) -> Attributions:
        """Scores of spans [start, end] (or [segment, start, end]) in characters; the rest of the text gets 0."""
        return Attributions(foreign.from_spans(texts, spans, scores, label=label, name=name, ids=ids))

    @staticmethod
    def from_characters(
        texts: Any, scores: Any, *, label: Any = UNSAID, name: str = "scores", ids: Any = None
    ) -> Attributions:
        """A score for every character of each text."""
        return Attributions(foreign.from_characters(texts, scores, label=label, name=name, ids=ids))

    @staticmethod
    def from_shap(explanation: Any, *, texts: Any = None, label: Any = UNSAID, name: str = "shap") -> Attributions:
        """A shap.Explanation of texts, for all the classes it has (`output_names`).

        texts: needed where SHAP's masker drops characters, as a pattern such as r"\\W+" does at the end of a text.
        label: the class of each column where the explanation does not name them.
        """
        return Attributions(foreign.from_shap(explanation, texts=texts, label=label, name=name))

    @staticmethod
    def from_lime(explanations: Any, *, name: str = "lime") -> Attributions:
        """Explanations of texts by the package lime, one or a list; a word's occurrences share its weight."""
        return Attributions(foreign.from_lime(explanations, name=name))

    @staticmethod
    def from_captum(
        texts: Any, tokens: Any, scores: Any, *, label: Any = UNSAID, name: str = "captum", ids: Any = None
    ) -> Attributions:
        """Attributions (B,T) of tokens, or (B,T,D) of their embeddings, which are summed over D."""
        return Attributions(foreign.from_captum(texts, tokens, scores, label=label, name=name, ids=ids))

    @staticmethod
    def from_file(path: str | Path, name: str | None = None) -> Attributions:
        """Scores in a JSON Lines file: what `assay explain --output` writes, or lines with text, label and scores.

        Such a line has `words` or `spans` beside `scores`, or a score for every character; and `text_pair` and `id`
        if there are any. The name of the file without its ending is the name of the scores.
        """
        return Attributions(read_scores(Path(path), name))

    def to_html(self, path: str | None = None) -> str:
        """A self-contained HTML page of all attributions; written to `path` if one is given."""
        from assay.core.explanation_page import by_input, to_html

        return to_html(by_input(self), path)

    def _repr_html_(self) -> str:
        from assay.core.explanation_page import by_input, fragment

        return fragment(by_input(self))

    def __repr__(self) -> str:
        more = [f"... and {len(self) - REPR} more"] if len(self) > REPR else []
        return "\n  ".join([f"<{len(self)} Attributions>", *map(repr, self[:REPR]), *more])


def _to_row(attribution: Attribution) -> dict[str, Any]:
    row = attribution.to_dict()
    return {**row, **{name: json.dumps(row[name]) for name in JSON_COLUMNS}}


def _from_row(row: Mapping[str, Any]) -> Attribution:
    return Attribution.from_dict(
        {**row, **{name: json.loads(row[name]) for name in JSON_COLUMNS if row.get(name) is not None}}
    )


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a frame, also of one that was a CSV or parquet file: cells may be text, arrays or NaN for None."""
    cells = {name: plain_cell(value) for name, value in row.items() if name in _WIDE}
    cells.setdefault("example_id")
    parsed = {name: parse_cell(value) for name, value in cells.items() if name in _LISTS}
    if missing := [name for name in ("units", "scores", "target", "label", "method") if cells.get(name) is None]:
        raise InputError(f"the frame has no {', '.join(missing)}; give one that `to_pandas` made")
    units = [{**unit, "box": parse_cell(unit["box"])} for unit in parsed["units"]]
    names = {name: _name(cells[name]) for name in ("example_id", "label")}
    return {**cells, **parsed, **names, "units": units}


def _name(cell: Any) -> str:
    """An id or label as text; pandas reads 7 beside an empty cell as 7.0."""
    whole = isinstance(cell, float) and cell.is_integer()
    return "" if cell is None else str(int(cell) if whole else cell)


def _features(datasets: Any) -> Any:
    value = datasets.Value
    unit = {
        "text": value("string"),
        "start": value("int64"),
        "end": value("int64"),
        "segment": value("int64"),
        "box": datasets.List(value("int64")),
        "seen": value("bool"),
    }
    return datasets.Features(
        {
            "example_id": value("string"),
            "method": value("string"),
            "target": {"label": value("int64"), "against": value("int64"), "scale": value("string")},
            "label": value("string"),
            "units": datasets.List(unit),
            "scores": datasets.List(value("float32")),
            "value_full": value("float64"),
            "value_empty": value("float64"),
            "cost": {name: value("float64") for name in ("forwards", "backwards", "seconds")},
            "extra": value("string"),
            "probabilities": value("string"),
            "text": value("string"),
            "text_pair": value("string"),
            "in_value": value("bool"),
        }
    )
