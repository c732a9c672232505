"""Fit an explainer to a model: a method that explains any new input.

Rerun the same command to resume an interrupted fit.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import DATA_OPTIONS, MODEL_OPTIONS, TRAINING, ModelOptions, Settings, command_app, settings_from
from assay.cli._training import Printer, RunOptions, TextOptions
from assay.fitting import FITS

if TYPE_CHECKING:
    from assay.explainers.learned.parts.method import LearnedMethod
    from assay.fitting.run import Trial

METHODS = Group("Methods")

app = command_app(
    "fit",
    "assay fit aml --model FOLDER --data reviews/ --output explainer",
    "assay fit aml --model FOLDER --data reviews/ --metric sufficiency --masks 32 --output explainer",
    "assay fit aml --model FOLDER --data reviews/ --objective masking --search 30 --output explainer",
    "assay fit scaffold --model FOLDER --student FOLDER --data reviews/ --output heads",
)


def _command(name: str) -> App:
    """The command that fits one method, with the fields of its settings as options."""
    settings_class = FITS.get(name)

    @settings_from(settings_class, TRAINING)
    def fit(
        *,
        model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
        data: Annotated[TextOptions, DATA_OPTIONS],
        settings: Settings,
        run: Annotated[RunOptions, Parameter(name="*")],
    ) -> None:
        printer = FitPrinter("texts")
        choice, options = vars(data), vars(run)
        with resumable(run.interrupted):
            explainer = assay.fit(
                model.load(),
                method=name,
                **choice,
                **options,
                **printer.calls,
                on_trial=printer.trial,
                **settings.given(),
            )
        printer.result(explainer)
        printer.console.print(
            f"saved in {run.output}; use it with --method \"{name}('{run.output}')\" or assay.load_explainer"
        )

    command = App(name=name, help=inspect.getdoc(settings_class), group=METHODS)
    command.default(fit)
    return command


class FitPrinter(Printer):
    """Prints how a fit goes."""

    def trial(self, trial: Trial) -> None:
        weights = ", ".join(f"{name} {value:.3f}" for name, value in trial.weights.items())
        value = "given up" if trial.value is None else f"{trial.value:.4f}"
        self.console.print(f"trial {trial.number + 1}: {value}  {weights}{'  *' if trial.best else ''}")

    def result(self, explainer: LearnedMethod) -> None:
        card = explainer.card
        found = card["validation"]
        control = card.get("control", "a random order")
        self.console.print(f"{card['metric']}: {found['best']:.4f}; of {control}: {found['random']:.4f}")
        for note in card.get("notes", ()):
            self.console.print(note)


for _name in FITS.names:
    app.command(_command(_name))
