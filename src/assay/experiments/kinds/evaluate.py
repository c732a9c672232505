"""Explain and measure: all methods and metrics of one slice of a data set through one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from assay.core.errors import SpecError, TargetError
from assay.core.spec import Spec
from assay.core.types import Example, Scale, Target
from assay.datasets.dataset import Dataset
from assay.evaluation.metrics import metric
from assay.experiments.job import Job, JobContext, JobResult, Row, StudyContext
from assay.experiments.slices import evaluate_slice
from assay.explainers.methods import named_methods, with_baseline
from assay.explainers.session import Session
from assay.masking.removal import removal_for
from assay.models.model import Model
from assay.models.target import label_index

SLICE = 64  # examples per record
SHOWN = 10  # examples whose attributions are kept for the report
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
METRICS = ("sufficiency", "comprehensiveness", "log_odds")  # aopc_* say the same under the default protocol
PLAUSIBILITY = ("auprc", "token_f1")  # added where the data have rationales


@dataclass(frozen=True)
class Evaluate:
    """Values of every metric for every method and example, with curves, agreement, costs and the model's outputs.

    metrics None: faithfulness, and plausibility where the data have rationales. scale: what is explained, instead of
    each method's own; metrics follow the protocol. batch_tokens changes no number.
    """

    methods: tuple[str, ...] = METHODS
    metrics: tuple[str, ...] | None = None
    protocol: str = "eraser"
    removal: str | None = None
    units: str = "token"
    scope: int | str | None = None
    target: Literal["predicted", "gold"] = "predicted"
    scale: Scale | None = None
    seed: int = 0
    batch_tokens: int | None = None

    revision: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.target not in ("predicted", "gold"):
            raise SpecError(f"target={self.target!r}: give 'predicted' or 'gold'")
        for name in ("methods", "metrics"):
            if getattr(self, name) is not None and not getattr(self, name):
                raise SpecError(
                    f"{name}=[]: name at least one of `assay list {name}`, or leave {name} out for the default"
                )
        Target(scale=self.scale)  # an unknown one is an error here
        _ = self.made_methods, self.made_metrics(())  # a misspelt name is an error of the plan, not of its jobs

    @cached_property
    def made_methods(self) -> dict[str, Any]:
        return {name: with_baseline(made, self.removal) for name, made in named_methods(self.methods).items()}

    def made_metrics(self, data: Dataset | tuple[()]) -> dict[str, Any]:
        """The metrics by their short specs."""
        marked = any(example.rationales for example in data)
        wanted = self.metrics if self.metrics is not None else (*METRICS, *(PLAUSIBILITY if marked else ()))
        return {str(Spec.of(m, full=False)): m for m in (metric(spec, self.protocol) for spec in wanted)}

    def settings(self, model: Mapping[str, Any], removal: str | None, data: Dataset) -> dict[str, Any]:
        """Everything that changes a number, but for the examples."""
        metrics = self.made_metrics(data)
        return {
            "kind": "evaluate",
            "revision": self.revision,
            **model,
            "methods": {name: [str(Spec.of(m)), m.revision] for name, m in self.made_methods.items()},
            "metrics": {name: [str(Spec.of(m)), m.revision] for name, m in metrics.items()},
            "units": self.units,
            "removal": removal,
            "scope": self.scope,
            "target": self.target,
            "seed": self.seed,
            **({"scale": self.scale} if self.scale else {}),
        }

    def settings_of(self, model: Model, data: Dataset) -> dict[str, Any]:
        """The settings with a model at hand: its own removal where none was named."""
        return self.settings(model.identity, removal_for(model, self.removal).name, data)

    def jobs(self, place: StudyContext) -> list[Job]:
        data, model = place.data.load(), place.known()
        settings = (
            self.settings(place.identity(), self.removal, data) if model is None else self.settings_of(model, data)
        )
        made = place.over_slices(self, settings, SLICE)
        return [replace(job, spec={**job.spec, "shown": max(0, SHOWN - (job.part or (0, 0))[0])}) for job in made]

    def run(self, work: JobContext) -> JobResult:
        model, data, chunk = work.model(), work.dataset(), work.examples()
        session = Session.create(
            model, self.made_methods, self.units, self.removal, self.scope, self.seed, self.batch_tokens
        )
        aims = [self.aim(model, data, example) for _, example in chunk]
        rows = evaluate_slice(session, chunk, aims, self.made_metrics(data), work.bar)
        keep = work.job.spec["shown"]
        rows["attributions"] = {method: _timeless(part[:keep]) for method, part in rows["attributions"].items()}
        return JobResult(rows, {"seconds": rows.pop("seconds")})  # seconds differ from run to run: never compared

    def aim(self, model: Model, data: Dataset, example: Example) -> Target | int | float | None:
        """What is explained of an example, as `explain` takes it."""
        label = None if self.target == "predicted" else gold_of(model, data, example)
        return label if self.scale is None else Target(None if label is None else int(label), scale=self.scale)

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        for name, methods in rows["values"].items():
            for method, values in methods.items():
                for example, value in zip(rows["examples"], values, strict=True):
                    yield {"method": method, "metric": name, "example": example, "value": value}


def _timeless(attributions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the seconds, which the provenance has."""
    return [{**a, "cost": {**a["cost"], "seconds": 0.0}} for a in attributions]


def gold_of(model: Model, dataset: Dataset, example: Example) -> int | float | None:
    """The example's label as the model counts labels, its score for regression, or None where it has neither."""
    if example.label is None:
        return None
    if model.task == "regression":
        return float(example.label)
    named = dataset.labels[example.label] if dataset.labels and isinstance(example.label, int) else example.label
    names = [name.casefold() for name in model.labels]
    try:
        return label_index(named.casefold() if isinstance(named, str) else int(named), names)
    except TargetError:
        return None  # other labels than the model's: it can be explained, not scored
