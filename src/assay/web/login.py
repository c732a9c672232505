"""Logging in and out, the first administrator, invitations, and the page of accounts."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from assay.web.accounts import Account, RefusedError
from assay.web.pages import local, page, see_other
from assay.web.site import Part, Site, part_of, site_of
from assay.web.visitor import Administrator, AnyVisitor, Visitor, new_session, set_cookie

router = APIRouter()
Values = dict[str, Any]
Typed = Annotated[str, Form(max_length=1000)]
Secret = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class Entrance:
    """How the first administrator, or somebody with the server's token, gets in."""

    setup: str | None = None  # secret of the link that makes the first administrator
    token: str | None = None


def accounts_part(entrance: Entrance) -> Part:
    def shown(site: Site, visitor: Visitor) -> bool:
        return visitor.is_administrator

    return Part("accounts", "Accounts", "/accounts", router, shown, entrance)


@router.get("/enter")
def enter(request: Request, token: Secret) -> Response:
    """The link with the server's token."""
    entrance: Entrance = part_of(request, "accounts")
    attempts, address = site_of(request).accounts.attempts, f"address {_address(request)}"
    attempts.begin(address)
    if entrance.token is None or not _same(token, entrance.token):
        raise RefusedError("The token is wrong. Open the link that `assay serve` printed.")
    attempts.succeeded(address)
    response = see_other("/")
    set_cookie(response, request, new_session(), knows_token=True)
    return response


@router.get("/login")
def log_in_page(request: Request, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
    return page(request, "web/login.html.jinja", title="Log in", error="", name="", next=local(next))


@router.post("/login")
def log_in(
    request: Request, name: Typed = "", password: Typed = "", next: Annotated[str, Form(max_length=2000)] = "/"
) -> Response:
    site = site_of(request)
    try:
        account = site.accounts.log_in(name, password, _address(request))
    except RefusedError as error:
        values: Values = {"title": "Log in", "error": str(error), "name": name, "next": local(next)}
        return page(request, "web/login.html.jinja", status=403, **values)
    return _with_session(request, site, account, local(next))


@router.post("/logout")
def log_out(request: Request, visitor: AnyVisitor) -> Response:
    site_of(request).accounts.close_session(visitor.session)
    response = see_other("/login")
    set_cookie(response, request, new_session(), knows_token=False)
    return response


@router.get("/setup")
def setup_page(request: Request, key: Secret) -> Response:
    _check_setup(request, key)
    return _register_page(request, "/setup", key, "Create the administrator's account")


@router.post("/setup")
def setup(request: Request, key: Typed, name: Typed = "", password: Typed = "", password_again: Typed = "") -> Response:
    _check_setup(request, key)
    try:
        _check_repeated(password, password_again)
        account = site_of(request).accounts.create(name, password, "administrator")
    except RefusedError as error:
        return _register_page(request, "/setup", key, "Create the administrator's account", str(error), name)
    return _with_session(request, site_of(request), account, "/accounts")


@router.get("/invitation")
def invitation_page(request: Request, key: Secret) -> Response:
    site_of(request).accounts.invited(key)
    return _register_page(request, "/invitation", key, "Create your account")


@router.post("/invitation")
def accept(
    request: Request, key: Typed, name: Typed = "", password: Typed = "", password_again: Typed = ""
) -> Response:
    site = site_of(request)
    site.accounts.invited(key)
    try:
        _check_repeated(password, password_again)
        account, _ = site.accounts.accept(key, name, password)
    except RefusedError as error:
        return _register_page(request, "/invitation", key, "Create your account", str(error), name)
    return _with_session(request, site, account, "/")


@router.get("/accounts")
def accounts_page(request: Request, visitor: Administrator) -> Response:
    return _accounts(request)


@router.post("/accounts/invite")
def invite(
    request: Request,
    visitor: Administrator,
    role: Annotated[Literal["member", "administrator"], Form()] = "member",
    uses: Annotated[int, Form(ge=1, le=1000)] = 1,
) -> Response:
    secret = site_of(request).accounts.invite(role, uses=uses)
    return _accounts(request, f"{str(request.base_url).rstrip('/')}/invitation?key={secret}")


@router.post("/accounts/remove")
def remove(request: Request, visitor: Administrator, account: Typed) -> Response:
    site_of(request).accounts.remove(account)
    return see_other("/accounts")


def _accounts(request: Request, link: str = "") -> Response:
    people = site_of(request).accounts.all()
    return page(request, "web/accounts.html.jinja", title="Accounts", people=people, link=link)


def _with_session(request: Request, site: Site, account: Account, address: str) -> Response:
    """A new session, so that nobody can have planted the old one."""
    response = see_other(address)
    set_cookie(response, request, site.accounts.open_session(account))
    return response


def _register_page(request: Request, address: str, key: str, title: str, error: str = "", name: str = "") -> Response:
    values: Values = {"title": title, "address": address, "key": key, "error": error, "name": name}
    return page(request, "web/register.html.jinja", status=400 if error else 200, **values)


def _check_setup(request: Request, key: str) -> None:
    entrance: Entrance = part_of(request, "accounts")
    if entrance.setup is None or not _same(key, entrance.setup) or site_of(request).accounts.has_administrator():
        raise RefusedError("This link is not valid (any more): the administrator's account exists already.")


def _check_repeated(password: str, again: str) -> None:
    if password != again:
        raise RefusedError("The two passwords differ. Type the same one twice.")


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
