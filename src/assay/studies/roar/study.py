"""The settings of ROAR and Recursive ROAR, and their jobs (Hooker et al. 2019; Madsen et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, parse
from assay.evaluation.roar.masks import Amount, By, amounts
from assay.experiments.job import Job, Task
from assay.experiments.references import TrainedModel
from assay.experiments.study import ReportContext, StudyContext, StudyReport
from assay.explainers import METHODS as CATALOGUE
from assay.explainers.methods import fit_jobs, learned_parts, named_methods
from assay.explainers.supported import supported
from assay.studies.roar.tasks import WORDS_ONLY, RankTask, RetrainTask, RoarData, UnmaskedTask
from assay.training.scratch import is_scratch

RANDOM = "random"
MEASURES = {  # the measures of Madsen et al. by their names; any other name is a method
    "attention": "average_attention",  # of a BiLSTM: its attention
    "gradient": "gradient(reduction=vocabulary)",
    "input_x_gradient": "gradient_x_input",
    "integrated_gradients": "integrated_gradients(steps=50, baseline=zero, rule=right)",
    "published_integrated_gradients": "weighted_integrated_gradients",
}
METHODS = ("attention", "gradient", "input_x_gradient", "integrated_gradients")


@dataclass(frozen=True)
class Roar:
    """Do models get worse when they are retrained without the words that a method ranks first?"""

    methods: tuple[str, ...] = METHODS
    """Measures of the paper (attention, gradient, input_x_gradient, integrated_gradients,
    published_integrated_gradients) or any method specs; random is always included."""
    recursive: bool = True
    """Rank the words again with each retrained model."""
    by: By = "share"
    """Mask a share (per cent) or a count of words."""
    step: int = 10
    """Per cent of words, or number of words, masked per step."""
    last: int | None = None
    """The last step. Default: 100 per cent, or 10 words."""
    signed: bool = False
    """Rank by signed scores instead of absolute values."""
    target: Literal["gold", "predicted"] = "gold"
    """Explain the gold or the predicted class. Masks chosen by the gold class may reveal it."""
    test: str = "test"
    """Split that the models are tested on."""
    test_limit: int | None = None
    """Test on a random subset of this many examples."""
    batch_tokens: int | None = None
    """Token positions per forward pass when explaining; affects speed and memory, not results."""

    needs_model_files: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.methods:
            raise SpecError("methods=[]: name at least one; random is always included")
        if self.target not in ("predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'predicted' or 'gold'")
        check_steps(self.specs, self.steps, self.step)  # an error of the plan, not of its jobs

    @cached_property
    def specs(self) -> dict[str, str]:
        """Method specs by the names they were given as; random comes first."""
        return specs_of(self.methods)

    @cached_property
    def steps(self) -> list[Amount]:
        """How much is masked at each step; everything masked is a run of its own."""
        return [amount for amount in amounts(self.by, self.step, self.last) if amount != Amount("share", 100)]

    @property
    def form(self) -> str:
        return "Recursive ROAR" if self.recursive else "ROAR"

    def jobs(self, context: StudyContext) -> list[Job]:
        """Per method: nothing masked, each step, everything masked. Methods share jobs where they can."""
        model, source = trained_model(context, self.test, self.test_limit)
        check_family(self.specs, source.training.train)
        if self.recursive:
            why = "Recursive ROAR ranks words with retrained models; rank once (recursive: false)"
            check_other_models(self.specs, why)
        maker = _JobMaker(self, context, model, source)
        return [job for name in self.specs for job in maker.method(name)]

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.roar.report import report

        return report(context)


def specs_of(methods: tuple[str, ...]) -> dict[str, str]:
    """Method specs by the names they were given as; random comes first."""
    names = [RANDOM, *(name for name in methods if name != RANDOM)]
    specs = {name: MEASURES.get(name, name) for name in names}
    for name in specs:
        if name not in MEASURES and (head := parse(name).name) not in CATALOGUE.names:
            raise SpecError(f"unknown method {head!r}; {nearest(head, [*MEASURES, *CATALOGUE.names])}")
    titles = named_methods(specs.values())  # of fitted explainers: without folders and keys
    pairs = zip(specs.items(), titles.items(), strict=True)
    return {title if learned_parts(method) else name: spec for (name, spec), (title, method) in pairs}


def check_steps(specs: Mapping[str, str], steps: Sequence[Amount], step: int) -> None:
    """Refuse settings without a step between nothing and everything masked."""
    if not steps and set(specs) > {RANDOM}:
        raise SpecError(f"step={step} leaves no step between nothing and everything masked; give at most 50 per cent")


def check_family(specs: Mapping[str, str], base: str) -> None:
    """Refuse methods that do not support the family before anything is trained."""
    family = (
        parse(base).name if is_scratch(base) else None
    )  # that of a pretrained folder is known only once it is loaded
    for name, spec in specs.items():
        if family is not None and (why := supported(parse(spec).name).get(family)):
            raise SpecError(f"{name} does not work on {family}: {why}")


def check_other_models(specs: Mapping[str, str], why: str) -> None:
    """Refuse explainers that were fitted to one model where others are explained, unless they may explain any."""
    for name, method in named_methods(specs.values()).items():
        if any(not part.any_model for part in learned_parts(method)):
            raise SpecError(
                f"{name} was fitted to one model. {why}, leave it out, or allow other models (any_model=True)"
            )


def trained_model(context: StudyContext, test: str, test_limit: int | None) -> tuple[TrainedModel, RoarData]:
    """The model, which the plan must train, with its three splits."""
    model = context.model
    if not isinstance(model, TrainedModel) or model.training is None:
        raise SpecError(
            f"ROAR retrains its models, but {model.name} is loaded. Use `train:` and `on:` instead of `load:`."
        )
    train = model.training.splits()[0]
    if train.inputs == "images":
        raise SpecError(WORDS_ONLY)
    if (model.training.task or train.task) != "classification":
        raise SpecError("ROAR needs a classifier; this model predicts scores.")
    return model, RoarData(model.training, test, test_limit)


@dataclass(frozen=True)
class _JobMaker:
    """Makes the jobs of one model (one seed) on one data set."""

    study: Roar
    context: StudyContext
    model: TrainedModel
    source: RoarData

    def method(self, name: str) -> list[Job]:
        """Test the unmasked model, then rank and retrain step by step, then mask everything.

        With recursion every step has its own ranking; without, all steps share one.
        """
        out = [self.unmasked(name)]
        rerank = self.study.recursive and name != RANDOM  # random scores need no model
        key, before, rank = self.model.key, None, None
        for amount in self.study.steps:
            if rank is None or rerank:
                rank = self.rank(name, key, before, amount)
                out.append(rank)
            step = self.retrain(name, amount, rank.key)
            key, before = step.key, (rank.key, amount)
            out.append(step)
        return [*out, self.retrain(name, None, None)]

    def unmasked(self, name: str) -> Job:
        spec = {
            "kind": "roar_test",
            "revision": UnmaskedTask.revision,
            "test": self.test,
            "limit": self.study.test_limit,
        }
        return self._job(UnmaskedTask(self.source, self.model.key), spec, (self.model.key,), name, 0)

    def rank(self, name: str, key: str, before: tuple[str, Amount] | None, amount: Amount) -> Job:
        method, seed = self.study.specs[name], self.source.training.seed
        extra = () if before is None else (before[0],)
        (full,) = named_methods([method]).values()
        target = self.study.target if full.facts.class_dependent else "gold"  # class-independent methods share jobs
        task = RankTask(self.source, method, key, before, self.study.signed, target, seed, self.study.batch_tokens)
        spec = {
            "kind": "roar_rank",
            "revision": RankTask.revision,
            "method": [str(Spec.of(full)), full.facts.revision],
            "before": None if before is None else [before[1].by, before[1].k],
            "model": key,
            "signed": self.study.signed,
            "target": target,
            "seed": seed,
            "test": self.test,
        }
        return self._job(
            task, spec, (key, *extra, *fit_jobs([full])), name, f"ranks for {amount.k}", artifact=True, temporary=True
        )

    def retrain(self, name: str, amount: Amount | None, rank: str | None) -> Job:
        spec = {
            "kind": "roar_retrain",
            "revision": RetrainTask.revision,
            "training": self.source.training.job({}).spec,
            "amount": None if amount is None else [amount.by, amount.k],
            "rank": rank,
            "test": self.test,
        }
        task, needs = RetrainTask(self.source, amount, rank), () if rank is None else (rank,)
        masked = "all" if amount is None else amount.k
        return self._job(task, spec, needs, name, masked, artifact=True, temporary=True)

    @cached_property
    def test(self) -> str:
        return self.source.test_split().fingerprint

    def _job(
        self, task: Task, spec: dict[str, Any], needs: tuple[str, ...], name: str, masked: Any, **options: Any
    ) -> Job:
        tags = {**self.context.tags, "method": name, "masked": masked, "recursive": self.study.recursive}
        return Job(task, spec, tags, self.model, self.context.data, None, needs, **options)
