"""assay.evaluate: which explanation method is faithful for a model on some data?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.api.settings import make_settings, not_none
from assay.core.notices import notice, said_once, unsaid
from assay.datasets.columns import ColumnMap
from assay.datasets.load import load_dataset
from assay.experiments.preset import use_preset
from assay.experiments.runner import run_study
from assay.explainers.given import given_scores
from assay.models.load import load_model
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.result import Result
from assay.studies.evaluate.study import Evaluate


@said_once
def evaluate(
    model: Any = "builtin",
    data: Any = "builtin",
    methods: Sequence[Any] | str | None = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    preset: str | None = None,
    scores: Mapping[str, Any] | Sequence[str] | None = None,
    limit: int | None = None,
    columns: ColumnMap | str | None = None,
    label_map: Mapping[str, str | None] | str | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Result:
    """Rank explanation methods by metrics, with confidence intervals, tests and a verdict.

    model: anything `load_model` takes. data: anything `load_dataset` takes. methods, metrics: specs such as
    "lime(samples=500)" in a list or a text with commas, or objects; None is a default choice. scores: explanations made
    elsewhere to judge beside them, {name: Attributions or JSON Lines file}. limit: a random subset of this many
    examples. columns, label_map: as in `load_dataset`. preset: all settings of a paper, such as "thesis" (`assay list
    presets`), and its number of examples; what is given beside it takes precedence. store: a folder for finished work,
    which the same call reuses; None is a cache folder.
    settings: protocol, removal, units, scope, target, scale, agreement, margin, seed and batch_tokens of `Evaluate`.
    """
    given = {"methods": methods, "metrics": metrics, "scores": _scores(scores), **settings}
    used = use_preset(preset, "evaluate", not_none(given), {} if limit is None else {"limit": limit})
    study = make_settings(Evaluate, used.settings)
    loaded, dataset = load_model(model), load_dataset(data, columns=columns, label_map=label_map)
    used, study = used.fit(study, loaded)
    used, dataset = used.examples(dataset, study.seed)
    with unsaid("length", "samples", "counts"):  # the result says these, also where records were there already
        records = run_study(study, "evaluate", loaded, dataset, store=store, progress=progress)
    result = Result(Evaluation.join(study.task(dataset, loaded), loaded, dataset, records, used.or_none))
    for warning in result.warnings:
        notice("result", warning)
    return result


def _scores(scores: Mapping[str, Any] | Sequence[str] | None) -> Any:
    """Scores made elsewhere, as the study takes them."""
    if not isinstance(scores, Mapping):
        return [str(scores)] if isinstance(scores, Path) else scores
    return [
        f"{name}={given}" if isinstance(given, str | Path) else given_scores(name, given)
        for name, given in scores.items()
    ]
