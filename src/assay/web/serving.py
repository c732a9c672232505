"""Listening: the socket, who may come in, and the addresses to open."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from assay.core.errors import AssayError, SpecError
from assay.web.app import LOOPBACK, create_app
from assay.web.login import Entrance
from assay.web.site import Access, Part, Site

SHORTEST = 16  # characters of a token
GOODBYE = 3  # seconds that open pages get when the server stops


@dataclass(frozen=True)
class Listening:
    """Where a server listens and whom it lets in. A token of "new" makes one up.

    proxy: a web server on this machine stands before it and says who visits, and whether by HTTPS.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    accounts: bool = False
    proxy: bool = False

    def access(self) -> Access:
        """Refuses to be open to a network."""
        if self.token is not None and self.accounts:
            raise SpecError("give --token or --accounts, not both: a token lets in everybody who knows it")
        if self.token is not None and self.token != "new" and len(self.token) < SHORTEST:
            raise SpecError(f"the token is too short; give at least {SHORTEST} characters, or --token new")
        if self.token is None and not self.accounts and not is_loopback(self.host):
            raise SpecError(
                f"{self.host} can be reached from other machines, so visitors must identify themselves; "
                "add --accounts, or --token new for a secret link, or leave --host out"
            )
        if self.proxy and self.token is None and not self.accounts:
            raise SpecError(
                "behind a proxy, other machines can reach the server: add --accounts, or --token new for a secret link"
            )
        return "token" if self.token is not None else "accounts" if self.accounts else "open"

    def entrance(self) -> Entrance:
        if self.token is not None:
            return Entrance(token=secrets.token_urlsafe(24) if self.token == "new" else self.token)
        return Entrance(setup=secrets.token_urlsafe(24)) if self.accounts else Entrance()


def default_database() -> Path:
    """The database in the user's data folder (XDG)."""
    folder = Path(os.environ.get("XDG_DATA_HOME", "~/.local/share")).expanduser() / "assay"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AssayError(f"cannot make the folder {folder}: {error.strerror}; name a file with --database") from error
    return folder / "serve.sqlite"


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def serve(
    parts: Sequence[Part], database: str | Path | None, listening: Listening, announce: Callable[[list[str]], None]
) -> None:
    """Serve until Ctrl-C. announce: is given the addresses to open, the most useful one first."""
    access, entrance = listening.access(), listening.entrance()
    with _socket(listening) as listener:
        hosts = LOOPBACK | {listening.host}
        path = default_database() if database is None else database
        app = create_app(parts, path, access=access, entrance=entrance, hosts=hosts)
        port = listener.getsockname()[1]
        announce(addresses(app, entrance, f"http://{_shown(listening.host)}:{port}"))
        uvicorn.Server(config_of(app, listening)).run(sockets=[listener])


def config_of(app: FastAPI, listening: Listening) -> uvicorn.Config:
    """Only a proxy on this machine may say who visits: attempts at passwords are counted by address."""
    return uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        proxy_headers=listening.proxy,
        forwarded_allow_ips=["127.0.0.1", "::1"],
        timeout_graceful_shutdown=GOODBYE,
    )


def addresses(app: FastAPI, entrance: Entrance, base: str) -> list[str]:
    """The link to open first, and the plain address."""
    site: Site = app.state.site
    if entrance.token is not None:
        return [f"{base}/enter?token={entrance.token}"]
    if entrance.setup is not None and not site.accounts.has_administrator():
        return [f"{base}/setup?key={entrance.setup}", base]
    return [base]


def _shown(host: str) -> str:
    """A host as it stands in an address; one that means all addresses by this machine's name."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _socket(listening: Listening) -> socket.socket:
    host = listening.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, listening.port))
        listener.listen()  # who opens the link before all is ready waits instead of being refused
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise AssayError(
            f"cannot listen on {listening.host}:{listening.port}: {reason}; choose another with --port, or --port 0 "
            "for any that is free"
        ) from error
    return listener
