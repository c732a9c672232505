"""Tune the weights of the losses with Optuna: short fits, judged by the best value of the metric they reach."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.optional import optional
from assay.core.rng import seed_of
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.faithfulness.criterion import Criterion
from assay.fitting.aml import fit_texts_to
from assay.fitting.methods.aml import AmlFit
from assay.fitting.run import FitRun, Trial
from assay.fitting.source import WEIGHTS
from assay.fitting.texts import LEAST, FitTexts, fit_texts
from assay.fitting.validation import Validation
from assay.models.model import Model
from assay.training.history import Check

TEXTS, EPOCHS = 450, 2  # of a trial, as in the paper
FILE = "search.log"  # Optuna's journal in the output folder


@dataclass(frozen=True)
class Search:
    """A finished search: how many trials, how many to the end, on how much, and the best value of the metric."""

    trials: int
    finished: int
    texts: int
    epochs: int
    best: float

    def note(self, criterion: Criterion, best: float | None) -> str:
        """What the best trial reached beside the fit, in a sentence."""
        found = (
            f"The weights of the losses are those of the best of {self.trials} trials, {self.finished} of them to the "
            f"end ({self.texts} texts, {self.epochs} epoch{'s' * (self.epochs != 1)}): {criterion.name} {self.best:.4f}"
        )
        if best is None or criterion.sign * (best - self.best) >= 0:
            return f"{found}."
        return (
            f"{found}. This fit has only {best:.4f}: trials differ by chance too. Search with more validation texts, "
            "or compare with weights of 1."
        )


def searched(model: Model, train: Dataset, validation: Dataset, settings: AmlFit, run: FitRun) -> tuple[AmlFit, Search]:
    """The settings with the weights of the best trial. Trials in the folder count; the same search goes on from them.

    A trial's value is its best validation in the metric's own direction; trials below the median of the others at the
    same step are given up.
    """
    assert settings.search is not None
    optuna = optional("optuna", "search")
    logging.getLogger("optuna").setLevel(logging.ERROR)
    texts = fit_texts(model, train.take(TEXTS, settings.seed) if len(train) > TEXTS else train, least=LEAST)
    held_out = Validation(fit_texts(model, validation), settings.criterion, settings.soft)
    short = replace(settings, epochs=min(EPOCHS, settings.epochs), validate_every=min(settings.validate_every, 0.32))
    key = f"{texts.fingerprint} {held_out.texts.fingerprint} {model.fingerprint}"
    study = _study(optuna, short, key, run.folder)

    def tell(study: Any, trial: Any) -> None:
        if run.on_trial is not None:
            finished = trial.state == optuna.trial.TrialState.COMPLETE
            best = finished and study.best_trial.number == trial.number
            run.on_trial(Trial(trial.number, dict(trial.params), trial.value if finished else None, best))

    done = sum(trial.state.is_finished() for trial in study.trials)
    for number in range(done, settings.search):
        # a seed for each trial, so that an interrupted search goes on as it would have
        study.sampler = optuna.samplers.TPESampler(seed=seed_of("search", settings.seed, number) % 2**32)
        study.optimize(_ShortFit(optuna, texts, held_out, short, key), n_trials=1, callbacks=[tell])
    ended = sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials)
    found = Search(len(study.trials), ended, len(texts), short.epochs, study.best_trial.value)
    return replace(settings, **study.best_trial.params), found


@dataclass(frozen=True)
class _ShortFit:
    """The value of a trial: the best validation of a short fit with the weights it suggests.

    All trials draw alike, so that they differ by their weights alone: short fits depend much on the order of the texts.
    """

    optuna: Any
    texts: FitTexts
    held_out: Validation
    settings: AmlFit
    key: str

    def __call__(self, trial: Any) -> float:
        weights = {name: trial.suggest_float(name, 0.0, 1.0) for name in WEIGHTS}
        if not (weights["preservation"] or weights["inverse"]):
            raise self.optuna.TrialPruned
        criterion, found = self.settings.criterion, list[float]()

        def report(check: Check, best: bool) -> None:
            value = check.scores[criterion.name]
            found.append(value)
            trial.report(value, check.step)
            if trial.should_prune():
                raise self.optuna.TrialPruned

        run = FitRun(on_check=report, progress=False, key=self.key)
        fit_texts_to(self.texts, self.held_out, replace(self.settings, **weights), {}, run)
        return max(found) if criterion.better == "higher" else min(found)


def _study(optuna: Any, settings: AmlFit, key: str, folder: Path | None) -> Any:
    """A study of the same texts and settings; others in the folder are left alone."""
    fixed = replace(settings, preservation=1.0, sparsity=1.0, inverse=1.0, search=None)
    storage = None
    if folder is not None:
        journal = optional("optuna.storages.journal", "search")
        storage = optuna.storages.JournalStorage(journal.JournalFileBackend(str(folder / FILE)))
    return optuna.create_study(
        study_name=f"{seed_of(Spec.of(fixed), key):x}",
        storage=storage,
        direction="maximize" if settings.criterion.better == "higher" else "minimize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        load_if_exists=True,
    )
