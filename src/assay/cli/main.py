"""`assay`: the table of commands, and how errors, warnings and Ctrl-C end them."""

from __future__ import annotations

import ast
import errno
import os
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError

import assay
from assay import __version__
from assay.cli._plugins import split_plugins
from assay.core.console import Console
from assay.core.errors import AssayError

COMMANDS = {
    "Explain and evaluate": ("explain", "evaluate", "randomise", "attack", "roar", "simulate"),
    "In the browser": ("serve", "study"),
    "Train": ("train", "fit"),
    "Experiment plans": ("run", "status", "report", "pack", "unpack"),
    "Look up": ("list", "data"),
}

UNEXPECTED = 70  # exit code of errors of Assay itself (EX_SOFTWARE)

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
            return f"unexpected argument {token!r}."
        case CycloptsError():
            return str(error)[:1].lower() + str(error)[1:]  # as all other errors
    return str(error)


def main() -> None:
    """Run a command. Exit codes: 2 for refused input, 130 for Ctrl-C, 70 for an error of Assay's own."""
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
        sys.stdout.flush()  # a full disk shows here, not after the last sentence
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `assay list | head`: nobody reads on
        _drop_output()
        sys.exit(1)
    except Exception as error:
        sentence, code = _ending(error)
        console.print(f"error: {sentence}", style="red")
        sys.exit(code)


def _ending(error: Exception) -> tuple[str, int]:
    """The sentence and the exit code with which a command ends."""
    if isinstance(error, AssayError | CycloptsError):
        return _sentence(error), 2
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        _drop_output()
        return "cannot write the output: no space left on the device.", 2
    if isinstance(error, OSError) and error.filename is not None:  # of a path that the user gave
        return f"cannot use {error.filename}: {error.strerror}; name another file or folder", 2
    if isinstance(error, UnicodeEncodeError):  # bytes of the command line that are no text
        return f"{error.object[:50]!r} is not valid Unicode; write it in UTF-8", 2
    return _unexpected(error), UNEXPECTED


def _drop_output() -> None:
    """Send what is still in the buffer nowhere: Python would try again to write it at exit, and fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception) -> str:
    """One sentence about an error that no code expected, with its traceback in a file."""
    from assay.cli._output import command_line

    first = (str(error).strip() or "no message").splitlines()[0][:300]
    what = f"{type(error).__name__}: {first}"
    try:
        descriptor, log = tempfile.mkstemp(prefix="assay-error-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"assay {__version__}, Python {sys.version.split()[0]}: {command_line()}\n")
            file.writelines(traceback.format_exception(error))
    except OSError:
        return f"Assay failed unexpectedly ({what}); there is no space for a log file."
    return f"Assay failed unexpectedly ({what}). Please report it with the log {log}."
