"""Service: asks a function in batches, again after errors, not too often, and never twice for the same text."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import ModelError, RowError, SpecError
from assay.models.answer_cache import AnswerCache, Rows
from assay.models.word_tokenizer import Text

FIRST_PAUSE = 0.5  # seconds before the first retry; doubles each time
MISTAKES = (TypeError, NameError, AttributeError, ImportError, NotImplementedError)  # waiting does not mend these
LOST = 3  # failures in a row, with no answer between them, after which the function counts as lost
SHOWN = 60  # characters of a text in an error


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """How a function is asked."""

    batch_size: int = 32
    """Texts per call."""
    retries: int = 3
    """How often a call that raises is repeated, after pauses of about 0.5, 1, 2, ... seconds."""
    per_second: float | None = None
    """Calls per second, at most."""
    max_calls: int | None = None
    """Calls in all, at most, retries included; then an error ends the work. With `cache`, the next run goes on."""
    cache: str | Path | None = None
    """Folder in which every answer is kept; a text that is there is never asked again."""

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("retries", 0), ("max_calls", 1)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise SpecError(f"{name}={value!r}: give a whole number of at least {least}")
        if self.per_second is not None and not 0 < self.per_second < float("inf"):
            raise SpecError(f"per_second={self.per_second!r}: give a number of calls above 0")


class BadAnswerError(Exception):
    """Why an answer cannot be used: a sentence without the function's name and the text, and what to do."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.reason, self.advice = reason, advice


@dataclass(eq=False)
class Service:
    """A function `predict(texts)` whose answers `check(answer, n)` turns into rows (n, outputs)."""

    name: str
    predict: Callable[[list[Text]], Any]
    check: Callable[[Any, int], Rows]
    settings: ServiceSettings = ServiceSettings()
    answers: AnswerCache | None = None
    sleep: Callable[[float], Any] = time.sleep
    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    _failures: int = 0
    _next: float = 0.0  # when the next call is due
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    def __call__(self, texts: Sequence[Text]) -> Rows:
        """(n, outputs) in the order of the texts; equal texts are asked once."""
        different = list(dict.fromkeys(texts))
        with self._lock:
            rows = {} if self.answers is None else self._known(different)
            missing, size = [text for text in different if text not in rows], self.settings.batch_size
            for batch in (missing[start : start + size] for start in range(0, len(missing), size)):
                try:
                    rows.update(zip(batch, self._ask(batch, self.settings.retries), strict=True))
                except _RefusedError as error:
                    raise self._error(error, texts.index(error.text)) from error.__cause__
        return np.stack([rows[text] for text in texts])

    def _known(self, texts: list[Text]) -> dict[Text, Rows]:
        assert self.answers is not None
        found = self.answers.get(texts)
        return {text: self._checked(row[None], [text])[0] for text, row in found.items()}

    def _ask(self, batch: list[Text], retries: int) -> Rows:
        """Rows of a batch. One that fails is halved, once, down to the text that is to blame."""
        try:
            rows = self._checked(self._call(batch, retries), batch)
        except BadAnswerError as error:
            if len(batch) == 1:
                raise _RefusedError(batch[0], error) from error.__cause__
            middle = (len(batch) + 1) // 2
            return np.concatenate([self._ask(half, 0) for half in (batch[:middle], batch[middle:])])
        self._failures = 0
        if self.answers is not None:
            self.answers.put(batch, rows)
        return rows

    def _checked(self, answer: Any, batch: Sequence[Text]) -> Rows:
        return self.check(answer, len(batch))

    def _call(self, batch: list[Text], retries: int) -> Any:
        for attempt in range(retries + 1):
            self._spend()
            try:
                return self.predict(list(batch))
            except Exception as error:
                if attempt == retries or isinstance(error, MISTAKES):
                    first = (str(error).strip() or "no message").splitlines()[0]
                    raise BadAnswerError(f"raised {type(error).__name__}: {first}") from error
                self.sleep(FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable")

    def _spend(self) -> None:
        """Count a call, unless the budget is used up, and wait until it is due."""
        limit, rate = self.settings.max_calls, self.settings.per_second
        if limit is not None and self.calls >= limit:
            raise ModelError(f"{self.name}: all {limit} calls of max_calls are made; {self._how_to_go_on()}")
        self.calls += 1
        if rate is not None:
            now = self.clock()
            if now < self._next:
                self.sleep(self._next - now)
            self._next = max(now, self._next) + 1 / rate

    def _how_to_go_on(self) -> str:
        if self.answers is None:
            return "its answers are not kept; give a larger max_calls, and cache= so that no text is asked twice"
        return f"every answer is kept in {self.answers.folder}; run the same again and only what is missing is asked"

    def _error(self, refused: _RefusedError, row: int) -> ModelError:
        self._failures += 1
        answer, advice = refused.answer, refused.answer.advice
        message = f"{self.name} {answer.reason} for the text {shortened(refused.text)}{advice and f'; {advice}'}"
        if self._failures < LOST:
            return RowError(row, message)
        kept = "" if self.answers is None else f"; every answer so far is kept in {self.answers.folder}"
        return ModelError(f"{message}, as for the {LOST - 1} before it{kept}; check the function and run it again")


class _RefusedError(Exception):
    """A single text that got no usable answer."""

    def __init__(self, text: Text, answer: BadAnswerError) -> None:
        super().__init__(answer.reason)
        self.text, self.answer = text, answer


def shortened(text: Text) -> str:
    """A text for an error: its first characters, quoted."""
    if isinstance(text, tuple):
        return f"({', '.join(map(shortened, text))})"
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
