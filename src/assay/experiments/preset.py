"""Presets: the settings of a paper under one name. A preset is data; whatever is given beside it takes precedence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from assay.core.catalog import Catalog
from assay.core.errors import SpecError, UnsupportedError
from assay.core.spec import as_list

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.models.model import Model

T = TypeVar("T")
SEVERAL = 2  # items that a sentence names; the table has all
PRESETS = Catalog("assay.experiments.presets", "preset")


@dataclass(frozen=True)
class StudyPreset:
    """What a paper sets in one study."""

    settings: Mapping[str, Any]  # fields of the study
    call: Mapping[str, Any] = field(default_factory=dict)  # other arguments of its verb: limit, forms, seeds
    open: Mapping[str, str] = field(default_factory=dict)  # by setting: what the paper does not say, and the choice
    belongs: Mapping[str, str] = field(default_factory=dict)  # what holds only with another: {measured: methods}

    @property
    def values(self) -> dict[str, Any]:
        return {**self.settings, **self.call}

    def source(self, name: str) -> str:
        """Whose choice a setting is."""
        if name in self.open:
            return f"Left open by the paper: {self.open[name]}" if name in self.values else self.open[name]
        return "Stated in the paper." if name in self.values else "Not part of the preset."


@dataclass(frozen=True)
class Preset:
    """The settings of a paper, by study."""

    paper: str
    studies: Mapping[str, StudyPreset]

    def study(self, name: str, kind: str) -> StudyPreset:
        if kind not in self.studies:
            raise SpecError(f"the preset {name!r} has no settings for {kind}; it has those for {_and(self.studies)}")
        return self.studies[kind]


@dataclass(frozen=True)
class Change:
    """A setting that differs from the preset."""

    name: str
    given: Any
    preset: Any  # None: the preset does not set it

    def __str__(self) -> str:
        if self.preset is None:
            return f"{self.name}={shown(self.given)} (not part of the preset)"
        several = isinstance(self.preset, tuple) and len(self.preset) > SEVERAL
        instead = f"the preset's {len(self.preset)}" if several else shown(self.preset)
        return f"{self.name}={shown(self.given)} (instead of {instead})"


@dataclass(frozen=True)
class PresetRow:
    """A setting in a table."""

    name: str
    value: str  # of the preset
    given: str  # instead
    source: str


@dataclass(frozen=True)
class PresetUse:
    """A preset as one run used it: what was given beside it, and what had to be left out."""

    name: str
    paper: str
    own: StudyPreset
    given: Mapping[str, Any]  # settings of the study
    given_call: Mapping[str, Any] = field(default_factory=dict)  # other arguments of its verb
    left_out: Mapping[str, str] = field(default_factory=dict)  # methods, and why
    elsewhere: tuple[str, ...] = ()  # arguments that a plan has other places for
    too_few: int | None = None  # examples in the data, if the preset has more

    @property
    def or_none(self) -> PresetUse | None:
        """None where no preset was named."""
        return self if self.name else None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the study: those of the preset, unless given."""
        dropped = [name for name, other in self.own.belongs.items() if other in self.given]  # unless given too
        kept = {name: value for name, value in self.own.settings.items() if name not in dropped}
        return {**kept, **self.given}

    @property
    def call(self) -> dict[str, Any]:
        """The other arguments of its verb."""
        return {**self.own.call, **self.given_call}

    @property
    def changes(self) -> list[Change]:
        """What differs from the preset because it was given, or because it belongs to what was given."""
        own, used = self.own.values, {**self.settings, **self.call}
        names = dict.fromkeys([*self.given, *self.given_call, *own])
        found = [Change(name, used.get(name), own.get(name)) for name in names if name not in self.elsewhere]
        return [change for change in found if not _same(change.given, change.preset)]

    @property
    def summary(self) -> str:
        """Which preset, and what differs from it."""
        changes = f"with {'; '.join(map(str, self.changes))}" if self.changes else "with nothing changed"
        return f"Preset {self.name} ({self.paper}), {changes}."

    @property
    def warnings(self) -> list[str]:
        """What keeps the run from being the paper's whole set of experiments, though nobody asked for it."""
        reasons: dict[str, list[str]] = {}
        for method, why in self.left_out.items():
            reasons.setdefault(why, []).append(method)
        left = [f"The preset {self.name} leaves out {_and(methods)}: {why}." for why, methods in reasons.items()]
        places = [f"{name}={shown(self.own.call[name])}" for name in self.elsewhere]
        few = f"The preset {self.name} has {self.own.call.get('limit')} examples; the data have {self.too_few}."
        plan = f"The preset {self.name} also has {_and(places)}, which a plan sets elsewhere." if places else ""
        return [*left, *([few] if self.too_few else []), *([plan] if plan else [])]

    @property
    def rows(self) -> list[PresetRow]:
        """Every setting of the preset, and what was given beside it."""
        changed, own = {change.name: shown(change.given) for change in self.changes}, self.own.values
        return [
            PresetRow(name, shown(own[name]) if name in own else "", changed.get(name, ""), self.own.source(name))
            for name in dict.fromkeys([*own, *self.own.open, *changed])
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "name": self.name,
            "paper": self.paper,
            "settings": dict(self.own.values),
            "given": {**self.given, **self.given_call},
            "left_out": dict(self.left_out),
            "open": dict(self.own.open),
        }

    def fit(self, study: T, model: Model | None) -> tuple[PresetUse, T]:
        """The study without those methods of the preset that the model does not support; None: not trained yet."""
        if model is None or not self.name:
            return self, study
        if model.task != "classification" or model.family.images:
            kind = "reads images" if model.family.images else f"has the task {model.task}"
            raise UnsupportedError(
                f"the preset {self.name!r} is for text classifiers, but {model.name} {kind}; set what you need yourself"
            )
        if "methods" in self.given or "methods" not in self.own.settings:
            return self, study
        from assay.explainers.trial import why_unsupported

        reasons = {method: why_unsupported(method, model) for method in self.own.settings["methods"]}
        return self.without({method: why for method, why in reasons.items() if why}, study)

    def examples(self, data: Dataset, seed: int) -> tuple[PresetUse, Dataset]:
        """As many examples as the preset, or the caller, wants."""
        limit = self.call.get("limit")
        if limit is None:
            return self, data
        few = len(data) if "limit" not in self.given_call and len(data) < limit else None
        return replace(self, too_few=few), data.take(limit, seed)

    def without(self, left_out: Mapping[str, str], study: T) -> tuple[PresetUse, T]:
        """Leave out some of the preset's methods, and what belongs to them."""
        if not left_out:
            return self, study
        methods = self.own.settings["methods"]
        kept = [i for i, method in enumerate(methods) if method not in left_out]
        if not any(methods[i] != "random" for i in kept):
            raise UnsupportedError(
                f"the preset {self.name!r} cannot be applied: {'; '.join(f'{m}: {why}' for m, why in left_out.items())}"
            )
        names = ["methods", *(n for n, other in self.own.belongs.items() if other == "methods" and n not in self.given)]
        fewer = {name: tuple(self.own.settings[name][i] for i in kept) for name in names}
        return replace(self, left_out=dict(left_out)), replace(study, **fewer)  # type: ignore[type-var]


def use_preset(
    name: str | None, kind: str, settings: Mapping[str, Any], call: Mapping[str, Any] | None = None
) -> PresetUse:
    """The preset of a name, with the settings and the other arguments that are given beside it.

    name: None is a preset that sets nothing.
    """
    if name is None:
        return PresetUse("", "", StudyPreset({}), settings, call or {})
    if not isinstance(name, str):
        raise SpecError(f"preset={name!r}: give the name of a preset; `assay list presets` shows all")
    preset: Preset = PRESETS.get(name)
    return PresetUse(name, preset.paper, preset.study(name, kind), settings, call or {})


def shown(value: Any) -> str:
    """A value as an option would write it."""
    if value is None:
        return "Assay's default"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _same(given: Any, preset: Any) -> bool:
    if isinstance(preset, tuple):
        return [str(item) for item in as_list(given)] == [str(item) for item in preset]
    return bool(given == preset)


def _and(names: Mapping[str, Any] | list[str]) -> str:
    *first, last = list(names)
    return f"{', '.join(first)} and {last}" if first else last
