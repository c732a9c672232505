"""The settings of the attack as a study, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from assay.core.default import Default
from assay.evaluation.adversarial.top_k_attack import TopKAttack

if TYPE_CHECKING:
    from assay.experiments.job import Job
    from assay.experiments.study import ReportContext, StudyContext, StudyReport
    from assay.models.model import Model

HEAT_MAPS = ("original", "attacked", "curve")  # columns of its rows

LIMIT = Default(16)  # examples


@dataclass(frozen=True)
class Attack(TopKAttack):
    """Can an explanation be changed while the prediction stays the same?"""

    needs_model_files: ClassVar[bool] = True

    def steps_per_example(self, model: Model) -> int:
        return len(self.methods) * len(self.objectives) * self.steps

    def jobs(self, context: StudyContext) -> list[Job]:
        from assay.experiments.direct_task import DirectTask, direct_jobs

        return direct_jobs("attack", DirectTask(self, HEAT_MAPS), context)

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.attack.report import report

        return report(context)
