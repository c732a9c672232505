"""Models given as `module:attribute`: a function, an estimator or a loaded model in the user's own code."""

from __future__ import annotations

import importlib
import re
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

from assay.core.errors import ModelError

FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_import(name: str) -> bool:
    """Whether a model's name has the form module:attribute; a hub id has no colon, and a folder comes first."""
    return FORM.fullmatch(name) is not None and not Path(name).exists()


def import_model(name: str) -> Any:
    """The attribute of a module in the current folder or on Python's path."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # stays: the module may import its neighbours later
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        missing = getattr(error, "name", None)
        where = f"the current folder has no {module}.py" if missing == module else f"its import failed: {error}"
        raise ModelError(f"cannot load {name}: {where}; give module:attribute, such as mymodule:predict") from error
    except Exception as error:
        raise ModelError(f"cannot load {name}: {module} raised {type(error).__name__}: {error}") from error
    try:
        return attrgetter(attribute)(found)
    except AttributeError as error:
        raise ModelError(f"cannot load {name}: {found.__file__ or module} does not define {attribute}") from error
