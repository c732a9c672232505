"""How the commands that ask a model read --model, --prompt and --label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core.errors import SpecError

if TYPE_CHECKING:
    from assay.models.model import Model


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
