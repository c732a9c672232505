"""Explaining one input with several methods: what the queue of a model does for a visitor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay import __version__
from assay.core.errors import AssayError, InputError
from assay.core.notices import collected
from assay.core.png import png_address
from assay.core.progress import Progress
from assay.core.types import Attribution, Example, Target
from assay.explainers.methods import named_methods
from assay.explainers.round import Round
from assay.explainers.session import Session
from assay.models.prediction import Prediction
from assay.web.explain.models import ServedModel
from assay.web.explain.wanted import Wanted
from assay.web.queue import Task


@dataclass(frozen=True)
class Explained:
    """What a permanent link shows: plain data that need neither the model nor the input's source."""

    wanted: Wanted
    model: str  # its title
    task: str
    label: str | float  # predicted class, or the value of a regression
    probabilities: Mapping[str, float] | None
    attributions: Mapping[str, Attribution]  # by the method as the visitor named it
    refusals: Mapping[str, str] = field(default_factory=dict)  # why a method gave none
    notes: tuple[str, ...] = ()
    picture: str | None = None  # data: address of the image as the model reads it
    version: str = __version__

    def to_dict(self) -> dict[str, Any]:
        return {
            "request": self.wanted.to_dict(),
            "model": self.model,
            "task": self.task,
            "prediction": self.label,
            "probabilities": None if self.probabilities is None else dict(self.probabilities),
            "attributions": {name: a.to_dict() for name, a in self.attributions.items()},
            "refusals": dict(self.refusals),
            "notes": list(self.notes),
            "picture": self.picture,
            "version": self.version,
        }

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Explained:
        return Explained(
            Wanted.from_dict(content["request"]),
            content["model"],
            content["task"],
            content["prediction"],
            content["probabilities"],
            {name: Attribution.from_dict(a) for name, a in content["attributions"].items()},
            content["refusals"],
            tuple(content["notes"]),
            content["picture"],
            content["version"],
        )


def explain(served: ServedModel, wanted: Wanted, example: Example, task: Task) -> Explained:
    """The prediction and one attribution per method; a method that cannot explain this input says why."""
    model, start = served.model, served.model.passes.forwards
    task.meter = lambda: model.passes.forwards - start
    with collected() as notes:
        prediction: Prediction = _plainly(lambda: model.predict([example])[0])
        opened: Round | None = None
        attributions, refusals = {}, {}
        target = [Target(wanted.target, wanted.against)]
        for i, name in enumerate(wanted.methods):  # each from an empty Game: its cost is that of the method alone
            task.step(name, i, len(wanted.methods))
            try:
                session = _session(served, wanted, name)
                opened = session.reopen(opened, target) if opened else session.open([(0, example)], target)
                ((_, (attribution,)),) = session.explain(opened, Progress("", None, show=False)).items()
                attributions[name] = attribution
            except AssayError as error:
                refusals[name] = _message(error)
    if not attributions:
        raise InputError(next(iter(refusals.values())))
    picture = next(iter(attributions.values())).picture
    return Explained(
        wanted, served.title, model.task, prediction.label, prediction.probabilities, attributions, refusals,
        tuple(notes), None if picture is None else png_address(picture),
    )  # fmt: skip


def _session(served: ServedModel, wanted: Wanted, name: str) -> Session:
    methods = named_methods([served.method(name)])
    return Session.create(served.model, methods, wanted.units, wanted.removal)


def _plainly(call: Any) -> Any:
    try:
        return call()
    except InputError as error:
        raise InputError(error.message) from error


def _message(error: AssayError) -> str:
    """Without the number of the input: there is one."""
    return error.message if isinstance(error, InputError) else str(error).removeprefix("input 0: ")
