"""The settings of simulability and its jobs (Fernandes et al. 2022, with controls that the paper lacks)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from assay.core.errors import SpecError
from assay.core.ranges import COUNT, POSITIVE, Range, check_range
from assay.core.spec import Spec, parse
from assay.datasets.dataset import Dataset
from assay.experiments.job import Job, Task
from assay.experiments.references import ExternalModel, TrainedModel
from assay.experiments.study import ReportContext, StudyContext, StudyReport
from assay.explainers.learned.parts.seen import count_seen
from assay.explainers.methods import named_methods
from assay.explainers.protocols import Learned
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.models.head_weights import Normaliser
from assay.studies.simulate.explained import Lesson
from assay.studies.simulate.scaffold import OWN, ScaffoldTask, fit_settings, is_fit
from assay.studies.simulate.student import StudentModel
from assay.studies.simulate.tasks import AskTask, Classroom, ExplainTask, StudentTask, Subsets
from assay.training.four_splits import FourSplits
from assay.training.recipe import Recipe
from assay.training.scratch import is_scratch
from assay.training.students import UNTRAINED, check_pair, student_base

NONE, UNIFORM = "none", "uniform"
CARRIED = 2  # revision of how shares reach a student that reads other tokens
SHUFFLED = "shuffled "  # before the name of the method that a control stands beside
METHODS = (
    "attention_logits",
    "attention_logits(layer=-1)",
    "gradient",
    "gradient_x_input",
    "integrated_gradients(steps=10, baseline=zero)",
)
# SGD as in the paper (clip 5, weight decay .01 on everything, best epoch by simulability), at ten times its rate: with
# 0.005, small students do not learn within these epochs
RECIPE = (
    "recipe(epochs=25, batch_size=32, learning_rate=0.05, optimiser=sgd, weight_decay=0.01, groups=[], "
    "schedule=constant, warmup=0, clip=5.0, patience=10)"
)
TRIAL_SEED = 10_000  # of the students that try values of beta; never a seed of the result
PAPER = {  # beta and temperature of the methods that the paper has; None: scores are shares already
    "attention_logits": (5.0, None),
    "scaffold": (5.0, None),
    "gradient": (0.2, 1.0),
    "gradient_x_input": (0.2, 0.1),
    "integrated_gradients": (0.2, 0.5),
}


@dataclass(frozen=True)
class Simulate:
    """Do explanations help a student to predict what the teacher says about texts that nobody explains to it?"""

    methods: tuple[str, ...] = METHODS
    """Method specs; scaffold without a folder is fitted on the texts of each student. Always run beside them: none,
    uniform, and each method's explanations shuffled over the tokens."""
    student: str | None = None
    """Folder or hub id of the student's pretrained weights, or 'untrained' for the teacher's architecture with new
    weights. Default: what the teacher was trained from, if the plan trains it or its folder says so."""
    sizes: tuple[int, ...] = (500, 1000)
    """Numbers of texts that students learn from."""
    seeds: int = 10
    """Students per method and size; fewer than 6 give no verdict, nor fewer than 8 on five methods."""
    recipe: str = RECIPE
    """How students are trained."""
    beta: float | None = None
    """Weight of the explanation in the student's loss. Default: the paper's, or chosen on the early-stopping texts."""
    temperature: float | None = None
    """Temperature of the softmax over a method's scores. Default: the paper's, or the spread of the scores."""
    betas: tuple[float, ...] = (0.2, 1.0, 5.0)
    """Weights to choose from for methods that the paper does not have, with one student each."""
    subsets: Subsets = "resampled"
    """Whether each seed draws its own texts, or all have the same, as in the paper (nested)."""
    normaliser: Normaliser = "sparsemax"
    """How the student's head weights are normalised."""
    max_length: int | None = None
    """Truncate the student's inputs to this many tokens. Default: the teacher's limit."""
    data_seed: int = 0
    """Seed of the four splits."""
    batch_tokens: int | None = None
    """Token positions per forward pass when explaining; affects speed and memory, not results."""

    needs_model_files: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if Recipe.from_spec(self.recipe).head is not None:
            raise SpecError("recipe(head=...): students have the head of their teacher; leave head out")
        check_range("seeds", self.seeds, COUNT)
        check_range("beta", self.beta, POSITIVE)
        check_range("temperature", self.temperature, POSITIVE)
        check_range("max_length", self.max_length, Range(4, whole=True))
        for name, values, allowed in (("sizes", self.sizes, COUNT), ("betas", self.betas, POSITIVE)):
            if not values:
                raise SpecError(f"{name}=[]: give at least one")
            for value in values:
                check_range(name, value, allowed)
        if len(self.named) < len(self._asked):
            raise SpecError(f"methods={list(self._asked)}: two of them have the same name; rename a folder")
        specs = [*(str(Spec.of(method)) for method in self.named.values()), *map(str, self.fits.values())]
        if len(set(specs)) < len(specs):
            raise SpecError(f"methods={self._given}: two of them are the same method; leave one out")

    @cached_property
    def named(self) -> dict[str, Any]:
        """Methods by their names; the controls none and uniform are always there and need not be named."""
        return {name: method for m in self._asked for name, method in named_methods([m]).items()}

    @cached_property
    def specs(self) -> dict[str, str]:
        """The specs as they were given, by the names of the methods, which leave out folders."""
        return {name: m for m in self._asked for name in named_methods([m])}

    @property
    def _asked(self) -> list[str]:
        return [m for m in self._given if not is_fit(m)]

    @property
    def _given(self) -> list[str]:
        return list(dict.fromkeys(m for m in self.methods if m not in (NONE, UNIFORM)))

    @property
    def fits(self) -> dict[str, ScaffoldFit]:
        """Explainers that the study fits itself, on the texts of each student."""
        recipe = Recipe.from_spec(self.recipe)
        given = [m for m in self._given if is_fit(m)]
        return {m: fit_settings(m, self.student or "", recipe, self.normaliser) for m in given}

    @property
    def controls(self) -> dict[str, str]:
        """The control that each method stands beside; random explanations are a control themselves.

        A student that learnt while heads were found has none: its explanations changed at every step.
        """
        fixed = {name: SHUFFLED + name for name, method in self.named.items() if not method.facts.chance}
        return fixed | {name: SHUFFLED + name for name in self.fits}

    def jobs(self, context: StudyContext) -> list[Job]:
        """Ask the teacher, explain once per method, then a student per explanation, size and seed."""
        return list(_JobMaker(self, context).jobs())

    def report(self, context: ReportContext) -> StudyReport:
        from assay.studies.simulate.report import report

        return report(context)


