"""What all tests share: one thread (tiny models are slower with two) and no network."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: no test may reach for the hub

import torch

torch.set_num_threads(1)
