"""An image as a PNG file, or as a data: address, which HTML can hold. Needs no library."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np


def png_address(rgb: Any) -> str:
    """The (height, width, 3) uint8 array as a PNG file in a data: address."""
    return "data:image/png;base64," + base64.b64encode(png(rgb)).decode()


def png(rgb: Any) -> bytes:
    """The (height, width, 3) uint8 array as a PNG file."""
    pixels = np.ascontiguousarray(rgb, np.uint8)
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], 1)  # 0: no filter
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)  # 8 bits per channel, RGB
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
