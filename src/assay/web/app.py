"""create_app: the application of `assay serve` from its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from assay import __version__
from assay.web import accounts as account_tables
from assay.web.accounts import Accounts
from assay.web.database import Database
from assay.web.errors import add_error_pages, error_page
from assay.web.login import Entrance, accounts_part
from assay.web.pages import see_other
from assay.web.security import Security
from assay.web.site import Access, Part, Site, site_of
from assay.web.visitor import NO_TOKEN, AnyVisitor, Cookies, NotAllowedError, check_csrf

STATIC = Path(str(files("assay.web").joinpath("static")))
STYLE = Path(str(files("assay").joinpath("templates", "style.css")))
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def create_app(
    parts: Sequence[Part],
    database: str | Path,
    *,
    access: Access = "open",
    entrance: Entrance | None = None,
    hosts: frozenset[str] | None = LOOPBACK,
) -> FastAPI:
    """The application. parts: such as `explain.part(...)`, in the order of the navigation.

    database: a file or an address; see `Database.open`. hosts: the names it answers to where access is open: a page of
    another site cannot reach it under a name of its own.
    """
    entrance = entrance or Entrance()
    everything = (*parts, accounts_part(entrance))
    opened = Database.open(database, [account_tables.SCHEMA, *(part.schema for part in everything if part.schema)])
    accounts = Accounts(opened)
    hosts = hosts if access == "open" else None
    cookies = Cookies(accounts.server_key(), entrance.token)
    app = FastAPI(
        title="Assay",
        version=__version__,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        lifespan=_lifespan,
        dependencies=[Depends(check_csrf)],
    )
    app.state.site = Site(access, opened, accounts, cookies, everything, hosts)
    app.add_middleware(Security, hosts=hosts, on_error=error_page)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_api_route("/style.css", _style, include_in_schema=False)
    app.add_api_route("/", _home, include_in_schema=False)
    for part in everything:
        app.include_router(part.router)
    add_error_pages(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    site: Site = app.state.site
    for part in site.parts:
        if part.close is not None:
            part.close()
    site.database.close()


def _home(request: Request, visitor: AnyVisitor) -> Response:
    """The first part that the visitor may open."""
    site = site_of(request)
    shown = [part.address for part in site.parts if part.title and part.shown(site, visitor)]
    if not shown and site.access == "token":
        raise NotAllowedError(NO_TOKEN)
    return see_other(shown[0] if shown else "/login")


def _style() -> Response:
    """The stylesheet of reports, which all pages share."""
    return Response(STYLE.read_text(encoding="utf-8"), media_type="text/css", headers={"Cache-Control": "max-age=300"})
