"""assay.explain: explain predictions with one method or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from assay.core.attributions import Attributions
from assay.core.errors import InputError
from assay.core.explanations import Explanations
from assay.core.notices import out_of, said_once
from assay.core.progress import Progress
from assay.core.spec import as_list, is_several
from assay.core.types import Example
from assay.datasets.columns import ColumnMap
from assay.datasets.examples import as_examples, as_inputs, is_single
from assay.explainers.methods import default_method, named_methods
from assay.explainers.session import CHUNK, Session
from assay.models.load import load_model


@said_once
def explain(
    model: Any,
    inputs: Any,
    method: Any = None,
    *,
    target: Any = None,
    units: str = "token",
    removal: str | None = None,
    scope: int | str | None = None,
    seed: int = 0,
    batch_tokens: int | None = None,
    special_tokens: str = "protected",
    columns: ColumnMap | str | None = None,
    progress: bool | None = None,
) -> Any:
    """Explain the predictions of a model.

    Returns an Attribution for one input and Attributions (a list) for several; given several methods, Explanations (a
    dict) with one of these per method. All draw themselves in a notebook.

    model: anything `load_model` accepts.
    inputs: a text, a (text, text_pair) tuple, an image or its path, a dict, an Example, or several: a list of these, a
        pandas or polars frame or series, a datasets.Dataset, a dict of columns, or the Path of a folder of images.
    method: a name or spec such as "lime(samples=500)", a method object, or several: a list, or a text with commas; None
        is integrated_gradients or, for a model behind a function, kernel_shap.
    target: None for the predicted class of each input, a label name or index, a Target, or a list with one per input.
    units: what gets a score: "token", "word", "sentence" or "patch".
    removal: how units are removed: mask_token, delete, pad, unk, zero, random_token or mean_colour; None for the
    model's default.
    scope: score only "text" or only "text_pair".
    seed: seed of all random draws.
    batch_tokens: maximum number of positions per forward pass.
    special_tokens: "ranked" makes [CLS], [SEP], </s>, ... units with a score; "protected" never scores or removes them.
    columns: {role: column} of tables and dicts whose column names are not recognised, or "text=review,text_pair=...".
    progress: True or False to show or hide the progress bar; None shows it on a terminal if there is much to do.
    """
    loaded, several = load_model(model), is_several(method)
    methods = named_methods([default_method(loaded)] if method is None else as_list(method))
    session = Session.create(loaded, methods, units, removal, scope, seed, batch_tokens, special_tokens)
    attributions: dict[str, Attributions] = {name: Attributions() for name in methods}
    single, inputs = is_single(inputs), as_inputs(inputs)
    total = len(inputs) if hasattr(inputs, "__len__") else None
    _check_targets(target, total)
    out_of(total)
    with Progress("explaining", None if total is None else total * len(methods), progress) as bar:
        for chunk in _chunks(as_examples(inputs, columns)):
            for name, of_chunk in session.explain_chunk(chunk, _targets(target, chunk), bar).items():
                attributions[name] += of_chunk
    results = Explanations({name: rows[0] if single else rows for name, rows in attributions.items()})
    return results if several else next(iter(results.values()))


def _chunks(stream: Iterator[Example]) -> Iterator[list[tuple[int, Example]]]:
    numbered = enumerate(stream)
    while chunk := list(islice(numbered, CHUNK)):
        yield chunk


def _check_targets(target: Any, total: int | None) -> None:
    if isinstance(target, list) and total is not None and len(target) != total:
        raise InputError(f"{len(target)} targets were given for {total} inputs; give one for all or one per input")


def _targets(target: Any, chunk: Sequence[tuple[int, Example]]) -> list[Any]:
    if not isinstance(target, list):
        return [target] * len(chunk)
    if chunk[-1][0] >= len(target):
        raise InputError(f"{len(target)} targets were given for more inputs; give one for all or one per input")
    return [target[index] for index, _ in chunk]
