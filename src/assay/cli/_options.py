"""Options that several commands have, said once; and how those that need reading are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.core.errors import SpecError

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.models.model import Model

# --- the model ---------------------------------------------------------------------------------------------------

ModelName = Annotated[str, typer.Option(help="folder or hub id; 'builtin' is a small sentiment model")]
Prompt = Annotated[str | None, typer.Option(help="template with {text}, to classify with a language model")]
Label = Annotated[list[str] | None, typer.Option(help="name=word that follows the prompt; once per label")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, ...")]
Dtype = Annotated[str | None, typer.Option(help="float32, bfloat16, ...")]
MaxLength = Annotated[int | None, typer.Option(help="cut texts after so many positions; default: the model's")]

# --- the data ----------------------------------------------------------------------------------------------------

DataName = Annotated[str, typer.Option(help="file, folder, hub id, or a name of `assay data list`")]
Split = Annotated[str | None, typer.Option(help="which file of a folder or part of a hub data set")]
Columns = Annotated[str | None, typer.Option(help="role=column,..., e.g. text=review,label=stars")]

# --- how to explain, and where to keep it ------------------------------------------------------------------------

Units = Annotated[str, typer.Option(help="token, word, sentence or patch")]
Removal = Annotated[str | None, typer.Option(help="of the methods: mask_token, delete, ...; default: the model's own")]
BatchTokens = Annotated[int | None, typer.Option(help="positions per pass through the model")]
StoreFolder = Annotated[Path | None, typer.Option(help="folder of finished work; default: a cache folder")]
Report = Annotated[Path, typer.Option(help="the page to write")]


def loaded(
    model: str,
    prompt: str | None = None,
    label: Sequence[str] | None = None,
    device: str | None = None,
    dtype: str | None = None,
    max_length: int | None = None,
) -> Model:
    """The model; with a prompt, a language model that answers with one word per label."""
    from assay.models.load import load_model

    words = dict(_label(item) for item in label) if label else None
    return load_model(model, prompt=prompt, labels=words, device=device, dtype=dtype, max_length=max_length)


def _label(item: str) -> tuple[str, str]:
    name, equals, word = item.partition("=")
    if not equals or not word:
        raise SpecError(f"--label {item!r}: write name=word, e.g. --label 'positive= positive'")
    return name, word


def read(data: str, split: str | None, columns: str | None) -> Dataset:
    """The data set that --data, --split and --columns name."""
    from assay.datasets.load import load_dataset

    return load_dataset(data, split=split, columns=roles(columns))


def roles(text: str | None) -> dict[str, str | None] | None:
    """Roles and columns as the user wrote them; "rationales=" switches a role off."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SpecError(f"--columns {text!r}: write role=column,..., e.g. --columns text=review,label=stars")
    return {role.strip(): column.strip() or None for role, _, column in pairs}


def given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of a command's options that go on under their own names."""
    return {name: options[name] for name in names}
