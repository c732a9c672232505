"""Pages: templates filled with what every page shows, such as the navigation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from assay.core.render import render
from assay.web.site import site_of
from assay.web.visitor import Visitor, is_new, set_cookie, visitor_of


@dataclass(frozen=True)
class Entry:
    """One link of the navigation."""

    title: str
    address: str
    current: bool


def page(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> Response:
    """A page; `template` is a path inside the package and extends web/layout.html.jinja."""
    visitor = visitor_of(request)
    html = render(template, navigation=_navigation(request, visitor), visitor=visitor, csrf=visitor.csrf, **values)
    whole = html.encode("utf-8", "backslashreplace")  # data may hold half of an emoji
    response = HTMLResponse(whole, status, headers={"Cache-Control": "no-store", **(headers or {})})
    if is_new(request):
        set_cookie(response, request)
    return response


def see_other(address: str) -> RedirectResponse:
    """After a post: the browser gets another page, which it can reload."""
    return RedirectResponse(address, 303)


def local(address: str | None, otherwise: str = "/") -> str:
    """An address on this server that came from a request; any other is not followed."""
    if not address or not address.startswith("/") or "\\" in address or not address.isprintable():
        return otherwise
    parts = urlsplit(address)
    return otherwise if parts.scheme or parts.netloc or address.startswith("//") else address


def _navigation(request: Request, visitor: Visitor) -> list[Entry]:
    here, site = request.url.path, site_of(request)
    return [
        Entry(part.title, part.address, here == part.address or here.startswith(f"{part.address}/"))
        for part in site.parts
        if part.title and part.shown(site, visitor)
    ]
