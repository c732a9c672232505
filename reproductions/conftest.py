"""Settings of all tests: one thread (tiny models are slower with two) and no network."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported

import torch

torch.set_num_threads(1)
