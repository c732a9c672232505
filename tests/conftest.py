"""What all tests share: one thread (tiny models are slower with two), no network, rewritten asserts of the helpers."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: no test may use the network

import pytest
import torch

pytest.register_assert_rewrite("runs", "stock")
torch.set_num_threads(1)
