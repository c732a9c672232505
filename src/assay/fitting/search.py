"""Tune the weights of the losses with Optuna: short fits, judged by the best value of the metric they reach."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError
from assay.core.optional import optional
from assay.core.rng import seed_of
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.fitting.aml import fit_texts_to
from assay.fitting.settings import AmlFit
from assay.fitting.texts import LEAST, fit_texts
from assay.fitting.validation import Validation
from assay.models.model import Model
from assay.training.history import Check

WEIGHTS = ("preservation", "sparsity", "inverse")
TEXTS, EPOCHS = 450, 2  # of a trial, as in the paper
FILE = "search.log"  # Optuna's journal in the output folder


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int
    weights: dict[str, float]
    value: float | None  # None: pruned
    best: bool


OnTrial = Callable[[Trial], None]


def searched(
    model: Model,
    train: Dataset,
    validation: Dataset,
    settings: AmlFit,
    trials: int,
    *,
    folder: Path | None = None,
    on_trial: OnTrial | None = None,
    progress: bool | None = None,
) -> AmlFit:
    """The settings with the weights of the best trial. Trials in the folder count; the same search goes on from them.

    A trial's value is its best validation in the metric's own direction; trials below the median of the others at the
    same step are given up.
    """
    if not settings.masks_softly:
        raise SpecError(
            f"search tunes the weights of the masking losses, which objective={settings.objective} does not have; give "
            "objective=masking or both"
        )
    optuna = optional("optuna", "search")
    logging.getLogger("optuna").setLevel(logging.ERROR)
    texts = fit_texts(model, train.take(TEXTS, settings.seed) if len(train) > TEXTS else train, least=LEAST)
    held_out = Validation(fit_texts(model, validation), settings.criterion, settings.soft)
    short = replace(settings, epochs=min(EPOCHS, settings.epochs), validate_every=min(settings.validate_every, 0.32))
    study = _study(optuna, short, f"{texts.fingerprint} {held_out.texts.fingerprint} {model.fingerprint}", folder)

    def value_of(trial: Any) -> float:
        weights = {name: trial.suggest_float(name, 0.0, 1.0) for name in WEIGHTS}
        if not (weights["preservation"] or weights["inverse"]):
            raise optuna.TrialPruned
        found: list[float] = []

        def report(check: Check, best: bool) -> None:
            value = check.scores[settings.criterion.name]
            found.append(value)
            trial.report(value, check.step)
            if trial.should_prune():
                raise optuna.TrialPruned

        fit_texts_to(texts, held_out, replace(short, **weights), {}, None, report, False, 60.0)
        return max(found) if settings.criterion.better == "higher" else min(found)

    def tell(study: Any, trial: Any) -> None:
        if on_trial is not None:
            finished = trial.state == optuna.trial.TrialState.COMPLETE
            best = finished and study.best_trial.number == trial.number
            on_trial(Trial(trial.number, dict(trial.params), trial.value if finished else None, best))

    done = sum(trial.state.is_finished() for trial in study.trials)
    study.sampler = optuna.samplers.TPESampler(seed=seed_of("search", settings.seed, done) % 2**32)
    study.optimize(value_of, n_trials=max(0, trials - done), callbacks=[tell])
    return replace(settings, **study.best_trial.params)


def _study(optuna: Any, settings: AmlFit, key: str, folder: Path | None) -> Any:
    """A study of the same texts and settings; others in the folder are left alone."""
    fixed = replace(settings, preservation=1.0, sparsity=1.0, inverse=1.0)
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
