"""What holds for every request and response: the host's name, the size and encoding of what is sent, and headers.

The policy allows no inline script or style, no frame around a page, and nothing from another server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 12 * 1024 * 1024  # bytes of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (  # reports are self-contained pages with a stylesheet inside and no script
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
TOO_LARGE = f"The request is larger than {LARGEST // 1024**2} MB. Send a shorter text or a smaller image."
UNREADABLE = "The request is not in UTF-8, and others are not read. Send it from a page of this server."
WRONG_HOST = "This server does not answer to this name. Open it by the address that `assay serve` printed."


class TooLargeError(HTTPException):
    """More bytes than a request may have."""

    def __init__(self) -> None:
        super().__init__(413, TOO_LARGE)


class Security:
    """Wraps the application. on_error: makes the page of an error that nothing else caught."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] | None = None,
        on_error: Callable[[Request, Exception], Response] | None = None,
    ) -> None:
        self.app, self.hosts, self.on_error = app, hosts, on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, started = Headers(scope=scope), False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
            await send(message)

        if self.hosts is not None and _host(headers) not in self.hosts:
            await PlainTextResponse(WRONG_HOST, 421)(scope, receive, send_with_headers)
            return
        try:
            _check_encoding(headers)
            await self.app(scope, _limited(headers, receive), send_with_headers)
        except Exception as error:
            if started or self.on_error is None:
                raise
            await self.on_error(Request(scope), error)(scope, receive, send_with_headers)


def _host(headers: Headers) -> str:
    """The name in the Host header without its port: another site's name could point at this machine."""
    host = headers.get("host", "")
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host


def _check_encoding(headers: Headers) -> None:
    """A form names its encoding itself, and some of Python's decoders make texts that no page or database can hold."""
    _, options = parse_options_header(headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise HTTPException(415, UNREADABLE)


def _limited(headers: Headers, receive: Receive) -> Receive:
    announced = headers.get("content-length", "0")
    size = int(announced) if announced.isdecimal() else 0
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        if size > LARGEST:
            raise TooLargeError
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST:
            raise TooLargeError
        return message

    return receive_some
