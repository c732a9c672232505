"""Who sends a request: a signed cookie, the account that is logged in, and the token against forged posts (CSRF)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import Depends, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import Response

from assay.core.errors import AssayError
from assay.web.accounts import SESSION, Account
from assay.web.site import Site, site_of

NO_TOKEN = "Open this page with the link that `assay serve` printed: it holds the server's token."
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


class ForgedError(AssayError):
    """A post that does not come from a page of this server."""


class NotAllowedError(AssayError):
    """A page that this visitor may not open."""

    def __init__(self, message: str, *, log_in: bool = False) -> None:
        super().__init__(message)
        self.log_in = log_in  # whether logging in may help


@dataclass(frozen=True)
class Visitor:
    """The sender of a request."""

    session: str  # secret of the session, anonymous or of an account
    csrf: str
    account: Account | None = None
    knows_token: bool = False

    @property
    def is_administrator(self) -> bool:
        return self.account is not None and self.account.role == "administrator"


@dataclass(frozen=True)
class Cookies:
    """Signs and reads the session cookie."""

    key: str
    token: str | None = None  # of the server, if it is protected by one

    def csrf(self, session: str) -> str:
        return hmac.new(self.key.encode(), f"csrf {session}".encode(), hashlib.sha256).hexdigest()

    @cached_property
    def name(self) -> str:
        """Of the cookie: browsers send it to all ports of a machine, whose servers must not replace each other's."""
        return f"assay-{hashlib.sha256(self.key.encode()).hexdigest()[:12]}"

    def write(self, session: str, *, knows_token: bool = False) -> str:
        content = {"session": session} | ({"token": self._mark()} if knows_token else {})
        return str(self._signer.dumps(content))

    def read(self, cookie: str | None) -> tuple[str, bool] | None:
        """The session and whether its visitor gave the server's token; None if there is no valid cookie."""
        try:
            content: Any
            # not `max_age`: it also refuses what is from the future, which a clock that was set back makes of a cookie
            content, written = self._signer.loads(cookie or "", return_timestamp=True)
            if time.time() - written.timestamp() > SESSION:
                return None
            return str(content["session"]), self.token is not None and content.get("token") == self._mark()
        except (BadSignature, TypeError, KeyError, AttributeError):
            return None

    @cached_property
    def _signer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.key, salt="assay session")

    def _mark(self) -> str:
        """Another token ends all sessions that knew the old one."""
        return hmac.new(self.key.encode(), f"token {self.token}".encode(), hashlib.sha256).hexdigest()


def new_session() -> str:
    return secrets.token_urlsafe(32)


def visitor_of(request: Request) -> Visitor:
    """The visitor of a request; found once."""
    known: Visitor | None = getattr(request.state, "visitor", None)
    if known is None:
        site = site_of(request)
        session, knows_token = _session_of(request)
        account = None if is_new(request) else site.accounts.in_session(session)
        known = request.state.visitor = Visitor(session, site.cookies.csrf(session), account, knows_token)
    return known


async def check_csrf(request: Request) -> None:
    """Refuse posts that were not made by a page of this server for this visitor."""
    if request.method not in UNSAFE:
        return
    site = site_of(request)
    session, _ = _session_of(request)
    given = request.headers.get("x-csrf-token")
    if given is None:
        form = await request.form()
        given = str(form.get("csrf", ""))
        request.state.typed = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    if request.headers.get("sec-fetch-site") == "cross-site" or not _same(given, site.cookies.csrf(session)):
        raise ForgedError("This form is too old or was not made by this server. Reload the page and send it again.")


def set_cookie(
    response: Response, request: Request, session: str | None = None, *, knows_token: bool | None = None
) -> None:
    """Keep a session in the browser: not readable by scripts, not sent by other sites, over HTTPS if possible."""
    visitor, site = visitor_of(request), site_of(request)
    known = visitor.knows_token if knows_token is None else knows_token
    value = site.cookies.write(session or visitor.session, knows_token=known)
    secure = request.url.scheme == "https"
    response.set_cookie(
        site.cookies.name, value, max_age=int(SESSION), httponly=True, samesite="lax", secure=secure, path="/"
    )


def is_new(request: Request) -> bool:
    """Whether the request brought no valid cookie, so that its session began with it."""
    _session_of(request)
    return bool(request.state.is_new)


def _session_of(request: Request) -> tuple[str, bool]:
    """What the cookie says, or a new session; read once."""
    known: tuple[str, bool] | None = getattr(request.state, "session", None)
    if known is None:
        cookies = site_of(request).cookies
        kept = cookies.read(request.cookies.get(cookies.name))
        request.state.is_new = kept is None
        known = request.state.session = kept or (new_session(), False)
    return known


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


AnyVisitor = Annotated[Visitor, Depends(visitor_of)]

# Only `visitor_of` reads the database. What follows asks nobody, so it is async: a change of threads would cost more.


def is_member(site: Site, visitor: Visitor) -> bool:
    """Whether a visitor may explain and see results."""
    role = visitor.account.role if visitor.account else None
    by_token = site.access == "token" and visitor.knows_token
    return site.access == "open" or by_token or role in ("administrator", "member")


async def member(request: Request, visitor: AnyVisitor) -> Visitor:
    """A visitor who may explain and see results."""
    site = site_of(request)
    if is_member(site, visitor):
        return visitor
    if site.access == "token":
        raise NotAllowedError(NO_TOKEN)
    raise _refusal(visitor, "This page is for members of this server. Ask an administrator for an invitation.")


async def administrator(visitor: AnyVisitor) -> Visitor:
    if visitor.is_administrator:
        return visitor
    raise _refusal(visitor, "This page is for administrators.")


async def logged_in(visitor: AnyVisitor) -> Visitor:
    if visitor.account is not None:
        return visitor
    raise _refusal(visitor, "Log in to open this page.")


def _refusal(visitor: Visitor, sentence: str) -> NotAllowedError:
    return NotAllowedError(sentence, log_in=visitor.account is None)


Member = Annotated[Visitor, Depends(member)]
Administrator = Annotated[Visitor, Depends(administrator)]
LoggedIn = Annotated[Visitor, Depends(logged_in)]
