"""`assay`: the table of commands, and how errors, warnings and Ctrl-C end them."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError

import assay
from assay import __version__
from assay.cli._plugins import split_plugins
from assay.core.console import Console
from assay.core.errors import AssayError

COMMANDS = {
    "Explain and evaluate": ("explain", "evaluate", "randomise", "attack", "roar"),
    "Train": ("train",),
    "Experiment plans": ("run", "status", "report", "pack", "unpack"),
    "Look up": ("list", "data"),
}

app = App(
    name="assay",
    help="Explain the predictions of transformer models and measure which explanations can be trusted.",
    help_epilogue="Run `assay COMMAND --help` for the options of a command and examples. "
    "Every command takes --plugin FILE: a Python file that registers methods, metrics, ... of your own.",
    version=f"assay {__version__}",
    group_commands=Group("Other", sort_key=len(COMMANDS)),
    default_parameter=Parameter(allow_repeating=True),  # the last value counts
    help_format="plaintext",
    version_format="plaintext",
    suppress_keyboard_interrupt=False,
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
)


def _help(command: str) -> str:
    """The docstring of a command's file, read without importing it: `assay --help` stays quick."""
    source = Path(__file__).with_name(f"{command}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)) or ""


def _register() -> None:
    for position, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=position)
        for place, name in enumerate(commands):
            app.command(f"assay.cli.{name}:app", name=name, help=_help(name), group=group, sort_key=place)


_register()


def _sentence(error: Exception) -> str:
    match error:
        case MissingArgumentError(argument=argument, command_chain=chain) if argument is not None:
            command = " ".join(["assay", *(chain or ())])
            return f"{argument.name} needs a value. Run `{command} --help` to see all options."
        case UnusedCliTokensError(unused_tokens=[token, *_]):
            return f"Unexpected argument {token!r}."
    return str(error)


def main() -> None:
    """Run a command. Refused input ends with one sentence and exit code 2, Ctrl-C with exit code 130."""
    console = Console(stderr=True, soft_wrap=True)
    shown: set[str] = set()

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:  # once each: jobs repeat them
        if str(message) not in shown:
            console.print(f"warning: {message}", style="yellow")
        shown.add(str(message))

    warnings.showwarning = show_warning
    try:
        arguments, plugins = split_plugins(sys.argv[1:])
        for plugin in plugins:
            assay.load_plugin(plugin)
        app(arguments)
    except (AssayError, CycloptsError) as error:
        console.print(f"error: {_sentence(error)}", style="red")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