def check_unseen(name: str, method: Any, test: Dataset) -> None:
    """Refuse an explainer that was fitted on test texts: its students would know more than they should."""
    card = method.card if isinstance(method, Learned) and hasattr(method, "card") else {}
    if seen := count_seen(card, test):
        raise SpecError(
            f"{name} was fitted on {seen} of the {len(test)} test texts; fit it on other texts (another split), or let "
            "the study fit it: write scaffold without a folder"
        )


@dataclass(frozen=True)
class _JobMaker:
    """Makes the jobs of one teacher on one data set."""

    study: Simulate
    context: StudyContext

    def jobs(self) -> Iterator[Job]:
        _ = self.student  # refused before anything runs
        yield self.asked
        for name, method in self.study.named.items():
            check_unseen(name, method, self.splits.test)
            explained = self._explain(name, method)
            yield explained
            rule = self._rule(method)
            controls = (None,) if method.facts.chance else (None, "shuffled")
            for control in controls:
                shown = SHUFFLED + name if control else name
                yield from self._students(shown, explained, Lesson(*rule[1:], control), rule[0], name)
        for name, settings in self.study.fits.items():
            yield from self._scaffolds(name, settings)
        yield from self._students(NONE, None, Lesson(None), 0.0)
        yield from self._students(UNIFORM, None, Lesson(None, control="uniform"), self.study.beta)

    def _scaffolds(self, name: str, settings: ScaffoldFit) -> Iterator[Job]:
        """For each student a fit of its own, then fresh students taught by the frozen heads and by shuffled ones."""
        for size in self.study.sizes:
            for seed in range(self.study.seeds):
                fit = self._scaffold(name, replace(settings, student=self.student.base), size, seed)
                yield fit
                for control in (None, "shuffled"):
                    shown = SHUFFLED + name if control else name
                    lesson = Lesson(None, control=control)
                    yield self._student(shown, fit, lesson, settings.beta, size, seed, last=False, alone=True)

    def _scaffold(self, name: str, settings: ScaffoldFit, size: int, seed: int) -> Job:
        task = ScaffoldTask(self.room, settings, size, seed, self.asked.key)
        spec = {
            **task.spec,
            "student": self.student.identity,
            "size": size,
            "seed": seed,
            "subsets": self.study.subsets,
            "texts": self.texts,
            "outer": self.splits.outer.fingerprint,
        }
        tags = {"method": name + OWN, "size": size, "seed": seed, "step": "student"}
        return self._job(task, spec, tags, (*self.context.needs, self.asked.key), artifact=True, keep=True)

    @cached_property
    def room(self) -> Classroom:
        study = self.study
        seeds = (*range(study.seeds), TRIAL_SEED)
        return Classroom(self.context.data, study.sizes, seeds, study.subsets, study.data_seed)

    @cached_property
    def splits(self) -> FourSplits:
        return self.room.splits()

    @cached_property
    def texts(self) -> dict[str, str]:
        return self.room.fingerprint

    @cached_property
    def student(self) -> StudentModel:
        base, model = self.study.student, self.context.model
        if base is None and isinstance(model, TrainedModel) and model.training is not None:
            base = UNTRAINED if is_scratch(str(model.training.train)) else str(model.training.train)
        teacher = model.source if isinstance(model, ExternalModel) else model.name
        base = student_base(base, teacher)
        if isinstance(model, ExternalModel) and model.prompt is None:
            check_pair(teacher, base, same_tokens=bool(self.study.fits))
        return StudentModel(base, self.study.normaliser, self.study.max_length)

    @cached_property
    def asked(self) -> Job:
        spec = {
            "kind": "simulate_ask",
            "revision": AskTask.revision,
            **self.context.identity(),
            "texts": self.texts,
        }
        return self._job(AskTask(self.room, self.study.batch_tokens), spec, {"step": "ask"}, self.context.needs)

    def _explain(self, name: str, method: Any) -> Job:
        spec = {
            "kind": "simulate_explain",
            "revision": ExplainTask.revision,
            "method": [str(Spec.of(method)), method.facts.revision],
            **self.context.identity(),
            "texts": self.texts["students"],
        }
        task = ExplainTask(self.room, self.study.specs[name], 0, self.study.batch_tokens)
        return self._job(task, spec, {"method": name, "step": "explain"}, self.context.needs, artifact=True, keep=True)

    def _rule(self, method: Any) -> tuple[float | None, float | None, bool]:
        """beta (None: try some), temperature, and whether that is relative to the spread of the scores."""
        name = parse(str(Spec.of(method))).name
        beta, temperature = PAPER.get(name, (None, 1.0 if method.facts.signed or method.facts.chance else None))
        relative = name not in PAPER and self.study.temperature is None
        beta = self.study.beta if self.study.beta is not None else beta
        return beta, self.study.temperature or temperature, relative

    def _students(
        self, shown: str, explained: Job | None, lesson: Lesson, beta: float | None, method: str | None = None
    ) -> Iterator[Job]:
        last = method is not None and getattr(self.study.named[method], "layer", None) == -1
        trials: tuple[Job, ...] = ()
        if beta is None:
            size = min(self.study.sizes)
            trials = tuple(
                self._student(f"{shown}, beta {b:g}", explained, lesson, b, size, TRIAL_SEED, last=last)
                for b in self.study.betas
            )
            yield from trials
        for size in self.study.sizes:
            for seed in range(self.study.seeds):
                yield self._student(shown, explained, lesson, beta, size, seed, trials, last=last)

    def _student(
        self,
        shown: str,
        explained: Job | None,
        lesson: Lesson,
        beta: float | None,
        size: int,
        seed: int,
        trials: tuple[Job, ...] = (),
        *,
        last: bool,
        alone: bool = False,
    ) -> Job:
        lesson = Lesson(lesson.temperature, lesson.relative, lesson.control, seed)
        tried = tuple(zip(self.study.betas, (job.key for job in trials), strict=False))
        key = None if explained is None else explained.key
        task = StudentTask(
            self.room,
            self.student,
            self.study.recipe,
            size,
            seed,
            self.asked.key,
            key,
            lesson,
            beta or 0.0,
            tried,
            last,
            alone,
        )
        spec = self._spec_of(task, beta)
        needs = (*self.context.needs, self.asked.key, *((key,) if key else ()), *(job.key for job in trials))
        tags = {"method": shown, "size": size, "seed": seed, "step": "student" if seed != TRIAL_SEED else "trial"}
        return self._job(task, spec, tags, needs, artifact=True, temporary=True)

    def _spec_of(self, task: StudentTask, beta: float | None) -> dict[str, Any]:
        """What changes a student's rows, besides the jobs it needs."""
        lesson = task.lesson
        spec = {
            "kind": "simulate_student",
            "revision": task.revision,
            "student": task.student.identity,
            "recipe": Recipe.from_spec(task.recipe).to_json(),
            "size": task.size,
            "seed": task.seed,
            "subsets": self.study.subsets,
            "texts": self.texts,
            "lesson": [lesson.temperature, lesson.relative, lesson.control],
            "beta": beta,
            "tried": [tried for tried, _ in task.tried],
            "last": task.last,
        }
        if task.explained and (self.study.student or self.study.max_length):  # it may read other tokens
            spec["carried"] = CARRIED
        return spec

    def _job(self, task: Task, spec: dict[str, Any], tags: dict[str, Any], needs: tuple[str, ...], **more: Any) -> Job:
        return Job(
            task, spec, {**self.context.tags, **tags}, self.context.model, self.context.data, None, needs, **more
        )
