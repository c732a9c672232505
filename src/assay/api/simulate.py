"""assay.simulate: do explanations help a student to predict what a teacher says?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.api.plan_data import plan_data
from assay.api.settings import not_none
from assay.core.errors import SpecError
from assay.core.notices import said_once
from assay.core.spec import as_list
from assay.datasets.columns import ColumnMap, as_columns
from assay.experiments.engines import make_engine
from assay.experiments.plan import Plan, make_plan
from assay.experiments.references import without_folders
from assay.experiments.runner import Watch, run_plan
from assay.experiments.store import Store, open_store
from assay.experiments.yaml_node import YamlNode
from assay.models.load import check_exists
from assay.studies.simulate.result import Simulated, simulated
from assay.training.students import UNTRAINED


@said_once
def simulate(
    teacher: str,
    data: str,
    methods: Sequence[str] | str | None = None,
    student: str | None = None,
    *,
    store: str | Path | Store | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Simulated:
    """Train students on a teacher's answers, with and without its explanations, and compare them. Rerun to resume.

    teacher: folder or hub id of a classifier or scorer. data: a file, folder, hub id or spec of texts that the teacher
    was not trained on; it is divided into students' texts, outer loss, early stopping and test, and needs no labels.
    methods: specs; none, uniform and each method's explanations shuffled over the tokens are always run beside them.
    student: folder or hub id of the student's pretrained weights, or "untrained"; None: what the teacher was trained
    from. engine, workers, address, threads: as
    in `run`. settings: see `simulate_plan`.
    """
    runner = make_engine(engine, workers=workers, address=address, threads=threads)
    opened = open_store(store)
    plan = simulate_plan(teacher, data, methods, student, store=opened, **settings)
    status = run_plan(plan, opened, runner, progress=progress, watch=watch)
    return simulated(plan.cells, opened, status)


def simulate_plan(
    teacher: str,
    data: str,
    methods: Sequence[str] | str | None = None,
    student: str | None = None,
    *,
    store: str | Path | Store | None = None,
    split: str | None = None,
    columns: ColumnMap | str | None = None,
    limit: int | None = None,
    **settings: Any,
) -> Plan:
    """The plan that `simulate` runs.

    split, columns, limit: of the data, as in `load_dataset`. settings: sizes, seeds, recipe, beta, temperature, betas,
    subsets, normaliser, max_length, data_seed, batch_tokens of the study `Simulate`.
    """
    for name, value in (("teacher", teacher), ("data", data)):
        if not isinstance(value, str | Path):
            raise SpecError(
                f"simulate reads its {name} by name, not from a {type(value).__name__}; save it in a folder"
            )
    for model in (teacher, student):
        if model not in (None, UNTRAINED):
            check_exists(str(model))
    given = {"methods": None if methods is None else as_list(methods), "student": student, **settings}
    name = without_folders(str(data))
    content = {
        "name": "simulate",
        "data": {name: plan_data(str(data), as_columns(columns), split=split, limit=limit)},
        "models": {without_folders(str(teacher)): {"load": str(teacher)}},
        "studies": {"simulate": {"kind": "simulate", **not_none(given)}},
    }
    return make_plan(YamlNode("simulate", "simulate", content), open_store(store))
