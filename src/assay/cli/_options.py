"""Options shared by several commands, and options derived from the settings of a study."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cyclopts import App, Group, Parameter, Token, validators

import assay
from assay.core.errors import SpecError
from assay.core.spec import split

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.models.model import Model

Command = TypeVar("Command", bound=Callable[..., Any])
Number = TypeVar("Number", int, float)

PLUGIN_HELP = "--plugin FILE, with any command: methods, metrics, ... of your own (docs/guides)."
INPUT = Group("Input", sort_key=0)
MODEL = Group("Model", sort_key=1)
DATA = Group("Data", sort_key=2)
EXPLANATION = Group("Explanation", sort_key=3)
TRAINING = Group("Training", sort_key=4)
EXECUTION = Group("Execution", sort_key=5)
OUTPUT = Group("Output", sort_key=6)
OPTIONS = Group("Options", sort_key=7)


def command_app(name: str, *examples: str) -> App:
    """A command; its help is the docstring of its file, with examples at the end."""
    lines = [PLUGIN_HELP, "", "Examples:", *(f"  {example}" for example in examples)]
    return App(name=name, help_epilogue="\n".join(lines))


# --- converters ------------------------------------------------------------------------------------------------------


def spec_list(_: Any, tokens: Sequence[Token]) -> list[str]:
    """Split a list at the commas outside brackets."""
    return split(tokens[-1].value)


def repeated_list(_: Any, tokens: Sequence[Token]) -> list[str]:
    """The same for an option that may be given several times."""
    return [part for token in tokens for part in split(token.value)]


def int_list(_: Any, tokens: Sequence[Token]) -> int | list[int]:
    """One number, or several separated by commas."""
    numbers = _numbers(int, tokens[-1].value)
    return numbers[0] if len(numbers) == 1 else numbers


def float_list(_: Any, tokens: Sequence[Token]) -> list[float]:
    return _numbers(float, tokens[-1].value)


def _numbers(kind: Callable[[str], Number], text: str) -> list[Number]:
    try:
        return [kind(part) for part in split(text)]
    except ValueError as error:
        raise SpecError(f"{text!r} is not a list of numbers such as 1,2") from error


def values_by_tag(given: Sequence[str] | None) -> dict[str, str] | None:
    """The values of a repeatable option such as --only seed=0,1 --only method=lime."""
    if given is None:
        return None
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        raise SpecError("write name=value, e.g. --only seed=1")
    values: dict[str, list[str]] = {}
    for name, _, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: ",".join(found) for name, found in values.items()}


def list_option(converter: Callable[..., Any] = spec_list, *, metavar: str = "LIST", **options: Any) -> Parameter:
    """An option whose value is one word on the command line, however long the list in it."""
    return Parameter(converter=converter, n_tokens=1, accepts_keys=False, negative=(), metavar=metavar, **options)


def flag(help: str, group: Group) -> Parameter:
    """An option without a value, off by default."""
    return Parameter(group=group, negative=(), show_default=False, help=help)


# --- groups of options -----------------------------------------------------------------------------------------------

ColumnRoles = Annotated[
    str | None,
    Parameter(
        metavar="ROLE=COLUMN,...",
        help="Columns to read where their names are not recognised, e.g. text=review,label=stars.",
    ),
]
LabelNames = Annotated[
    str | None,
    Parameter(
        metavar="LABEL=NAME,...",
        help="Names that labels of the data have in the model, e.g. pos=positive,neg=negative.",
    ),
]
Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How to load the model."""

    model: str = "builtin"
    """Folder, hub id or module:attribute (a function, a scikit-learn pipeline or a loaded model in your own code);
    'builtin' is a small sentiment classifier."""
    prompt: str | None = None
    """Prompt with a {text} slot, to classify with a causal language model; 'chat: ...' uses its chat template.
    \\n is a new line."""
    labels: Annotated[str | None, Parameter(metavar="NAME[=WORD],...")] = None
    """Names of the classes, in the order of the model's outputs; with a prompt, the word that follows it for each."""
    task: Literal["classification", "multi_label", "regression"] | None = None
    """What the outputs mean. Default: inferred."""
    device: str | None = None
    """Device to run on, such as cpu or cuda."""
    dtype: str | None = None
    """Precision of the weights, such as float32 or bfloat16."""
    max_length: int | None = None
    """Truncate inputs to this many tokens. Default: the model's limit."""
    trust_remote_code: Annotated[bool, Parameter(negative=(), show_default=False)] = False
    """Run Python code that the model's folder or hub id brings. Without it no foreign code runs."""

    def load(self) -> Model:
        return assay.load_model(
            self.model,
            prompt=None if self.prompt is None else self.prompt.replace("\\n", "\n"),  # shells pass on \n as it is
            labels=self.labels,
            task=self.task,
            device=self.device,
            dtype=self.dtype,
            max_length=self.max_length,
            trust_remote_code=self.trust_remote_code,
        )


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Which examples to use."""

    data: str = "builtin"
    """File, folder, hub id, or a name from `assay data list`."""
    split: str | None = None
    """Split of a folder or hub data set, such as test."""
    columns: ColumnRoles = None
    label_map: LabelNames = None

    def load(self) -> Dataset:
        return assay.load_dataset(self.data, split=self.split, columns=self.columns, label_map=self.label_map)


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """How to run the jobs of a plan."""

    engine: Literal["local", "ray"] = "local"
    """Run jobs one after another in this process, or in parallel with Ray."""
    workers: Positive | None = None
    """Number of Ray workers. Default: one per core."""
    address: str | None = None
    """Address of a running Ray cluster. Default: start Ray on this machine."""
    threads: Positive | None = None
    """Threads of each worker. Default: cores / workers."""

    def given(self) -> dict[str, Any]:
        return {"engine": self.engine, "workers": self.workers, "address": self.address, "threads": self.threads}


MODEL_OPTIONS = Parameter(name="*", group=MODEL)
DATA_OPTIONS = Parameter(name="*", group=DATA)
ENGINE_OPTIONS = Parameter(name="*", group=EXECUTION)

Limit = Annotated[int | None, Parameter(group=DATA, help="Use only this many examples, drawn at random.")]
PresetName = Annotated[
    str | None,
    Parameter(
        group=EXPLANATION,
        help="All settings of a paper (`assay list presets`), for what is not given by another option.",
    ),
]
StoreFolder = Annotated[
    Path | None, Parameter(group=OUTPUT, help="Folder of finished work, which a rerun reuses. Default: a cache folder.")
]
ReportFile = Annotated[Path, Parameter(group=OUTPUT, help="HTML page to write.")]
JsonFile = Annotated[Path | None, Parameter(group=OUTPUT, help="Also write results and settings as JSON.")]
DryRun = Annotated[bool, flag("List the jobs that would run, and stop.", EXECUTION)]


# --- options derived from a dataclass --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Fields of a study given on the command line; None keeps the default of the study."""

    def given(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def settings_from(
    cls: type, group: Group = EXPLANATION, *, only: Sequence[str] = (), omit: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Give a command the fields of a dataclass as options, in its parameter `settings`.

    Types, defaults and help come from the dataclass; the help of a field is the docstring below it.
    """
    chosen = [f for f in fields(cls) if f.init and f.name not in omit and (not only or f.name in only)]
    hints, docs = get_type_hints(cls), _field_docs(cls)
    options = [(f.name, _option(f, hints[f.name], docs[f.name]), field(default=None)) for f in chosen]
    derived = make_dataclass(
        f"{cls.__name__}Settings",
        options,
        bases=(Settings,),
        frozen=True,
        kw_only=True,
        namespace={"__module__": __name__},  # cyclopts takes classes of standard modules for scalars
    )

    def decorate(command: Command) -> Command:
        command.__annotations__["settings"] = Annotated[derived, Parameter(name="*", group=group)]
        command.__kwdefaults__ = {**(command.__kwdefaults__ or {}), "settings": derived()}
        return command

    return decorate


def _option(f: Field[Any], hint: Any, doc: str) -> Any:
    """The type of an option: that of the field, or None if it is not given."""
    hint = _without_none(hint)
    hidden = any(f.default is value for value in (MISSING, None, False, ())) or "Default:" in doc
    options: dict[str, Any] = {"help": doc, "show_default": False if hidden else _shown(f.default)}
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        words = repeated_list if f.metadata.get("repeats") else spec_list
        converter = {int: int_list, float: float_list}.get(item, words)
        numbers = {int: int | list[int], float: list[float]}  # pydantic, where it is installed, checks what comes out
        return Annotated[numbers.get(item, list[str]) | None, list_option(converter, **options)]
    if hint is bool:
        return Annotated[bool | None, Parameter(negative=None if f.default else (), **options)]
    plain = hint if hint in (int, float) or get_origin(hint) is Literal else str
    return Annotated[plain | None, Parameter(**options)]


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else str


def _shown(default: Any) -> str:
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _field_docs(cls: type) -> dict[str, str]:
    """The docstring below each field, of a class and its bases."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        for statement, following in pairwise(getattr(tree, "body", ())):
            match statement, following:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                    docs[name] = inspect.cleandoc(doc).replace("\n", " ")
    return docs
