"""Names from users: as names of files, and without the folders of their machine."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath

LONGEST = 160  # bytes of a file's name; most file systems allow 255
NOT_IN_FILES = re.compile(r"[^\w=(), .-]")
QUOTED = r"(?<=')(?:~/|/)[^'\n]+(?=')"  # may contain spaces
BARE = r"(?<![\w.:/~)\]}<-])(?:~[\w.-]*/|/)[^\s'\",;:=()\[\]{}<>|]*[^\s'\",;:=()\[\]{}<>|./]/*"
ABSOLUTE = re.compile(f"{QUOTED}|{BARE}")


def safe_name(name: str) -> str:
    """A name as that of a file in one folder: no separators, no leading dots; different names stay different."""
    safe = re.sub(r"^\.+", "_", NOT_IN_FILES.sub("_", name)).encode()[:LONGEST].decode(errors="ignore").rstrip(" .")
    return safe if safe and safe == name else f"{safe or '_'}-{_mark(name)}"


def shareable(text: str) -> str:
    """A text without the folders of this machine: of every absolute path, the last part and a hash of the whole."""
    if text.startswith(("/", "~/")) and "\n" not in text:
        return _last_part(text)
    return ABSOLUTE.sub(lambda match: _last_part(match[0]), text)


def _last_part(path: str) -> str:
    pure = PurePath(path)
    if not pure.name:
        return path
    return f"{pure.stem}-{_mark(str(pure))}{pure.suffix}"


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
