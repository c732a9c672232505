"""The settings of the study, and its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from assay.core.spec import Spec
from assay.evaluation.adversarial.top_k_attack import TopKAttack
from assay.experiments.job import Job, JobContext, Row
from assay.experiments.study import ReportContext, StudyContext, StudyReport

if TYPE_CHECKING:
    from assay.models.model import Model

HEAT_MAPS = ("original", "attacked", "curve")  # in the rows of a study, but not numbers


@dataclass(frozen=True)
class Attack(TopKAttack):
    needs_model_files: ClassVar[bool] = True

    def steps_per_example(self, model: Model) -> int:
        return 1

    def jobs(self, context: StudyContext) -> list[Job]:
        spec = {"kind": "attack", **context.identity(), "settings": str(Spec.of(self)), "revision": self.revision}
        return context.jobs_per_slice(AttackTask(self), spec)

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.attack.report import report

        return report(context)


@dataclass(frozen=True)
class AttackTask:
    settings: Attack
    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> list[Row]:
        examples = context.examples()
        rows = self.settings.run(context.model(), [example for _, example in examples], progress=False)
        context.bar.advance(len(examples))
        return rows

    def tidy(self, rows: Any) -> Iterator[Row]:
        """Without heat maps; the study's own seed is not the training's."""
        for row in rows:
            numbers = {name: value for name, value in row.items() if name not in HEAT_MAPS}
            yield {"study_seed" if name == "seed" else name: value for name, value in numbers.items()}
