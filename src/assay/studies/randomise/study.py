"""The settings of layer randomisation as a study, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from assay.core.default import Default
from assay.evaluation.sanity.layer_randomisation import LayerRandomisation

if TYPE_CHECKING:
    from assay.experiments.job import Job
    from assay.experiments.study import ReportContext, StudyContext, StudyReport
    from assay.models.model import Model

LIMIT = Default(50)  # examples


@dataclass(frozen=True)
class Randomise(LayerRandomisation):
    """Do explanations change when blocks of the model are re-initialised?"""

    needs_model_files: ClassVar[bool] = True

    def steps_per_example(self, model: Model) -> int:
        return len(self.methods) * (1 + len(self.steps(model.n_blocks)) * len(self.seeds))

    def jobs(self, context: StudyContext) -> list[Job]:
        from assay.experiments.direct_task import DirectTask, direct_jobs

        return direct_jobs("randomise", DirectTask(self), context)

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.randomise.report import report

        return report(context)
