"""What a function's answers mean: probabilities, logits or the value of a regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch

from assay.core.errors import SpecError, nearest
from assay.models.answer_cache import Rows
from assay.models.service import BadAnswerError

Kind = Literal["probability", "logit"]
SMALLEST = 1e-12  # probabilities below count as this one: the logarithm of 0 is not a number
SURE = 1e-3  # rows of probabilities sum to 1 as closely as this, or their kind must be declared
DECLARE = "load it with outputs='logit', or task='multi_label' if several labels can be true at once"
DETECTED = "detected from the first answer"
ROUNDED = 0.05  # what the sum may lack once the kind is known, because probabilities are often rounded


@dataclass(eq=False)
class AnswerReader:
    """Checks answers and turns them into class outputs. The kind is declared, or detected from the first answer."""

    labels: tuple[str, ...]
    task: str
    kind: Kind | None = None
    origin: str = "declared"  # how the kind is known

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in get_args(Kind):
            raise SpecError(f"unknown outputs {self.kind!r}; {nearest(str(self.kind), get_args(Kind))}")
        if self.kind is None and self.task == "multi_label":
            raise SpecError("task='multi_label' needs outputs='probability' or outputs='logit': both can look the same")

    @property
    def words(self) -> str:
        """What the answers are taken for, for repr and report."""
        if self.task == "regression":
            return "values"
        if self.kind is None:
            return "probabilities or logits, by its first answer"
        return f"{'probabilities' if self.kind == 'probability' else 'logits'} ({self.origin})"

    def rows(self, answer: Any, n: int) -> Rows:
        """An answer as (n, outputs); BadAnswerError if it is anything but what the first answers were."""
        rows = self._numbers(answer, n)
        if self.task == "regression":
            return rows
        if self.kind is None:
            self.kind, self.origin = _kind(rows), DETECTED
        if self.kind == "probability":
            self._check_probabilities(rows)
        return rows

    def logits(self, rows: Rows) -> Rows:
        """Class outputs whose softmax (or sigmoid, for several labels at once) is the function's probability."""
        if self.task == "regression" or self.kind == "logit":
            return rows
        log_p: Rows = np.log(rows.clip(SMALLEST, 1.0))
        if self.task == "multi_label":
            log_p -= np.log((1 - rows).clip(SMALLEST, 1.0))
        return log_p

    def _numbers(self, answer: Any, n: int) -> Rows:
        if isinstance(answer, torch.Tensor):
            answer = answer.detach().double().numpy(force=True)
        try:
            rows = np.asarray(answer, np.float64)
        except (TypeError, ValueError) as error:
            raise BadAnswerError(f"returned a {type(answer).__name__} instead of numbers", self._advice) from error
        if self.task == "regression" and rows.shape == (n,):
            rows = rows[:, None]
        if rows.shape != (n, len(self.labels)):
            raise BadAnswerError(
                f"returned an array of shape {rows.shape} instead of {(n, len(self.labels))}", self._advice
            )
        if not np.isfinite(rows).all():
            raise BadAnswerError(f"returned {_shown(rows[~np.isfinite(rows).all(1)][0])}, not finite numbers,")
        return rows

    @property
    def _advice(self) -> str:
        if self.task == "regression":
            return "return one number per text"
        return f"return one number per text and label ({', '.join(self.labels)})"

    def _check_probabilities(self, rows: Rows) -> None:
        for row in rows[(rows < -SURE).any(1) | (rows > 1 + SURE).any(1)]:
            raise BadAnswerError(
                f"returned {_shown(row)}, which are not probabilities,", "load it with outputs='logit'"
            )
        off = np.abs(rows.sum(1) - 1)
        if self.task != "multi_label" and off.max() > ROUNDED:
            raise BadAnswerError(f"returned {_shown(rows[off.argmax()])}, whose sum is not 1,", DECLARE)


def _kind(rows: Rows) -> Kind:
    """Probabilities lie between 0 and 1 and sum to 1; anything in between must be declared."""
    if (rows >= 0).all() and (np.abs(rows.sum(1) - 100) <= 100 * SURE).all():
        raise BadAnswerError(
            f"returned {_shown(rows[0])}, which look like percentages,",
            "return probabilities from 0 to 1, or load it with outputs='logit' if these are logits",
        )
    if ((rows < 0) | (rows > 1)).any():
        return "logit"
    off = np.abs(rows.sum(1) - 1)
    if off.max() <= SURE:
        return "probability"
    raise BadAnswerError(
        f"returned {_shown(rows[off.argmax()])}, which may be probabilities or logits,",
        f"load it with outputs='probability' or {DECLARE.removeprefix('load it with ')}",
    )


def _shown(row: Rows) -> str:
    return f"[{', '.join(f'{value:.4g}' for value in row)}]"
