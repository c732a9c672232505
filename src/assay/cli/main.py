"""`assay`: every module of this folder that has a `run` function is a command of its name."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings

import typer
from rich.console import Console

import assay.cli
from assay.core.errors import AssayError

app = typer.Typer(
    name="assay",
    help="Explains the predictions of transformer models and proves which explanations can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for _module in pkgutil.iter_modules(assay.cli.__path__):
    if not _module.name.startswith("_") and _module.name != "main":
        app.command(_module.name)(importlib.import_module(f"assay.cli.{_module.name}").run)


@app.callback()
def _options() -> None:
    """Explain predictions, and prove which explanations can be trusted."""  # also makes one command a sub-command


def main() -> None:
    """Run; what Assay refuses ends in one sentence and exit code 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:  # once: jobs find the same of the same data
        if str(message) not in said:
            errors.print(f"warning: {message}", style="yellow", markup=False)
        said.add(str(message))

    warnings.showwarning = show
    try:
        app()
    except AssayError as error:
        errors.print(f"error: {error}", style="red", markup=False)
        sys.exit(2)
