"""assay.randomise: do explanations change when blocks of the model are re-initialised?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.api.settings import as_field, given_limit, make_settings, not_none
from assay.core.errors import SpecError
from assay.core.notices import notice, said_once
from assay.core.ranges import Range, check_range
from assay.datasets.columns import ColumnMap
from assay.datasets.load import load_dataset
from assay.experiments.preset import use_preset
from assay.experiments.runner import run_study
from assay.models.load import load_model
from assay.studies.randomise.result import Randomised
from assay.studies.randomise.study import LIMIT, Randomise

SEEDS = Range(1, 10_000, whole=True)


@said_once
def randomise(
    model: Any = "builtin",
    data: Any = "builtin",
    methods: Sequence[Any] | str | None = None,
    *,
    preset: str | None = None,
    limit: int | None = LIMIT,
    columns: ColumnMap | str | None = None,
    seeds: int | str | Sequence[int] | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Randomised:
    """Re-initialise transformer blocks and correlate explanations before and after (a sanity check).

    model: anything `load_model` takes. data: anything `load_dataset` takes. methods: specs; None is those of the Oxford
    thesis. limit: a random subset of this many examples. seeds: number of random initialisations of each block, or
    their seeds; None is one. preset: all settings of a paper, such as "thesis" (`assay list presets`); what is given
    beside it takes precedence. columns: as in `load_dataset`. store: a folder for finished work; None is a cache
    folder. settings: further fields of `Randomise`.
    """
    given = {"methods": methods, "seeds": None if seeds is None else _seeds(seeds), **settings}
    used = use_preset(preset, "randomise", not_none(given), given_limit(limit, preset))
    study = make_settings(Randomise, used.settings)
    loaded, dataset = load_model(model), load_dataset(data, columns=columns)
    used, study = used.fit(study, loaded)
    used, dataset = used.examples(dataset, study.seed)
    records = run_study(study, "randomise", loaded, dataset, store=store, progress=progress)
    for warning in used.warnings:
        notice("result", warning)
    return Randomised(loaded, dataset, study, [row for record in records for row in record.rows], used.or_none)


def _seeds(seeds: int | str | Sequence[int]) -> tuple[int, ...]:
    """A number of seeds, or the seeds; as the command line writes them, "3" is a number and "3,4" are seeds."""
    if isinstance(seeds, str):
        given: tuple[int, ...] = as_field("seeds", seeds, tuple[int, ...])
        return given if len(given) != 1 else _seeds(given[0])
    if not isinstance(seeds, int):
        if not all(type(seed) is int for seed in seeds):
            raise SpecError(f"seeds={seeds!r}: give a number of initialisations, such as 3, or a list of seeds")
        return tuple(seeds)
    check_range("seeds", seeds, SEEDS)  # before a list of them is made
    return tuple(range(seeds))
