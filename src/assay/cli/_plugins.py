"""--plugin, which every command takes: it is read first, because what it registers may be named in other options."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.errors import SpecError

OPTION = "--plugin"


def split_plugins(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """All other arguments, and the plugins; what follows `--` is left alone."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    rest, plugins = list[str](), list[str]()
    words = iter(arguments[:end])
    for word in words:
        name, equals, value = word.partition("=")
        if name != OPTION:
            rest.append(word)
            continue
        plugin = value if equals else next(words, "")
        if not plugin:
            raise SpecError(f"{OPTION} needs a value: a Python file, such as my.py")
        plugins.append(plugin)
    return rest + list(arguments[end:]), plugins
