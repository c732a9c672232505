"""The settings of an evaluation, and its jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from assay.core.errors import SpecError
from assay.core.ranges import COUNT, check_range
from assay.core.types import Scale, SpecialTokens, Target

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.experiments.job import Job
    from assay.experiments.study import ReportContext, StudyContext, StudyReport
    from assay.explainers.given import Given
    from assay.models.model import Model
    from assay.studies.evaluate.task import EvaluateTask

SHOWN = 10  # examples whose attributions the report shows
METHODS = (
    "integrated_gradients",
    "kernel_shap(samples=128)",
    "lime(samples=128)",
    "occlusion",
    "gradient_x_input",
    "attention_rollout",
    "average_attention",
    "random",
)
METRICS = ("sufficiency", "comprehensiveness", "log_odds")
PLAUSIBILITY = ("auprc", "token_f1")  # added where the data have rationales


@dataclass(frozen=True)
class Evaluate:
    """Which explanation method is faithful for this model on these data?"""

    methods: tuple[str, ...] | None = None
    """Explanation methods to compare; `assay list methods` shows all. Default: eight common ones; of a model behind a
    function, those that need only its answers."""
    scores: tuple[str, ...] = field(default=(), metadata={"repeats": True})
    """Scores made elsewhere, to judge beside the methods: JSON Lines files, each as path or name=path."""
    metrics: tuple[str, ...] | None = None
    """Metrics to compare them by. Default: faithfulness, and plausibility where the data have rationales."""
    protocol: str = "eraser"
    """How faithfulness metrics remove units: eraser, thesis, aml or aml_code."""
    removal: str | None = None
    """How methods remove units: mask_token, delete, pad, unk, zero, random_token, mean_colour. Default: the model's."""
    units: str = "token"
    """What is scored: token, word, sentence or patch."""
    special_tokens: SpecialTokens = field(default="protected", metadata={"unsaid": "protected"})
    """Whether [CLS], [SEP], </s>, ... are protected (never scored or removed) or ranked, as units of their own."""
    scope: int | str | None = None
    """Score only 'text' or only 'text_pair'."""
    target: Literal["auto", "predicted", "gold"] = "auto"
    """Class to explain; auto: the gold class for metrics that use rationales, the predicted class for all others."""
    scale: Scale | None = None
    """Explain the probability, logit, ... of the class. Default: each method's own scale."""
    agreement: str = "spearman"
    """How to compare the scores of two methods: spearman, kendall or top_k_overlap."""
    margin: float | None = None
    """Smallest difference between methods that matters. Default: that of the metric, mostly 0.01."""
    draws: int = 10
    """Draws of a method of pure chance (random), over which each of its metrics is averaged."""
    seed: int = 0
    """Seed of everything random."""
    batch_tokens: int | None = None
    """Token positions per forward pass; affects speed and memory, not results."""

    needs_model_files: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.target not in ("auto", "predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'auto', 'predicted' or 'gold'")
        check_range("draws", self.draws, COUNT)
        if self.margin is not None and not 0 <= self.margin < math.inf:
            raise SpecError(f"margin={self.margin}: give the smallest difference that matters, 0 or more")
        for name in ("methods", "metrics"):
            if getattr(self, name) is not None and not getattr(self, name):
                raise SpecError(f"{name}=[]: name at least one of `assay list {name}`, or leave it out for the default")
        Target(scale=self.scale)  # checks its name
        _ = self.resolved_methods(None), self.resolved_metrics(rationales=False), self.resolved_agreement  # check names

    def resolved_methods(self, model: Model | None) -> dict[str, Any]:
        """Method objects by their specs, after the scores made elsewhere, which fail early if they lack a class.

        The default leaves out what the model does not let see.
        """
        from assay.explainers.methods import looks_inside, named_methods, with_baseline

        methods = named_methods(METHODS if self.methods is None else self.methods)
        if self.methods is None and model is not None and model.family.opaque:
            methods = {name: method for name, method in methods.items() if not looks_inside(method)}
        own = {name: with_baseline(method, self.removal) for name, method in methods.items()}
        return {**self.resolved_scores, **own}

    @cached_property
    def resolved_scores(self) -> dict[str, Given]:
        """Scores made elsewhere by their names."""
        from assay.explainers.given import named_scores

        return named_scores(self.scores)

    @cached_property
    def resolved_agreement(self) -> Any:
        from assay.evaluation import AGREEMENT

        return AGREEMENT.make(self.agreement)

    def resolved_metrics(self, *, rationales: bool) -> dict[str, Any]:
        """Metric objects by their short specs; the default depends on whether the data have rationales."""
        from assay.core.spec import Spec
        from assay.evaluation.metrics import make_metric

        default = (*METRICS, *PLAUSIBILITY) if rationales else METRICS
        specs = default if self.metrics is None else self.metrics
        metrics = [make_metric(spec, self.protocol) for spec in specs]
        return {str(Spec.of(m, full=False)): m for m in metrics}

    def steps_per_example(self, model: Model) -> int:
        return len(self.resolved_methods(model))

    def task(self, data: Dataset, model: Model | None) -> EvaluateTask:
        """The settings with methods and metrics resolved for a model (None: yet to be trained) and these data."""
        from assay.studies.evaluate.task import EvaluateTask

        for scores in self.resolved_scores.values():
            scores.check(data)
        metrics = self.resolved_metrics(rationales=any(example.rationales for example in data))
        return EvaluateTask(self, self.resolved_methods(model), metrics, self.resolved_agreement)

    def jobs(self, context: StudyContext) -> list[Job]:
        model = context.loaded_model()
        task = self.task(context.data.load(), model)
        jobs = context.jobs_per_slice(task, task.spec(context.identity(), model))
        return [replace(job, spec={**job.spec, "shown": max(0, SHOWN - (job.part or (0, 0))[0])}) for job in jobs]

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.evaluate.report import report

        return report(context)
