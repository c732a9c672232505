"""Hidden states that a head reads: kept in memory, in a file, or read again, a fit is the same."""

from __future__ import annotations

import errno
import os

import pytest
import torch

import assay
from assay.fitting import readings
from toys import bert

from .test_fit import planted_texts

pytestmark = pytest.mark.filterwarnings("ignore:list has no validation split")


def weights() -> dict[str, torch.Tensor]:
    fitted = assay.fit(bert(), planted_texts(30), "aml(masks=2, epochs=2)", progress=False)
    return dict(fitted.loaded.attributor.state_dict())


def test_states_that_memory_should_not_hold_are_kept_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, so the same weights to the bit; the file has no name that could be left behind."""
    files, mapped = set(os.listdir(readings.tempfile.gettempdir())), []
    in_memory = weights()
    monkeypatch.setattr(readings, "LIMIT", 0)
    monkeypatch.setattr(torch, "from_file", lambda *a, real=torch.from_file, **k: mapped.append(a) or real(*a, **k))
    in_file = weights()
    assert mapped
    assert all(torch.equal(in_memory[name], in_file[name]) for name in in_memory)
    assert {name for name in os.listdir(readings.tempfile.gettempdir()) if name.startswith("assay-")} <= files


def test_a_full_disk_costs_passes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = weights()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(readings, "LIMIT", 0)
    monkeypatch.setattr(os, "posix_fallocate", full)
    read_anew = weights()
    assert all(torch.allclose(in_memory[name], read_anew[name], atol=0.05) for name in in_memory)
