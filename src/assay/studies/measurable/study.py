"""The settings of a measurable model and its jobs: ROAR's curves without retraining (Madsen et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from assay.core.errors import SpecError
from assay.core.spec import Spec
from assay.evaluation.roar.masks import Amount, By, amounts
from assay.experiments.job import Job
from assay.experiments.study import ReportContext, StudyContext, StudyReport
from assay.experiments.training_task import KEPT_FILES
from assay.explainers.methods import fit_jobs, named_methods
from assay.studies.measurable.tasks import CurveTask, MaskedFinetuningTask
from assay.studies.roar.study import (
    METHODS,
    RANDOM,
    check_family,
    check_other_models,
    check_steps,
    specs_of,
    trained_model,
)
from assay.studies.roar.tasks import RankTask, RoarData


@dataclass(frozen=True)
class Measurable:
    """ROAR's curves from one model fine-tuned with masks: half of each batch is masked by a share from U(0, 1).

    Words are ranked again after each step, by the same model. A test (MaSF) counts the masked inputs that are
    out of distribution for the model; about 5 % are expected.
    """

    methods: tuple[str, ...] = METHODS
    """Measures of the paper or any method specs; random is always included."""
    step: int = 10
    """Per cent of words masked per step."""
    signed: bool = False
    """Rank by signed scores instead of absolute values."""
    target: Literal["gold", "predicted"] = "gold"
    """Explain the gold or the predicted class."""
    test: str = "test"
    """Split that the model is tested on."""
    test_limit: int | None = None
    """Test on a random subset of this many examples."""
    batch_tokens: int | None = None
    """Token positions per forward pass when explaining; affects speed and memory, not results."""

    needs_model_files: ClassVar[bool] = False
    by: ClassVar[By] = "share"
    recursive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.methods:
            raise SpecError("methods=[]: name at least one; random is always included")
        if self.target not in ("predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'predicted' or 'gold'")
        check_steps(self.specs, self.steps, self.step)

    @cached_property
    def specs(self) -> dict[str, str]:
        return specs_of(self.methods)

    @cached_property
    def steps(self) -> list[Amount]:
        return [amount for amount in amounts("share", self.step, None) if amount.k != 100]

    @property
    def form(self) -> str:
        return "Measurable model"

    def jobs(self, context: StudyContext) -> list[Job]:
        """One training, then a job per method."""
        model, source = trained_model(context, self.test, self.test_limit)
        check_family(self.specs, source.training.train)
        check_other_models(self.specs, "A measurable model is fine-tuned with masks first, which makes it another one")
        spec = {
            "kind": "measurable_train",
            "revision": MaskedFinetuningTask.revision,
            "training": source.training.job({}).spec,
        }
        tags = {**context.tags, "method": RANDOM, "masked": "training"}
        training = Job(
            MaskedFinetuningTask(source),
            spec,
            tags,
            model,
            context.data,
            artifact=True,
            kept_files=KEPT_FILES,
            temporary=True,
        )
        return [training, *(self._curve(context, source, name, training) for name in self.specs)]

    def _curve(self, context: StudyContext, source: RoarData, name: str, training: Job) -> Job:
        method, seed = self.specs[name], source.training.seed
        rank = RankTask(source, method, training.key, None, self.signed, self.target, seed, self.batch_tokens)
        (full,) = named_methods([method]).values()
        spec = {
            "kind": "measurable_curve",
            "revision": CurveTask.revision,
            "method": [str(Spec.of(full)), full.facts.revision],
            "steps": [amount.k for amount in self.steps],
            "signed": self.signed,
            "target": self.target,
            "seed": seed,
            "test": source.test_split().fingerprint,
        }
        tags = {**context.tags, "method": name, "masked": "curve"}
        task = CurveTask(rank, tuple(self.steps), rerank=name != RANDOM)
        return Job(task, spec, tags, context.model, context.data, None, (training.key, *fit_jobs([full])))

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.roar.report import report

        return report(context)
