"""A model whose weights were deleted still encodes and says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.types import Example
from assay.masking.removal import removal_for
from assay.models.encode import TextEncoder
from assay.models.load import load_model, load_without_weights, save_model
from families import CASES, model_of

TRAINABLE = [
    name
    for name, case in CASES.items()
    if not isinstance(encoder := model_of(name).encoder, TextEncoder) or encoder.prompt is None
]


@pytest.mark.parametrize("case", TRAINABLE)
def test_it_is_the_same_but_for_its_answers(case: str, tmp_path: Path) -> None:
    save_model(model_of(case), tmp_path)
    whole = load_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    found = load_without_weights(tmp_path, whole.fingerprint)
    assert (found.fingerprint, found.labels, found.task, found.family) == (
        whole.fingerprint, whole.labels, whole.task, whole.family,
    )  # fmt: skip
    assert removal_for(found, None, warn=False) == removal_for(whole, None, warn=False)
    if isinstance(whole.encoder, TextEncoder):
        text = Example("the film is bright and funny")
        assert found.encode(text).ids.tolist() == whole.encode(text).ids.tolist()
