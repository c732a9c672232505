"""One fit of any learned explainer: its settings, its folder, and who is told how it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from assay.core.errors import AssayError, ModelError
from assay.core.files import check_folder_writable
from assay.core.notices import notice
from assay.datasets.dataset import Dataset
from assay.explainers.learned.parts.method import Content, LearnedMethod
from assay.explainers.learned.parts.saved import CARD, README, WEIGHTS
from assay.explainers.learned.parts.worth import advice, doubt
from assay.models.model import Model
from assay.training.checkpoint import remove_checkpoint
from assay.training.history import History
from assay.training.loop import NotFiniteError, OnCheck
from assay.training.run_folder import LOCK, training_in

LAST_GOOD = "last_good"  # folder within that of a fit which met a number that is not finite


@dataclass(frozen=True)
class Trial:
    """A finished trial of a search of settings."""

    number: int
    weights: Mapping[str, float]  # what was tried
    value: float | None  # None: given up
    best: bool


OnTrial = Callable[[Trial], None]


@dataclass(frozen=True)
class FitRun:
    """Where an unfinished fit is kept (None: nowhere), and what is called after every validation and trial."""

    folder: Path | None = None
    on_check: OnCheck | None = None
    on_trial: OnTrial | None = None
    progress: bool | None = None  # show a bar; None: on a terminal
    save_seconds: float = 60.0
    key: str | None = None  # seeds all that is drawn; None: data, model and settings


class Fit(Protocol):
    """How a learned method is fitted: a frozen dataclass whose fields, with their docstrings, are its settings.

    The class of `fitting/methods/NAME.py` is called NameFit, and what it fits is the method NAME. Its file must not
    import torch: the help of the command line reads its fields.
    """

    files: ClassVar[tuple[str, ...]]  # names in the folder, besides those of every explainer and the checkpoint

    @property
    def seed(self) -> int:
        """Draws subsets and held-out texts, and everything random in the fit."""

    def check_model(self, model: Model) -> None:
        """Raise at once if no explainer can be fitted to a model."""

    def fit(self, model: Model, train: Dataset, validation: Dataset, run: FitRun) -> LearnedMethod:
        """Fit to the first data set, choose by the second, and save in the folder.

        The result depends only on model, data and settings; the same call resumes an interrupted fit.
        """


def fit_explainer(settings: Fit, model: Model, train: Dataset, validation: Dataset, run: FitRun) -> LearnedMethod:
    """Fit while no other process fits in the same folder; say so if the result should not be used."""
    settings.check_model(model)
    with training_in(run.folder):
        explainer = settings.fit(model, train, validation, run)
    if why := doubt(explainer.card):
        notice("explainer", f"The explainer {why} {advice(explainer.card)}")
    return explainer


@contextmanager
def keeping_the_last_good(explainer: Callable[[History], Content], folder: Path | None) -> Iterator[None]:
    """If a fit meets a number that is not finite, save the best explainer before that, and say where it is."""
    try:
        yield
    except NotFiniteError as error:
        history = error.history
        if folder is None or history is None or history.best_check is None:
            raise
        explainer(history).save(folder / LAST_GOOD)
        raise ModelError(
            f"{error}. The best explainer before that, of step {history.best_check.step}, is in {folder / LAST_GOOD}"
        ) from error


def check_output(folder: Path, settings: Fit, *, overwrite: bool) -> Path:
    """Check that a folder is new, empty, or holds an unfinished fit; with `overwrite`, a finished one too."""
    folder = folder.expanduser()
    if folder.exists() and not folder.is_dir():
        raise AssayError(f"{folder} is a file; choose a folder")
    if (folder / CARD).exists() and not overwrite:
        raise AssayError(f"{folder} holds a finished explainer; choose another folder or overwrite it (--overwrite)")
    own = {LOCK, CARD, README, WEIGHTS, LAST_GOOD, *settings.files}
    names = [f.name for f in folder.iterdir()] if folder.is_dir() else []
    if others := [name for name in names if name not in own and not name.startswith("checkpoint.")]:
        raise AssayError(f"{folder} is not empty (it holds {others[0]}); choose another folder")
    check_folder_writable(folder)
    if overwrite:
        (folder / CARD).unlink(missing_ok=True)
        remove_checkpoint(folder)
    return folder
