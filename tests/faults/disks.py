"""Small and write-protected disks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str, *more: str) -> Iterator[Path]:
    """A file system of a few kilobytes at `folder`; skips where mounting is not allowed."""
    folder.mkdir(exist_ok=True)
    options = ",".join([f"size={size}", *more])
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # weights may be mapped
