"""Renders the HTML templates of all pages: one environment that escapes every value.

A page's template lies beside the module that computes its values; `assay/templates` holds what pages share: the
document shell, the stylesheet and macros. Templates are named by their path inside the package.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay import __version__
from assay.core.files import write_file


def render(template: str, **values: Any) -> str:
    """Fill a template, named by its path inside the package."""
    return environment().get_template(template).render(today=date.today().isoformat(), version=__version__, **values)


def write_page(html: str, path: str | Path) -> None:
    write_file(path, html)


@cache
def environment() -> Environment:
    templates = Environment(
        loader=PackageLoader("assay", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["breakable"] = breakable
    templates.filters["whole_options"] = whole_options
    return templates


@lru_cache(maxsize=1024)  # a page shows the same names many times
def breakable(name: str) -> Markup:
    """Allow line breaks after underscores, commas and brackets: method names are long and screens narrow."""
    return Markup("<wbr>").join(re.split(r"(?<=[_,(])", name))  # join escapes the pieces


def whole_options(command: str) -> Markup:
    """A command line whose options are not broken after their hyphens."""
    pieces = re.split(r"(?<!\S)(--[\w-]+)", command)  # every second piece is an option
    option = Markup('<span class="option">{}</span>')
    return Markup("").join(option.format(piece) if i % 2 else piece for i, piece in enumerate(pieces))
