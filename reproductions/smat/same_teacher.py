"""Whether the teacher in a store, trained again on another machine, answers as the one of the packed records.

python -m reproductions.smat.same_teacher [--store ~/.cache/assay-smat/store]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from assay.experiments.archive import read_archive
from assay.experiments.plan import read_plan
from assay.experiments.store import Store
from assay.studies.simulate.tasks import AskTask

from .page import HERE, RECORDS, STORE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`")
    store = Store(parser.parse_args().store.expanduser())
    records = {item.record.key: item.record for item in read_archive(HERE / RECORDS)}
    cell = next(cell for cell in read_plan(HERE / "sst.yaml", store).cells if cell.name == "students")
    job = next(job for job in cell.jobs if isinstance(job.task, AskTask))
    model = cell.model.open(store.artifacts)
    parts, answers = job.task.room.parts(), records[job.key].rows["answers"]
    equal = sum(int(np.equal(job.task.answers(model, part), answers[name]).sum()) for name, part in parts.items())
    print(f"the same answer to {equal:,} of {sum(map(len, parts.values())):,} texts")


if __name__ == "__main__":
    main()
