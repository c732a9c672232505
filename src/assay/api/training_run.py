"""What `train` and `fit` share: which examples to learn from, and how to run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

from assay.core.ranges import COUNT, NOT_NEGATIVE, check_range
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.experiments.worker import threads as limit_threads
from assay.training.history import Check
from assay.training.splits import training_data

Verb = TypeVar("Verb", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """The arguments that both verbs take.

    split, validation: names of splits; None is train and dev, or 10 % held out. columns, label_map: as in
    `load_dataset`. limit, validation_limit: numbers of examples, drawn at random; None for all. on_start: called with
    the two splits. on_check: called after every validation.
    """

    split: str | None = None
    validation: str | None = None
    columns: ColumnMap | str | None = None
    label_map: Mapping[str, str | None] | str | None = None
    limit: int | None = None
    validation_limit: int | None = None
    threads: int | None = None
    save_seconds: float = 60.0
    overwrite: bool = False
    on_start: Callable[[Dataset, Dataset], None] | None = None
    on_check: Callable[[Check, bool], None] | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "validation_limit", "threads"):
            check_range(name, getattr(self, name), COUNT)
        check_range("save_seconds", self.save_seconds, NOT_NEGATIVE)

    @classmethod
    def taken_from(cls, options: Mapping[str, Any], **defaults: Any) -> tuple[Self, dict[str, Any]]:
        """A run from the keyword arguments of a verb, and those that are settings of what is trained."""
        names = {f.name for f in fields(cls)}
        own = {name: value for name, value in options.items() if name in names}
        return cls(**{**defaults, **own}), {name: value for name, value in options.items() if name not in names}

    def splits(self, data: Any, seed: int) -> tuple[Dataset, Dataset]:
        """The examples to learn from and those to validate on."""
        found = training_data(
            data,
            self.split,
            self.validation,
            columns=self.columns,
            label_map=self.label_map,
            limit=self.limit,
            validation_limit=self.validation_limit,
            seed=seed,
        )
        if self.on_start is not None:
            self.on_start(*found)
        return found

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run with the number of threads that was asked for."""
        with limit_threads(self.threads):
            yield


def takes_run(**defaults: Any) -> Callable[[Verb], Verb]:
    """Show the arguments of a run in the signature of a verb, where its `**options` stand."""

    def decorate(verb: Verb) -> Verb:
        shown = inspect.signature(verb)
        *own, options = shown.parameters.values()
        kind = inspect.Parameter.KEYWORD_ONLY
        more = [
            inspect.Parameter(f.name, kind, default=defaults.get(f.name, f.default), annotation=f.type)
            for f in fields(TrainingRun)
        ]
        verb.__signature__ = shown.replace(parameters=[*own, *more, options])  # type: ignore[attr-defined]
        return verb

    return decorate
