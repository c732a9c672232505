"""assay.attack: can an explanation be changed while the prediction stays the same?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.api.settings import given_limit, make_settings, not_none
from assay.core.notices import notice, said_once
from assay.datasets.columns import ColumnMap
from assay.datasets.load import load_dataset
from assay.evaluation.adversarial.attack_cost import AttackCost
from assay.experiments.preset import use_preset
from assay.experiments.runner import run_study
from assay.models.load import load_model
from assay.studies.attack.result import MEASURED, Attacked
from assay.studies.attack.study import LIMIT, Attack

LONG = 300.0  # seconds


@said_once
def attack(
    model: Any = "builtin",
    data: Any = "builtin",
    methods: Sequence[Any] | str | None = None,
    *,
    preset: str | None = None,
    limit: int | None = LIMIT,
    columns: ColumnMap | str | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    on_start: Callable[[AttackCost], None] | None = None,
    **settings: Any,
) -> Attacked:
    """Perturb word embeddings so that the explanation changes and the prediction does not.

    model: anything `load_model` takes. data: anything `load_dataset` takes. methods: specs of differentiable methods;
    None is the three of the Oxford thesis, with integrated gradients measured to a tolerance (see `measured`).
    limit: a random subset of this many examples. columns: as in `load_dataset`. store: a folder for finished work; None
    is a cache folder. on_start: called with the cost, measured on two steps, before the work; None warns of a long one.
    preset: all settings of a paper, such as "thesis" (`assay list presets`); what is given beside it takes precedence.
    settings: further fields of `Attack` (objectives, epsilon, steps, ...).
    """
    default = {"measured": MEASURED} if methods is None and preset is None else {}
    given = not_none({"methods": methods, **default, **settings})
    used = use_preset(preset, "attack", given, given_limit(limit, preset))
    study = make_settings(Attack, used.settings)
    loaded, dataset = load_model(model), load_dataset(data, columns=columns)
    used, study = used.fit(study, loaded)
    used, dataset = used.examples(dataset, study.seed)

    def tell(missing: int) -> None:
        (on_start or _warn_if_long)(study.cost(loaded, dataset[:missing]))

    records = run_study(study, "attack", loaded, dataset, store=store, progress=progress, on_start=tell)
    for warning in used.warnings:
        notice("result", warning)
    return Attacked(loaded, dataset, study, [row for record in records for row in record.rows], used.or_none)


def _warn_if_long(cost: AttackCost) -> None:
    if cost.seconds > LONG:
        warnings.warn(f"{cost}; fewer steps, methods or examples (limit) take less", stacklevel=2)
