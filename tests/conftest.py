"""What all tests share: one thread (tiny models are slower with two), no network, rewritten asserts of the helpers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: no test may use the network
# Before numpy is imported, and for every process that a test starts: BLAS threads that wait for a busy core spin, and
# cost twice the time of one thread.
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
import torch

from assay.core import additions, user_code

pytest.register_assert_rewrite("runs", "stock")
torch.set_num_threads(1)


@pytest.fixture
def own_code(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that registers code of its own leaves nothing behind."""
    modules = set(sys.modules)
    monkeypatch.setattr(user_code, "_loaded", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for added in additions._all:
        added.entries.clear()
    for name in set(sys.modules) - modules:
        if name.startswith(("my_", "assay_plugin_")):
            del sys.modules[name]
