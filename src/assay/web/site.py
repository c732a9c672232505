"""What all pages of a running server share, and the parts it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request

from assay.web.database import Database, Schema

if TYPE_CHECKING:
    from assay.web.accounts import Accounts
    from assay.web.visitor import Cookies, Visitor

Access = Literal["open", "token", "accounts"]
"""Who may explain and see results: everybody on this machine, who knows the token, or who has an account."""


@dataclass(frozen=True)
class Part:
    """One part of the application: its pages and its place in the navigation.

    shown: whether a visitor sees it in the navigation; its routes check for themselves who may use them (`visitor.py`).
    state: what its pages share; they find it with `part_of`.
    """

    name: str
    title: str
    address: str
    router: APIRouter
    shown: Callable[[Site, Visitor], bool]
    state: Any = None
    schema: Schema | None = None
    close: Callable[[], None] | None = None


@dataclass(frozen=True)
class Site:
    """A running server."""

    access: Access
    database: Database
    accounts: Accounts
    cookies: Cookies
    parts: Sequence[Part] = field(default_factory=tuple)
    hosts: frozenset[str] | None = None  # names by which it may be called; None: any


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def part_of(request: Request, name: str) -> Any:
    """The state of a part."""
    return next(part.state for part in site_of(request).parts if part.name == name)
