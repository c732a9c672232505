"""assay.create_study: prepare a study in which people judge explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.api.evaluate import evaluate
from assay.api.settings import make_settings, not_none
from assay.core.errors import SpecError
from assay.core.files import check_folder_writable
from assay.core.locks import only_writer
from assay.core.notices import said_once
from assay.core.spec import as_list
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset
from assay.explainers.methods import named_methods
from assay.explainers.session import Session
from assay.human.folder import StudyFolder, finish_folder, start_folder
from assay.human.prepare import PART, Chosen, check_kind, codes_of, prepare_items, study_id, with_metrics
from assay.human.ready_study import METHODS, ReadyStudy, ready_study
from assay.human.settings import HumanStudy
from assay.models.load import load_model


@said_once
def create_study(
    model: Any,
    data: Any,
    output: str | Path,
    methods: Sequence[Any] | str | None = None,
    *,
    ready: str | Path | None = None,
    add: Sequence[Any] | str = (),
    examples: int | None = None,
    title: str | None = None,
    metrics: Sequence[str] | str = (),
    units: str | None = None,
    removal: str | None = None,
    scope: int | str | None = None,
    columns: ColumnMap | str | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> StudyFolder:
    """Explain examples with several methods, and write what participants will see. Call it again to resume.

    output: a folder of its own; one that holds another study is refused. ready: the methods and settings of a published
    study, "cifar10", or a YAML file; what is given beside it takes precedence, and `add` are further methods. examples:
    how many are judged, drawn at random; 100 by default. metrics: automatic metrics of the same explanations, such as
    "comprehensiveness,sufficiency", to set beside the judgements. units: "word" by default, "patch" for images.
    settings: those of `HumanStudy`: kind, question, consent, colours, order, annotators, per_participant, repeats,
    practice, seed, ...
    """
    base = ReadyStudy("default", METHODS) if ready is None else ready_study(ready)
    study, folder = make_settings(HumanStudy, {**base.settings, **not_none(settings)}), Path(output)
    loaded, dataset = load_model(model), load_dataset(data, columns=columns)
    check_kind(study, loaded.task)
    added = as_list(add) if add else []
    given = [*as_list(methods), *added] if methods is not None else base.with_added(added)
    named = named_methods(given)
    study.check_methods(len(named))
    kind = units or ("patch" if loaded.family.images else "word")
    session = Session.create(loaded, named, kind, removal, scope, study.seed)
    chosen, wanted = (
        Chosen.of(dataset, base.examples if examples is None else examples, study),
        as_list(metrics) if metrics else [],
    )
    judged = replace(dataset, examples=chosen.examples)
    names = codes_of(list(named), study.seed)
    head = {
        "id": study_id(session, replace(dataset, examples=(*chosen.practice, *chosen.examples)), study, wanted),
        "title": title or base.title or f"{loaded.title} on {dataset.name or 'a list'}",
        "settings": study.to_dict(),
        "codes": list(names),
        "unsigned": [code for code, name in names.items() if not named[name].facts.signed],
    }
    check_folder_writable(folder.absolute().parent)
    with only_writer(folder.absolute().with_name(f"{folder.name}.lock"), str(folder)):
        if not start_folder(folder, head, names):
            items = prepare_items(folder, session, chosen, names, progress=progress)
            asked = {"units": kind, "removal": removal, "scope": scope, "seed": study.seed}
            values, better = _metrics(loaded, judged, given, wanted, store, progress, asked)
            finish_folder(folder, with_metrics(items, values, names), better)
            (folder / PART).unlink(missing_ok=True)
    return StudyFolder.open(folder)


def _metrics(
    model: Any,
    data: Dataset,
    methods: Sequence[Any],
    metrics: Sequence[str],
    store: str | Path | None,
    progress: bool | None,
    settings: Mapping[str, Any],
) -> tuple[dict[str, dict[str, list[float]]], dict[str, str]]:
    """Values by metric and method, and which direction is better."""
    if not metrics:
        return {}, {}
    evaluation = evaluate(model, data, methods, metrics, store=store, progress=progress, **settings).evaluation
    if len(evaluation.examples) != len(data):
        raise SpecError("some examples cannot be evaluated; leave them out of the data, or create without metrics")
    values = {m: {k: [float(v) for v in row] for k, row in by.items()} for m, by in evaluation.values.items()}
    return values, {name: metric.facts.better for name, metric in evaluation.metrics.items()}
