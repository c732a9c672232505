"""Asking a function: batches, retries, rate, budget, and answers that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import ModelError, RowError, SpecError, StoreError
from assay.models.answer_cache import FILE, AnswerCache
from assay.models.answers import AnswerReader
from assay.models.service import LOST, Service, ServiceSettings
from assay.models.word_tokenizer import Text


class Counting:
    """A function that remembers its batches; `fail` raises or changes the answer."""

    def __init__(self, fail: Any = lambda call, texts, rows: rows) -> None:
        self.batches: list[list[Text]] = []
        self.fail = fail

    def __call__(self, texts: list[Text]) -> Any:
        self.batches.append(list(texts))
        return self.fail(len(self.batches), texts, [[len(t), -1.0] for t in texts])


def service(predict: Any, cache: Path | None = None, **settings: Any) -> Service:
    reader = AnswerReader(("a", "b"), "classification", "logit")
    answers = None if cache is None else AnswerCache(cache, "model 1")
    return Service("predict", predict, reader.rows, ServiceSettings(**settings), answers, sleep=lambda seconds: None)


def raises(error: Exception, *calls: int) -> Counting:
    def fail(call: int, texts: list[Text], rows: Any) -> Any:
        if call in calls:
            raise error
        return rows

    return Counting(fail)


def test_equal_texts_are_asked_once_and_calls_are_as_few_as_batches_allow() -> None:
    predict = Counting()
    rows = service(predict, batch_size=2)(["xx", "y", "xx", "zzz", "y"])
    assert rows[:, 0].tolist() == [2, 1, 2, 3, 1]
    assert predict.batches == [["xx", "y"], ["zzz"]]


def test_an_outage_is_waited_for_with_growing_pauses() -> None:
    predict, pauses = raises(ConnectionError("reset"), 1, 2, 3), []
    asked = service(predict, retries=3)
    asked.sleep = pauses.append
    assert asked(["x"]).tolist() == [[1, -1]]
    assert pauses >= [0.25, 0.5, 1]
    assert all(low <= pause <= 3 * low for low, pause in zip([0.25, 0.5, 1], pauses, strict=True))


def test_a_mistake_in_the_function_is_not_tried_again() -> None:
    predict = raises(TypeError("no such argument"), *range(1, 99))
    with pytest.raises(RowError, match=r"predict raised TypeError: no such argument for the text 'x'"):
        service(predict, retries=3)(["x"])
    assert len(predict.batches) == 1


def test_calls_keep_to_the_rate() -> None:
    now, waited = [100.0], []

    def sleep(seconds: float) -> None:
        waited.append(round(seconds, 6))
        now[0] += seconds

    asked = service(Counting(), batch_size=1, per_second=4)
    asked.sleep, asked.clock = sleep, lambda: now[0]
    asked(["a", "bb", "ccc"])
    assert waited == [0.25, 0.25]
    now[0] += 10
    asked(["dddd"])
    assert waited == [0.25, 0.25], "a slow caller does not wait"


@pytest.mark.parametrize(
    ("fail", "words"),
    [
        (lambda call, texts, rows: rows[:-1] if "bad" in texts else rows, r"shape .* instead of \(1, 2\)"),
        (lambda call, texts, rows: [[np.nan, 1] if t == "bad" else [0, 1] for t in texts], r"returned \[nan, 1\]"),
        (
            lambda call, texts, rows: [r[:1] for r in rows],
            r"shape \(1, 1\) instead of \(1, 2\) for the text",
        ),
        (
            lambda call, texts, rows: "soon",
            r"returned a str instead of numbers .*; return one number per text and label \(a, b\)",
        ),
        (lambda call, texts, rows: [["a", "b"]] * len(texts), "returned a list instead of"),
        (lambda call, texts, rows: None, r"shape \(\) instead of|not finite"),
        (lambda call, texts, rows: 1 / 0 if "bad" in texts else rows, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_an_answer_that_cannot_be_used_is_named_with_its_text(fail: Any, words: str) -> None:
    with pytest.raises(RowError, match=words) as error:
        service(Counting(fail), batch_size=8)(["good", "fine", "nice", "bad", "great"])
    blamed = "bad" if error.value.row == 3 else "good"  # where every text is to blame, the first is named
    assert f"for the text '{blamed}'" in str(error.value)


def test_the_text_to_blame_is_found_with_few_calls() -> None:
    predict = Counting(lambda call, texts, rows: 1 / 0 if "7" in texts else rows)
    with pytest.raises(RowError) as error:
        service(predict, batch_size=64, retries=0)([str(i) for i in range(64)])
    assert error.value.row == 7
    assert len(predict.batches) <= 1 + 2 * 6


def test_a_long_text_is_shortened_in_the_error() -> None:
    with pytest.raises(RowError, match=r"for the text 'word word.*\.\.\.'$") as error:
        service(raises(KeyError("x"), *range(9)), retries=0)(["word " * 999])
    assert len(str(error.value)) < 150


def test_a_function_that_is_lost_ends_the_work() -> None:
    """One bad text is left out of a file, but a service that is down must not be asked for every line."""
    asked = service(raises(ConnectionError("refused"), *range(99)), retries=0)
    for _ in range(LOST - 1):
        with pytest.raises(RowError):
            asked(["x"])
    with pytest.raises(ModelError, match="as for the 2 before it") as error:
        asked(["x"])
    assert not isinstance(error.value, RowError)


def test_kept_answers_are_never_asked_again_by_any_process(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    service(first, tmp_path)(["x", ("x", "y")])
    rows = service(second, tmp_path)([("x", "y"), "x", "new"])
    assert rows[:, 0].tolist() == [2, 1, 3]
    assert second.batches == [["new"]]


def test_answers_of_another_version_are_not_used(tmp_path: Path) -> None:
    service(Counting(), tmp_path)(["x"])
    other = service(again := Counting())
    other.answers = AnswerCache(tmp_path, "model 2")
    other(["x"])
    assert again.batches == [["x"]]


def test_the_budget_ends_with_what_to_do_and_the_next_run_goes_on(tmp_path: Path) -> None:
    texts = [str(i) for i in range(10)]
    with pytest.raises(ModelError, match=rf"all 3 calls of max_calls are made; every answer is kept in {tmp_path}"):
        service(Counting(), tmp_path, batch_size=2, max_calls=3)(texts)
    rest = Counting()
    service(rest, tmp_path, batch_size=2, max_calls=3)(texts)
    assert rest.batches == [["6", "7"], ["8", "9"]]


def test_the_budget_counts_retries_and_says_that_nothing_is_kept() -> None:
    predict = raises(ConnectionError("reset"), *range(99))
    with pytest.raises(ModelError, match=r"all 2 calls of max_calls are made; its answers are not kept; .* cache="):
        service(predict, max_calls=2)(["x"])
    assert len(predict.batches) == 2


def test_good_answers_are_kept_when_another_text_of_the_batch_fails(tmp_path: Path) -> None:
    predict = Counting(lambda call, texts, rows: 1 / 0 if "bad" in texts else rows)
    with pytest.raises(RowError):
        service(predict, tmp_path, retries=0)(["a", "b", "c", "bad"])
    assert set(AnswerCache(tmp_path, "model 1").get(["a", "b", "c", "bad"])) == {"a", "b", "c"}


def test_a_damaged_file_of_answers_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 99)
    with pytest.raises(StoreError, match=r"cannot use the answers in .*: file is not a database"):
        AnswerCache(tmp_path, "model")


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write answers to .*file"):
        AnswerCache(tmp_path / "file", "model")


@pytest.mark.parametrize(
    "wrong", [{"batch_size": 0}, {"retries": -1}, {"max_calls": 0}, {"batch_size": 2.5}, {"per_second": float("nan")}]
)
def test_impossible_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=next(iter(wrong))):
        ServiceSettings(**wrong)
