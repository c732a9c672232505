"""ROAR and Recursive ROAR: remove what a method calls important, train again, and see how much worse it gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, parse
from assay.evaluation.roar.masks import Amount, By, amounts
from assay.experiments.job import Job, JobContext, Row, StudyContext
from assay.experiments.kinds._roar_jobs import Intact, Rank, Retrain, Source
from assay.experiments.references import TrainedModel
from assay.explainers import METHODS as CATALOGUE
from assay.explainers.methods import named_methods
from assay.explainers.supported import supported
from assay.training.scratch import is_scratch

RANDOM = "random"
MEASURES = {  # the paper's measures by its names; any other name is a method of the catalogue
    "attention": "average_attention",  # of a BiLSTM: its attention
    "gradient": "gradient(reduction=vocabulary)",
    "input_x_gradient": "gradient_x_input",
    "integrated_gradients": "integrated_gradients(steps=50, baseline=zero, rule=right)",
    "published_integrated_gradients": "weighted_integrated_gradients",
}
METHODS = ("attention", "gradient", "input_x_gradient", "integrated_gradients")


@dataclass(frozen=True)
class Roar:
    """Performance after training on data without the most important words, for rising shares of them.

    methods: the paper's measures (`gradient` is its norm over the vocabulary, `integrated_gradients` has a zero
    baseline and 50 right points, `published_integrated_gradients` is what its code computed) or any spec; random is
    always there. recursive: words are ranked anew by each retrained model. by: a `share` in per cent up to 100, or a
    `count` of words, 10 unless `last` says more. Scores enter as absolute values unless `signed`. The gold label is
    explained: with `target: predicted` and recursion no mask after the first can tell it.
    """

    methods: tuple[str, ...] = METHODS
    recursive: bool = True
    by: By = "share"
    step: int = 10
    last: int | None = None
    signed: bool = False
    target: Literal["gold", "predicted"] = "gold"
    test: str = "test"
    test_limit: int | None = None
    batch_tokens: int | None = None

    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.methods:
            raise SpecError("methods=[]: name at least one; random is there without being named")
        if self.target not in ("predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'predicted' or 'gold'")
        check_steps(self.specs, self.steps, self.step)  # an error of the plan, not of its jobs

    @cached_property
    def specs(self) -> dict[str, str]:
        """Method specs by the names under which they were asked for; random comes first."""
        return specs_of(self.methods)

    @cached_property
    def steps(self) -> list[Amount]:
        """What is masked step by step; all of it is a run of its own."""
        return [amount for amount in amounts(self.by, self.step, self.last) if amount != Amount("share", 100)]

    def jobs(self, place: StudyContext) -> list[Job]:
        """Per method 0, each step and all; what methods and forms share has one key, so it is run once."""
        model, source = trained_here(place, self.test, self.test_limit)
        check_family(self.specs, source.training.train)
        maker = _Maker(self, place, model, source)
        out: list[Job] = []
        for name in self.specs:
            out += maker.method(name)
        return out

    def run(self, work: JobContext) -> Any:
        raise RuntimeError("the jobs of ROAR are those of its parts")

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        raise RuntimeError("the jobs of ROAR are those of its parts")


def specs_of(methods: tuple[str, ...]) -> dict[str, str]:
    """Method specs by the names under which they were asked for; random comes first."""
    names = [RANDOM, *(name for name in methods if name != RANDOM)]
    found = {name: MEASURES.get(name, name) for name in names}
    for name in found:
        if name not in MEASURES and (head := parse(name).name) not in CATALOGUE.names:
            raise SpecError(f"there is no method {head!r}; {nearest(head, [*MEASURES, *CATALOGUE.names])}")
    named_methods(found.values())
    return found


def check_steps(specs: Mapping[str, str], steps: Sequence[Amount], step: int) -> None:
    """A method needs a step between the ends that all share."""
    if not steps and set(specs) > {RANDOM}:
        raise SpecError(f"a step of {step} leaves nothing between none and all masked; give at most 50 per cent")


def check_family(specs: Mapping[str, str], base: str) -> None:
    """A method that is known to refuse the family is an error of the plan, not of its jobs."""
    family = parse(base).name if is_scratch(base) else None  # what a pretrained folder is shows when it is loaded
    for name, spec in specs.items():
        if family is not None and (why := supported(parse(spec).name).get(family)):
            raise SpecError(f"{name} does not work on {family}: {why}")


def trained_here(place: StudyContext, test: str, test_limit: int | None) -> tuple[TrainedModel, Source]:
    """The model of a place, which the plan must train, with its three splits."""
    model = place.model
    if not isinstance(model, TrainedModel) or model.training is None:
        raise SpecError(f"ROAR trains its models again, but {model.name} comes from outside; write train: and on:")
    if (model.training.task or model.training.parts()[0].task) != "classification":
        raise SpecError("ROAR measures classes; a model of scores has none")
    return model, Source(model.training, test, test_limit)


@dataclass(frozen=True)
class _Maker:
    """Jobs of one model (one seed) on one data set."""

    kind: Roar
    place: StudyContext
    model: TrainedModel
    source: Source

    def method(self, name: str) -> list[Job]:
        """0, then rank and retrain step by step, then all; a rank serves one step if recursive, else all."""
        out = [self.intact(name)]
        anew = self.kind.recursive and name != RANDOM  # random scores ask no model
        key, before, rank = self.model.key, None, None
        for amount in self.kind.steps:
            if rank is None or anew:
                rank = self.rank(name, key, before, amount)
                out.append(rank)
            step = self.retrain(name, amount, rank.key)
            key, before = step.key, (rank.key, amount)
            out.append(step)
        return [*out, self.retrain(name, None, None)]

    def intact(self, name: str) -> Job:
        spec = {"kind": "roar_test", "revision": Intact.revision, "test": self.test, "limit": self.kind.test_limit}
        return self._job(Intact(self.source, self.model.key), spec, (self.model.key,), name, 0)

    def rank(self, name: str, key: str, before: tuple[str, Amount] | None, amount: Amount) -> Job:
        method, seed = self.kind.specs[name], self.source.training.seed
        kind, extra = self.kind, () if before is None else (before[0],)
        (full,) = named_methods([method]).values()
        target = kind.target if full.class_dependent else "gold"  # what explains no class is shared by both
        made = Rank(self.source, method, key, before, kind.signed, target, seed, kind.batch_tokens)
        spec = {
            "kind": "roar_rank",
            "revision": Rank.revision,
            "method": [str(Spec.of(full)), full.revision],
            "before": None if before is None else [before[1].by, before[1].k],
            "model": key,
            "signed": kind.signed,
            "target": target,
            "seed": seed,
            "test": self.test,
        }
        return self._job(made, spec, (key, *extra), name, f"ranks for {amount.k}", artifact=True, temporary=True)

    def retrain(self, name: str, amount: Amount | None, rank: str | None) -> Job:
        spec = {
            "kind": "roar_retrain",
            "revision": Retrain.revision,
            "training": self.source.training.job({}).spec,
            "amount": None if amount is None else [amount.by, amount.k],
            "rank": rank,
            "test": self.test,
        }
        made, needs = Retrain(self.source, amount, rank), () if rank is None else (rank,)
        at = "all" if amount is None else amount.k
        return self._job(made, spec, needs, name, at, artifact=True, temporary=True)

    @cached_property
    def test(self) -> str:
        return self.source.held().fingerprint

    def _job(self, kind: Any, spec: dict[str, Any], needs: tuple[str, ...], name: str, at: Any, **more: Any) -> Job:
        where = {**self.place.at, "method": name, "masked": at, "recursive": self.kind.recursive}
        return Job(kind, spec, where, self.model, self.place.data, None, needs, **more)
