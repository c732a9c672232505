"""Where a model runs and in which precision, as a caller names them."""

from __future__ import annotations

import torch

from assay.core.errors import ModelError, nearest

PRECISIONS = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def device_of(device: str | torch.device | None) -> torch.device:
    """A device that is there; None is the GPU if there is one, else the CPU."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
        if found.type != "meta":  # it holds shapes, no numbers
            torch.empty(1, device=found)
            return found
    except (RuntimeError, AssertionError, TypeError, NotImplementedError, ImportError):
        pass
    raise ModelError(f"the device {str(device)!r} is not available here; use {' or '.join(_devices())}")


def dtype_of(dtype: str | torch.dtype | None) -> torch.dtype | None:
    """A precision that models can compute in; None leaves the choice to the loader."""
    name = str(dtype).removeprefix("torch.")
    if dtype is not None and name not in PRECISIONS:
        raise ModelError(f"unknown precision {name!r}; {nearest(name, PRECISIONS)}")
    return None if dtype is None else PRECISIONS[name]


def _devices() -> list[str]:
    """The devices of this machine, by name."""
    graphics = ["cuda", *(f"cuda:{i}" for i in range(1, torch.cuda.device_count()))]
    return ["cpu", *(graphics if torch.cuda.is_available() else ()), *(["mps"] if torch.mps.is_available() else ())]
