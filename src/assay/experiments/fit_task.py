"""Fit an explainer in one job; its artefact is a folder that `load_explainer` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, build, parse
from assay.datasets.dataset import Dataset
from assay.experiments.job import Job, JobContext, JobResult, Row
from assay.experiments.plan_splits import plan_splits
from assay.experiments.references import DataReference, content_of
from assay.experiments.study import StudyContext
from assay.explainers import METHODS
from assay.explainers.learned.parts.saved import CARD, read_card
from assay.fitting import FITS
from assay.fitting.run import Fit, FitRun, fit_explainer

KEPT_FILES = (CARD,)  # enough to write a report


@dataclass(frozen=True)
class FitTask:
    """An explainer fitted to a model of the plan; see `assay fit` for what the fields mean.

    data_seed draws subsets and held-out texts; the seed of the fit is a setting of the method.
    """

    fit: str  # what is fitted, with its settings, such as "aml(masks=32)"
    on: DataReference
    split: str | None = None
    validation: str | None = None
    limit: int | None = 2000
    validation_limit: int | None = 200
    data_seed: int = 0
    uses: tuple[tuple[str, str], ...] = ()  # settings that name explainers of the plan, and the keys of their jobs

    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _ = self.settings  # an error of the plan, not of its jobs

    @property
    def settings(self) -> Fit:
        spec = parse(self.fit)
        if spec.name not in FITS.names:
            raise SpecError(f"{spec.name!r} cannot be fitted; {nearest(spec.name, FITS.names)}")
        settings: Fit = build(spec, FITS.get(spec.name))
        return settings

    def _using(self, values: Mapping[str, Any]) -> Fit:
        """The settings with these values in place of the names of explainers of the plan."""
        return replace(self.settings, **values)  # type: ignore[type-var]

    def splits(self) -> tuple[Dataset, Dataset]:
        """The texts to fit on, and those that choose the checkpoint."""
        return plan_splits(self.on, self.split, self.validation, self.limit, self.validation_limit, self.data_seed)

    def job(self, context: StudyContext, *, keep: bool = False) -> Job:
        """The job of a fit; it needs the model."""
        train, validation = self.splits()
        model = context.loaded_model()
        if model is not None:
            self._using({name: None for name, _ in self.uses}).check_model(model)
        name = parse(self.fit).name
        spec = {
            "kind": "fit",
            "revision": [self.revision, METHODS.get(name)().facts.revision],
            **context.identity(),
            "train": train.fingerprint,
            "validation": validation.fingerprint,
            "method": name,
            "settings": str(Spec.in_key(_by_content(self._using({name: None for name, _ in self.uses})))),
            **({"uses": dict(self.uses)} if self.uses else {}),
        }
        options: Mapping[str, Any] = {"artifact": True, "kept_files": KEPT_FILES, "keep": keep, "skims": self._skims()}
        needs = tuple(dict.fromkeys([*context.needs, *(key for _, key in self.uses)]))
        return Job(self, spec, context.tags, context.model, context.data, None, needs, **options)

    def _skims(self) -> tuple[str, ...]:
        """Keys of the explainers of which only the card is read."""
        by_card = folder_settings(self.settings, "card")
        loaded = {key for name, key in self.uses if name not in by_card}
        return tuple(key for name, key in self.uses if name in by_card and key not in loaded)

    def run(self, context: JobContext) -> JobResult:
        train, validation = self.splits()
        if not (context.folder / CARD).exists():  # otherwise a run killed afterwards left a complete explainer
            run = FitRun(context.folder, progress=False)
            settings = self._using({name: str(context.found(key)) for name, key in self.uses})
            fit_explainer(settings, context.model(), train, validation, run)
        return fit_result(context.folder)

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield {"metric": rows["metric"], "value": rows["validation"]["best"]}
        yield {"metric": f"{rows['metric']} of a random order", "value": rows["validation"]["random"]}


def _by_content(settings: Fit) -> Fit:
    """The settings with the content of folders in place of their names."""
    named = folder_settings(settings)
    found = {name: value for name in named if (value := getattr(settings, name)) is not None}
    return replace(settings, **{name: content_of(value) for name, value in found.items()})  # type: ignore[type-var]


def folder_settings(settings: Fit, mark: Literal["folder", "card"] = "folder") -> list[str]:
    """The names of the settings that name a folder; card: of those that read only the card in it."""
    return [f.name for f in fields(settings) if f.metadata.get(mark)]  # type: ignore[arg-type]


def fit_result(folder: Path) -> JobResult:
    """The rows of a fit, from its card."""
    card = read_card(folder)
    names = (
        "method",
        "metric",
        "better",
        "validation",
        "curve",
        "model",
        "task",
        "labels",
        "data",
        "settings",
        "start",
    )
    return JobResult({name: card[name] for name in names if name in card})
