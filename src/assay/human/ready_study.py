"""Ready studies: the methods and settings of a published one, in a YAML file of Assay or of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from assay.core.errors import SpecError, nearest

METHODS = ("gradient_x_input", "integrated_gradients", "average_attention", "occlusion")  # unless others are named
KEYS = ("title", "methods", "learned", "examples", "settings")


@dataclass(frozen=True)
class ReadyStudy:
    """What a ready study sets. `learned`: a method it needs that only a fitted explainer can be; added by the user."""

    name: str
    methods: tuple[str, ...]
    title: str | None = None
    learned: str | None = None
    examples: int = 100
    settings: dict[str, Any] = field(default_factory=dict)

    def with_added(self, added: Sequence[Any]) -> list[Any]:
        """Its methods and those of the user; refuses to run without the learned one."""
        if self.learned is not None and not added:
            raise SpecError(
                f"the study {self.name} also compares {self.learned}: add your fitted explainer "
                "with --add, such as \"scaffold('FOLDER')\", or name all methods with --methods"
            )
        return [*self.methods, *added]


def ready_names() -> list[str]:
    return sorted(path.name.removesuffix(".yaml") for path in files("assay.human").joinpath("ready").iterdir())


def ready_study(name: str | Path) -> ReadyStudy:
    """A ready study by its name, or in a YAML file."""
    path = (
        Path(str(files("assay.human").joinpath("ready", f"{name}.yaml"))) if str(name) in ready_names() else Path(name)
    )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SpecError(
            f"there is no ready study {str(name)!r}; {nearest(str(name), ready_names())}, or a YAML file"
        ) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SpecError(f"cannot read {path}: {error}") from error
    if not isinstance(content, dict) or not content.get("methods"):
        raise SpecError(f"{path} is not a study: it needs `methods`, and may have {', '.join(KEYS)}")
    if unknown := [key for key in content if key not in KEYS]:
        raise SpecError(f"{path}: unknown key {unknown[0]!r}; {nearest(str(unknown[0]), KEYS)}")
    return ReadyStudy(path.stem, **{**content, "methods": tuple(content["methods"])})
